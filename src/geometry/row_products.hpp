#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/anchor_panel.hpp"
#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// Products S_i.S_j of a block of rows i, the anchors, with rows j. Columns that many rows hold are multiplied by whole vectors of anchors,
/// in pieces of the anchors that stay in the first-level cache; the others meet few anchors, and each finds the list of those. Every
/// product is summed by column: its bits depend neither on the block nor on the order of i and j. Rows that share storage count as one row.
class RowProducts {
 public:
  static constexpr Index anchors = HellingerRows::row_block;

  /// `s` must outlive this. Reads its entries where they are, if its frequent columns are the first ones (as square_root_distributions
  /// numbers them); otherwise from a copy, 12 bytes a nonzero.
  explicit RowProducts(const SquareRootDistributions& s);
  /// At most `anchors` rows, from then on.
  void set_anchors(Index first, Index count);
  /// S_i.S_j for j = first .. first+count-1 and anchor i: at(i - first anchor, j - first).
  void multiply(Index first, Index count);
  double at(Index anchor, Index row) const {
    return products_[static_cast<std::size_t>(row_place_[static_cast<std::size_t>(row)] * anchors +
                                              lane_[static_cast<std::size_t>(anchor)])];
  }

 private:
  /// A distinct row: its frequent columns, then the rare ones, each ascending.
  struct Row {
    Index begin, rare, end;
  };
  void copy_apart(const std::vector<std::int32_t>& number);
  void add_frequent(Index places);
  RareColumns::Row rare_part(Index distinct) const;

  const SquareRootDistributions* s_;
  std::vector<Index> distinct_;  ///< [rows] rows with the same number share storage
  std::vector<Row> row_;         ///< [distinct]
  std::vector<std::int32_t> own_column_;
  std::vector<double> own_value_;
  const std::int32_t* column_ = nullptr;  ///< those of s, or this one's own
  const double* value_ = nullptr;
  Index frequent_count_ = 0;
  Index first_anchor_ = -1;
  Index anchor_count_ = 0;
  std::vector<Index> lane_;       ///< [anchors] of each anchor
  std::vector<Index> lane_row_;   ///< the distinct row of each lane
  std::vector<double> panel_;     ///< [frequent_count_][anchors]
  RareColumns rare_columns_;      ///< the lanes that hold each rare column
  std::vector<Index> row_place_;  ///< of each row of the last multiply()
  std::vector<Index> place_row_;  ///< the distinct row of each place
  std::vector<Index> cursor_;     ///< of each place: its next entry
  std::vector<double> products_;  ///< [places][anchors]
};

}  // namespace posgeom
