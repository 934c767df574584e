#include "geometry/anchor_panel.hpp"

#include <algorithm>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

/// A row's entries in a piece of the panel begin anywhere in memory, and are too few for the processor to see that they follow each other:
/// fetched while the rows before are multiplied (measured on Zen 5: 2.5 ns an entry instead of 3.6).
constexpr Index rows_ahead = 8;
constexpr Index entries_ahead = 40;

void prefetch_entries(const std::int32_t* column, const double* value, Index first) {
  constexpr Index line = 64;
  for (Index k = 0; k < entries_ahead; k += line / Index{sizeof(double)}) __builtin_prefetch(value + first + k);
  for (Index k = 0; k < entries_ahead; k += line / Index{sizeof(std::int32_t)}) __builtin_prefetch(column + first + k);
}

}  // namespace

POSGEOM_SIMD static void multiply_rows(const double* panel, const std::int32_t* column, const double* value, std::int32_t limit,
                                       const Index* end, Index rows, Index* cursor, double* products) {
  for (Index r = 0; r < rows; ++r) {
    prefetch_entries(column, value, cursor[std::min(r + rows_ahead, rows - 1)]);
    Index e = cursor[r];
    const Index last = end[r];
    if (e == last || column[e] >= limit) continue;
    LaneVector sum[panel_vectors] = {};
    for (; e < last && column[e] < limit; ++e) {
      const double* row = panel + column[e] * panel_lanes;
      const double x = value[e];
#pragma GCC unroll 6
      for (Index v = 0; v < panel_vectors; ++v) sum[v] += *reinterpret_cast<const LaneVector*>(row + v * register_lanes) * x;
    }
    cursor[r] = e;
    double* total = products + r * panel_lanes;
#pragma GCC unroll 6
    for (Index v = 0; v < panel_vectors; ++v) *reinterpret_cast<LaneVector*>(total + v * register_lanes) += sum[v];
  }
}

void multiply_panel(const double* panel, const std::int32_t* column, const double* value, std::int32_t limit, const Index* end, Index rows,
                    Index* cursor, double* products) {
  multiply_rows(panel, column, value, limit, end, rows, cursor, products);
}

RareColumns::RareColumns(Index first, Index count, Index most_entries)
    : first_(first), list_(static_cast<std::size_t>(count)), entries_(static_cast<std::size_t>(most_entries)) {}

template <class Body>
void RareColumns::each_entry(Body body) {
  for (std::size_t lane = 0; lane < anchor_count_; ++lane) {
    const Row& row = anchors_[lane];
    for (Index e = 0; e < row.count; ++e)
      body(static_cast<std::uint32_t>(lane), list_[static_cast<std::size_t>(row.column[e] - first_)], row.value[e]);
  }
}

void RareColumns::set_anchors(std::span<const Row> anchors) {
  expects(std::ssize(anchors) <= panel_lanes, "no more anchors than lanes");
  each_entry([](std::uint32_t, Range& list, double) { list = {}; });  // of the anchors before
  std::ranges::copy(anchors, anchors_.begin());
  anchor_count_ = anchors.size();
  // Lists one after the other: lengths in `end`, then the place of each list at its first entry, which the entries move on to its end.
  each_entry([](std::uint32_t, Range& list, double) { ++list.end; });
  std::uint32_t size = 0;
  each_entry([&size](std::uint32_t, Range& list, double) {
    if (list.end == 0) return;  // placed already
    list.begin = size;
    size += std::exchange(list.end, 0);
  });
  if (entries_.size() < size) entries_.resize(size);
  each_entry([](std::uint32_t, Range& list, double) { list.end = list.begin; });
  each_entry([this](std::uint32_t lane, Range& list, double value) { entries_[list.end++] = {value, lane}; });
}

void RareColumns::add_products(const Row& row, double* total) const {
  for (Index e = 0; e < row.count; ++e) {
    const Range list = list_[static_cast<std::size_t>(row.column[e] - first_)];
    for (std::uint32_t k = list.begin; k < list.end; ++k) total[entries_[k].lane] += entries_[k].value * row.value[e];
  }
}

}  // namespace posgeom
