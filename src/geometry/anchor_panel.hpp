#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/types.hpp"

/// What products of sparse rows with a block of rows, the anchors, are made of: an anchor a lane.
namespace posgeom {

inline constexpr Index panel_lanes = 48;
inline constexpr Index register_lanes = 8;
inline constexpr Index panel_vectors = panel_lanes / register_lanes;
static_assert(panel_lanes % register_lanes == 0);
/// Eight doubles, which the compiler maps to one register or to several.
using LaneVector = double __attribute__((vector_size(register_lanes * sizeof(double)), aligned(sizeof(double)), may_alias));

/// By whole vectors, for columns that many rows hold. Adds to products[r][lane] row r's entries, from cursor[r] on and below the column
/// `limit`, times panel[column][lane], and moves the cursor there; end[r] is the row's end.
void multiply_panel(const double* panel, const std::int32_t* column, const double* value, std::int32_t limit, const Index* end, Index rows,
                    Index* cursor, double* products);

/// By lists, for columns that few rows hold: an entry finds the lanes that hold its column.
class RareColumns {
 public:
  /// A row's entries in rare columns.
  struct Row {
    const std::int32_t* column = nullptr;
    const double* value = nullptr;
    Index count = 0;
  };
  RareColumns() = default;
  /// Columns first .. first+count-1. Blocks of up to most_entries entries need no more memory than is taken here.
  RareColumns(Index first, Index count, Index most_entries = 0);
  /// The anchors, a lane each, from then on; what they point to must outlive them.
  void set_anchors(std::span<const Row> anchors);
  /// Adds to total[lane] the row's products.
  void add_products(const Row& row, double* total) const;

 private:
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct Entry {
    double value = 0;
    std::uint32_t lane = 0;
  };
  template <class Body>
  void each_entry(Body body);

  Index first_ = 0;
  std::array<Row, panel_lanes> anchors_{};
  std::size_t anchor_count_ = 0;
  std::vector<Range> list_;  ///< [columns] where its lanes stand
  std::vector<Entry> entries_;
};

}  // namespace posgeom
