#include "geometry/row_products.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

constexpr Index anchors = RowProducts::anchors;

// What is frequent (is_frequent). Measured (one core, AVX-512): a column that c of m rows hold takes c m / 2 multiplications at 1.2e10 a
// second by vectors of anchors, and by lists c m / (2 * 48) look-ups of 2 ns and c^2 / 2 multiplications of 1 ns; they meet at c = m / 30,
// flatly.

/// Columns of D at a time, and entries of T that a row has in a piece on average: the panel's piece stays in the first-level cache while it
/// is dense, and chains of roundings stay short.
constexpr Index dense_depth = 64;
constexpr Index sparse_depth = 24;
constexpr Index widest_piece = 512;

}  // namespace

/// The products of `rows` rows with columns first .. first+count-1 of D. A row at a time, or four, which takes a vector of the panel to
/// four registers: the sums are the same.
template <Index together>
[[gnu::always_inline]] static inline void multiply_rows(const double* panel, const double* const* x, Index count, double* products) {
  LaneVector sum[together][panel_vectors] = {};
  for (Index k = 0; k < count; ++k) {
    const double* row = panel + k * anchors;
#pragma GCC unroll 6
    for (Index v = 0; v < panel_vectors; ++v) {
      const LaneVector y = *reinterpret_cast<const LaneVector*>(row + v * register_lanes);
#pragma GCC unroll 4
      for (Index r = 0; r < together; ++r) sum[r][v] += y * x[r][k];
    }
  }
#pragma GCC unroll 4
  for (Index r = 0; r < together; ++r) {
#pragma GCC unroll 6
    for (Index v = 0; v < panel_vectors; ++v) *reinterpret_cast<LaneVector*>(products + r * anchors + v * register_lanes) += sum[r][v];
  }
}

template <Index together>
[[gnu::always_inline]] static inline void multiply_dense_by(const double* panel, const double* dense, Index width, const Index* stored,
                                                            Index rows, Index first, Index count, double* products) {
  Index r = 0;
  const double* x[together];
  for (; r + together <= rows; r += together) {
    for (Index t = 0; t < together; ++t) x[t] = dense + stored[r + t] * width + first;
    multiply_rows<together>(panel + first * anchors, x, count, products + r * anchors);
  }
  for (; r < rows; ++r) {
    x[0] = dense + stored[r] * width + first;
    multiply_rows<1>(panel + first * anchors, x, count, products + r * anchors);
  }
}

POSGEOM_SIMD static void multiply_dense_singly(const double* panel, const double* dense, Index width, const Index* stored, Index rows,
                                               Index first, Index count, double* products) {
  multiply_dense_by<1>(panel, dense, width, stored, rows, first, count, products);
}

#ifdef POSGEOM_SIMD_LEVELS
/// 24 sums in 32 registers.
__attribute__((target("arch=x86-64-v4"))) static void multiply_dense_by_four(const double* panel, const double* dense, Index width,
                                                                             const Index* stored, Index rows, Index first, Index count,
                                                                             double* products) {
  multiply_dense_by<4>(panel, dense, width, stored, rows, first, count, products);
}
#endif

static void multiply_dense(const double* panel, const double* dense, Index width, const Index* stored, Index rows, Index first, Index count,
                           double* products) {
#ifdef POSGEOM_SIMD_LEVELS
  if (__builtin_cpu_supports("x86-64-v4")) return multiply_dense_by_four(panel, dense, width, stored, rows, first, count, products);
#endif
  multiply_dense_singly(panel, dense, width, stored, rows, first, count, products);
}

RowProducts::RowProducts(const SplitColumns& columns, const SplitRows& x)
    : x_(&x), column_count_(columns.column_count()), dense_count_(columns.dense_count), frequent_count_(columns.frequent_count) {
  Index held = 0;
  Index begin = dense_count_;
  for (Index k = dense_count_; k < frequent_count_; ++k) {
    held += columns.holders[static_cast<std::size_t>(k)];
    if (held < sparse_depth * columns.rows && k + 1 - begin < widest_piece && k + 1 < frequent_count_) continue;
    pieces_.push_back(static_cast<std::int32_t>(k + 1));
    begin = k + 1;
    held = 0;
  }
  for (Index p = 0; p < x.stored(); ++p) {
    const std::int32_t* last = x.column + x.end[static_cast<std::size_t>(p)];
    rare_begin_.push_back(std::lower_bound(x.column + x.begin[static_cast<std::size_t>(p)], last, frequent_count_) - x.column);
  }
}

RareColumns::Row RowProducts::rare_part(Index stored) const {
  const auto begin = rare_begin_[static_cast<std::size_t>(stored)];
  return {x_->column + begin, x_->value + begin, x_->end[static_cast<std::size_t>(stored)] - begin};
}

RowProducts::Workspace RowProducts::workspace() const {
  Workspace work;
  work.panel.assign(static_cast<std::size_t>(frequent_count_ * anchors), 0.0);
  std::vector<Index> rare;
  for (Index p = 0; p < x_->stored(); ++p) rare.push_back(rare_part(p).count);
  std::ranges::sort(rare, std::greater{});
  Index most = 0;
  for (std::size_t k = 0; k < std::min<std::size_t>(anchors, rare.size()); ++k) most += rare[k];
  work.rare = RareColumns(frequent_count_, column_count_ - frequent_count_, most);
  work.cursor.resize(2 * most_rows);
  work.products.resize(most_rows * anchors);
  return work;
}

void RowProducts::set_anchors(Workspace& work, std::span<const Index> stored) const {
  expects(std::ssize(stored) <= anchors, "no more anchors than lanes");
  std::ranges::fill(work.panel, 0.0);
  std::array<RareColumns::Row, anchors> rare;
  for (std::size_t lane = 0; lane < stored.size(); ++lane) {
    const auto row = static_cast<std::size_t>(stored[lane]);
    for (Index k = 0; k < dense_count_; ++k)
      work.panel[static_cast<std::size_t>(k * anchors) + lane] =
          x_->dense[row * static_cast<std::size_t>(dense_count_) + static_cast<std::size_t>(k)];
    for (auto e = static_cast<std::size_t>(x_->begin[row]); e < static_cast<std::size_t>(rare_begin_[row]); ++e)
      work.panel[static_cast<std::size_t>(x_->column[e] * anchors) + lane] = x_->value[e];
    rare[lane] = rare_part(stored[lane]);
  }
  work.rare.set_anchors(std::span(rare).first(stored.size()));
}

void RowProducts::multiply(Workspace& work, std::span<const Index> stored) const {
  const Index rows = std::ssize(stored);
  expects(rows <= most_rows, "no more rows than there is room for");
  std::fill_n(work.products.begin(), rows * anchors, 0.0);
  for (Index first = 0; first < dense_count_; first += dense_depth) {
    multiply_dense(work.panel.data(), x_->dense.data(), dense_count_, stored.data(), rows, first,
                   std::min(dense_depth, dense_count_ - first), work.products.data());
  }
  Index* end = work.cursor.data() + most_rows;
  for (Index r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>(stored[static_cast<std::size_t>(r)]);
    work.cursor[static_cast<std::size_t>(r)] = x_->begin[row];
    end[r] = rare_begin_[row];
  }
  for (const std::int32_t limit : pieces_)
    multiply_panel(work.panel.data(), x_->column, x_->value, limit, end, rows, work.cursor.data(), work.products.data());
  for (Index r = 0; r < rows; ++r)
    work.rare.add_products(rare_part(stored[static_cast<std::size_t>(r)]), work.products.data() + r * anchors);
}

}  // namespace posgeom
