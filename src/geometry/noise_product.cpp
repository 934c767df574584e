#include <algorithm>
#include <utility>

#include "geometry/noise_null.hpp"
#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom::noise {
namespace {

/// Eight floats, and the doubles that they become.
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
using Doubles = double __attribute__((vector_size(64), aligned(8), may_alias));

}  // namespace

/// (a.x, b.x)
POSGEOM_SIMD static std::pair<double, double> dots(const float* a, const float* b, const double* x, Index count) {
  Doubles of_a = {};
  Doubles of_b = {};
  Index k = 0;
  for (; k + 8 <= count; k += 8) {
    const Doubles values = *reinterpret_cast<const Doubles*>(x + k);
    of_a += __builtin_convertvector(*reinterpret_cast<const Floats*>(a + k), Doubles) * values;
    of_b += __builtin_convertvector(*reinterpret_cast<const Floats*>(b + k), Doubles) * values;
  }
  std::pair<double, double> sums{0.0, 0.0};
  for (int lane = 0; lane < 8; ++lane) {
    sums.first += of_a[lane];
    sums.second += of_b[lane];
  }
  for (; k < count; ++k) {
    sums.first += static_cast<double>(a[k]) * x[k];
    sums.second += static_cast<double>(b[k]) * x[k];
  }
  return sums;
}

/// y += a s + b t
POSGEOM_SIMD static void add_both(const float* a, double s, const float* b, double t, double* y, Index count) {
  Index k = 0;
  for (; k + 8 <= count; k += 8) {
    *reinterpret_cast<Doubles*>(y + k) += __builtin_convertvector(*reinterpret_cast<const Floats*>(a + k), Doubles) * s +
                                          __builtin_convertvector(*reinterpret_cast<const Floats*>(b + k), Doubles) * t;
  }
  for (; k < count; ++k) y[k] += static_cast<double>(a[k]) * s + static_cast<double>(b[k]) * t;
}

double NullRows::gathered(Index t, std::span<const double> x) const {
  double sum = 0;
  auto g = static_cast<std::size_t>(group_begin(t));
  auto e = static_cast<std::size_t>(g == 0 ? 0 : groups_[g - 1].end);
  for (; g < static_cast<std::size_t>(group_end_[static_cast<std::size_t>(t)]); ++g) {
    const auto end = static_cast<std::size_t>(groups_[g].end);
    double group = 0;
    for (; e < end; ++e) group += x[row_[e]];
    sum += root_[groups_[g].count] * group;
  }
  return sum;
}

void NullRows::scatter(Index t, double factor, std::span<double> y) const {
  auto g = static_cast<std::size_t>(group_begin(t));
  auto e = static_cast<std::size_t>(g == 0 ? 0 : groups_[g - 1].end);
  for (; g < static_cast<std::size_t>(group_end_[static_cast<std::size_t>(t)]); ++g) {
    const auto end = static_cast<std::size_t>(groups_[g].end);
    const double term = factor * root_[groups_[g].count];
    for (; e < end; ++e) y[row_[e]] += term;
  }
}

void apply_split(const NullRows& a, const NullRows& b, std::span<const double> x, std::span<double> y) {
  std::ranges::fill(y, 0.0);
  const auto rows = std::ssize(x);
  for (Index t = 0; t < a.head_count_; ++t) {
    const float* of_a = a.head_.data() + t * rows;
    const float* of_b = b.head_.data() + t * rows;
    const auto [sum_a, sum_b] = dots(of_a, of_b, x.data(), rows);
    add_both(of_a, sum_b, of_b, sum_a, y.data(), rows);
  }
  for (Index t = 0; t < std::ssize(a.group_end_); ++t) {
    if (a.group_begin(t) == a.group_end_[static_cast<std::size_t>(t)] || b.group_begin(t) == b.group_end_[static_cast<std::size_t>(t)]) {
      continue;
    }
    a.scatter(t, b.gathered(t, x), y);
    b.scatter(t, a.gathered(t, x), y);
  }
}

double largest_split_eigenvalue(const NullRows& a, const NullRows& b, KeyedWords start) {
  const Index m = a.row_count();
  expects(b.row_count() == m && b.type_count() == a.type_count(), "two halves of one replicate");
  if (m < 2) return 0;
  const auto apply = [&](std::span<const double> x, std::span<double> y) { apply_split(a, b, x, y); };
  constexpr double tolerance = 1e-4;
  // The constant vector has the eigenvalue 0.
  return std::max(0.0, largest_centred_eigenvalue(m, apply, start, tolerance)) / 2;
}

}  // namespace posgeom::noise
