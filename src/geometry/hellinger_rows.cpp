#include <algorithm>
#include <cmath>

#include "posgeom/error.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

constexpr Index lanes = HellingerRows::row_block;
/// Products of this many columns are summed before they join the total: shorter chains of roundings. By column, not by entry, so that
/// S_i.S_j and S_j.S_i are the same to the last bit.
constexpr std::int32_t segment = 1024;
/// Below this, relative to the squared norms, H^2 is summed from differences.
constexpr double near_equal = 1e-6;

/// dots[r] = one sparse row times each of the dense anchors, [column][lane].
POSGEOM_SIMD void multiply_row(const std::int32_t* column, const double* value, Index count, const double* anchors, double* dots) {
  double total[lanes] = {};
  for (Index e = 0; e < count;) {
    const std::int32_t limit = column[e] / segment * segment + segment;
    double sum[lanes] = {};
    for (; e < count && column[e] < limit; ++e) {
      const double* anchor = anchors + column[e] * lanes;
      const double x = value[e];
      for (Index r = 0; r < lanes; ++r) sum[r] += anchor[r] * x;
    }
    for (Index r = 0; r < lanes; ++r) total[r] += sum[r];
  }
  for (Index r = 0; r < lanes; ++r) dots[r] = total[r];
}

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

HellingerRows::HellingerRows(const SquareRootDistributions& s)
    : s_(&s), squared_norm_(static_cast<std::size_t>(s.row_count())), anchors_(static_cast<std::size_t>(s.column_count * row_block), 0.0) {
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
  expects(count <= row_block && first + count <= row_count() && column_first + column_count <= row_count(), "a tile inside the matrix");
  expects(std::ssize(h) >= count * column_count, "room for the tile");
  for (Index r = 0; r < count; ++r) set_anchor(first + r, r, true);
  double dots[row_block] = {};
  for (Index j = column_first; j < column_first + column_count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Index begin = s_->row_begin[at];
    const bool as_before = j > column_first && begin == s_->row_begin[at - 1] && s_->row_end[at] == s_->row_end[at - 1];
    if (!as_before) multiply_row(s_->column.data() + begin, s_->value.data() + begin, s_->row_end[at] - begin, anchors_.data(), dots);
    for (Index r = 0; r < count; ++r) {
      const Index i = first + r;
      const double norms = squared_norm_[static_cast<std::size_t>(i)] + squared_norm_[at];
      double squared = norms - 2 * dots[r];
      if (i == j) {
        squared = 0;
      } else if (squared < near_equal * norms) {
        squared = squared_difference(*s_, i, j);
      }
      h[static_cast<std::size_t>(r * column_count + j - column_first)] = std::sqrt(squared);
    }
  }
  for (Index r = 0; r < count; ++r) set_anchor(first + r, r, false);
}

void HellingerRows::set_anchor(Index row, Index lane, bool present) {
  for (Index e = s_->row_begin[static_cast<std::size_t>(row)]; e < s_->row_end[static_cast<std::size_t>(row)]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    anchors_[static_cast<std::size_t>(s_->column[at] * row_block + lane)] = present ? s_->value[at] : 0.0;
  }
}

}  // namespace posgeom
