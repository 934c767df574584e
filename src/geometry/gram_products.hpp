#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/anchor_panel.hpp"
#include "geometry/centred_rows.hpp"

namespace posgeom {

/// Products X_i.X_j of rows of X = [D | T] (centred_rows) by columns of three kinds: those of D, those of T that many rows hold, and the
/// rare ones. The first two are multiplied by whole vectors of anchors: a row's entries meet a panel [column][anchor] that stays in the
/// cache. A rare column meets few anchors, and each entry finds the list of those. Every product is summed by column number, in pieces that
/// are the same for all: its bits depend neither on the rows around it, nor on the rank, nor on the order of i and j.
class GramProducts {
 public:
  static constexpr Index anchors = panel_lanes;
  static constexpr Index most_rows = 128;

  /// `x` must outlive this.
  GramProducts(const CentredColumns& columns, const CentredRows& x);

  /// What one thread computes in.
  struct Workspace {
    std::vector<double> panel;     ///< [frequent columns][anchors]
    RareColumns rare;              ///< the lanes that hold each rare column
    std::vector<Index> cursor;     ///< [most_rows]
    std::vector<double> products;  ///< [most_rows][anchors]
  };
  Workspace workspace() const;

  /// The anchors: at most `anchors` stored rows.
  void set_anchors(Workspace& work, std::span<const Index> stored) const;
  /// work.products[r * anchors + lane] for at most most_rows stored rows.
  void multiply(Workspace& work, std::span<const Index> stored) const;

 private:
  RareColumns::Row rare_part(Index stored) const;

  const CentredRows* x_ = nullptr;
  Index dense_count_ = 0;
  Index frequent_count_ = 0;          ///< with those of D
  std::vector<std::int32_t> pieces_;  ///< ends of the pieces of T's frequent columns
  std::vector<Index> rare_begin_;     ///< [stored] where the row's rare entries begin
};

}  // namespace posgeom
