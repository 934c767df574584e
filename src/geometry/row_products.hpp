#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/aligned_vector.hpp"
#include "geometry/anchor_panel.hpp"
#include "geometry/split_rows.hpp"

namespace posgeom {

/// Products X_i.X_j of rows of X = [D | T] (split_rows) by columns of three kinds: those of D, those of T that many rows hold, and the
/// rare ones. The first two are multiplied by whole vectors of anchors: a row's entries meet a panel [column][anchor] that stays in the
/// cache. A rare column meets few anchors, and each entry finds the list of those. Every product is summed by column number, in pieces that
/// are the same for all: its bits depend neither on the rows around it, nor on the rank, nor on the order of i and j.
class RowProducts {
 public:
  static constexpr Index anchors = panel_lanes;
  static constexpr Index most_rows = 128;

  /// `x` must outlive this.
  RowProducts(const SplitColumns& columns, const SplitRows& x);

  /// What one thread computes in.
  struct Workspace {
    AlignedVector<double> panel;     ///< [frequent columns][anchors]
    RareColumns rare;                ///< the lanes that hold each rare column
    std::vector<Index> cursor;       ///< [2][most_rows] each row's next entry, and its last frequent one's end
    AlignedVector<double> products;  ///< [most_rows][anchors]
  };
  Workspace workspace() const;

  /// The anchors: at most `anchors` stored rows.
  void set_anchors(Workspace& work, std::span<const Index> stored) const;
  /// work.products[r * anchors + lane] for at most most_rows stored rows.
  void multiply(Workspace& work, std::span<const Index> stored) const;

 private:
  RareColumns::Row rare_part(Index stored) const;

  const SplitRows* x_ = nullptr;
  Index column_count_ = 0;
  Index dense_count_ = 0;
  Index frequent_count_ = 0;          ///< with those of D
  std::vector<std::int32_t> pieces_;  ///< ends of the pieces of T's frequent columns
  std::vector<Index> rare_begin_;     ///< [stored] where the row's rare entries begin
};

}  // namespace posgeom
