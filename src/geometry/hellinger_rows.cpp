#include <algorithm>
#include <cmath>

#include "geometry/pair_kernels.hpp"
#include "geometry/row_products.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

/// Squares of this many columns are summed before they join the total: shorter chains of roundings.
constexpr std::int32_t segment = 1024;
/// Below this, relative to the squared norms, H^2 is summed from differences.
constexpr double near_equal = 1e-6;

/// sum (x - y)^2 over the union of the two rows' columns.
double squared_difference(const SquareRootDistributions& s, Index i, Index j) {
  const auto begin = [&s](Index row) { return static_cast<std::size_t>(s.row_begin[static_cast<std::size_t>(row)]); };
  const auto end = [&s](Index row) { return static_cast<std::size_t>(s.row_end[static_cast<std::size_t>(row)]); };
  double sum = 0;
  std::size_t a = begin(i);
  std::size_t b = begin(j);
  while (a < end(i) || b < end(j)) {
    double difference = 0;
    if (b == end(j) || (a < end(i) && s.column[a] < s.column[b])) {
      difference = s.value[a++];
    } else if (a == end(i) || s.column[b] < s.column[a]) {
      difference = s.value[b++];
    } else {
      difference = s.value[a++] - s.value[b++];
    }
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

/// Products of rows of S, all of it sparse. Rows that share storage are one lane or place.
struct HellingerProducts {
  explicit HellingerProducts(const SquareRootDistributions& s)
      : columns(sparse_columns(s)), x(split_rows(s, columns, all_rows(s))), products(columns, x), work(products.workspace()) {}

  void set_anchors(Index first, Index count) {
    if (first == first_anchor && count == std::ssize(lane)) return;
    first_anchor = first;
    place_rows(first, count, lane, lane_row);
    products.set_anchors(work, lane_row);
  }
  void multiply(Index first, Index count) {
    place_rows(first, count, place, place_row);
    products.multiply(work, place_row);
  }
  /// Of the r-th anchor and the c-th row.
  double at(Index r, Index c) const {
    return work
        .products[static_cast<std::size_t>(place[static_cast<std::size_t>(c)] * RowProducts::anchors + lane[static_cast<std::size_t>(r)])];
  }

 private:
  /// `stored`: the rows of x that are needed; `at`: which of them each row is. Rows that share storage mostly stand side by side.
  void place_rows(Index first, Index count, std::vector<Index>& at, std::vector<Index>& stored) const {
    at.clear();
    stored.clear();
    for (Index i = first; i < first + count; ++i) {
      const Index row = x.place[static_cast<std::size_t>(i)];
      if (stored.empty() || stored.back() != row) stored.push_back(row);
      at.push_back(std::ssize(stored) - 1);
    }
  }

  SplitColumns columns;
  SplitRows x;
  RowProducts products;
  RowProducts::Workspace work;
  Index first_anchor = -1;
  std::vector<Index> lane, lane_row;    ///< of each anchor; the row of each lane
  std::vector<Index> place, place_row;  ///< of each row multiplied; the row of each place
};

HellingerRows::~HellingerRows() = default;
HellingerRows::HellingerRows(HellingerRows&&) noexcept = default;
HellingerRows& HellingerRows::operator=(HellingerRows&&) noexcept = default;

HellingerRows::HellingerRows(const SquareRootDistributions& s)
    : s_(&s), squared_norm_(static_cast<std::size_t>(s.row_count())), products_(std::make_unique<HellingerProducts>(s)) {
  for (std::size_t i = 0; i < squared_norm_.size(); ++i) {
    double total = 0;
    for (Index e = s.row_begin[i]; e < s.row_end[i];) {
      const std::int32_t limit = s.column[static_cast<std::size_t>(e)] / segment * segment + segment;
      double sum = 0;
      for (; e < s.row_end[i] && s.column[static_cast<std::size_t>(e)] < limit; ++e) {
        sum += s.value[static_cast<std::size_t>(e)] * s.value[static_cast<std::size_t>(e)];
      }
      total += sum;
    }
    squared_norm_[i] = total;
  }
}

void HellingerRows::compute(Index first, Index count, std::span<double> h) { compute(first, count, 0, row_count(), h); }

void HellingerRows::compute(Index first, Index count, Index column_first, Index column_count, std::span<double> h) {
  static_assert(row_block == RowProducts::anchors);
  expects(count <= row_block && first + count <= row_count() && column_first + column_count <= row_count(), "a tile inside the matrix");
  expects(std::ssize(h) >= count * column_count, "room for the tile");
  products_->set_anchors(first, count);
  // As many rows at a time as leave their products in the cache.
  constexpr Index width = RowProducts::most_rows;
  for (Index begin = 0; begin < column_count; begin += width) {
    const Index end = std::min(begin + width, column_count);
    products_->multiply(column_first + begin, end - begin);
    for (Index r = 0; r < count; ++r) {
      const Index i = first + r;
      for (Index c = begin; c < end; ++c) {
        const Index j = column_first + c;
        const double norms = squared_norm_[static_cast<std::size_t>(i)] + squared_norm_[static_cast<std::size_t>(j)];
        double squared = norms - 2 * products_->at(r, c - begin);
        if (i == j) {
          squared = 0;
        } else if (squared < near_equal * norms) {
          squared = squared_difference(*s_, i, j);
        }
        h[static_cast<std::size_t>(r * column_count + c)] = squared;
      }
    }
  }
  square_roots(h.data(), count * column_count, h.data());
}

}  // namespace posgeom
