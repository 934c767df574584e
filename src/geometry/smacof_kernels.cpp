#include "geometry/smacof_kernels.hpp"

#include <algorithm>

#include "geometry/pair_kernels.hpp"
#include "geometry/vector_lanes.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

double sum_of(const PairVector& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

constexpr Index row_group = 2;
constexpr Index column_group = 4;

}  // namespace

POSGEOM_SIMD void ratios_of_row(double* place, const double* roots, const double* h, const double* weight, Index stride, double floor,
                                GuttmanSums* sums) {
  PairVector ratio_sum = {};
  PairVector residual_sum = {};
  for (Index c = 0; c < stride; c += pair_lanes) {
    const PairVector distance = vector_at(roots + c);
    const PairVector hellinger = vector_at(h + c);
    const PairVector w = vector_at(weight + c);
    const PairVector difference = distance - hellinger;
    const PairVector above = distance > floor ? distance : PairVector{} + floor;
    const PairVector ratio = w * hellinger / above;
    residual_sum += w * (difference * difference);
    ratio_sum += ratio;
    vector_at(place + c) = ratio;
  }
  sums->ratio += sum_of(ratio_sum);
  sums->residual += sum_of(residual_sum);
}

void guttman_ratios(const GuttmanTile& tile, double floor, double* roots, GuttmanSums* sums) {
  for (Index r = 0; r < tile.rows; ++r) {
    double* const place = tile.squared + r * tile.stride;
    square_roots(place, tile.stride, roots);
    ratios_of_row(place, roots, tile.h + r * tile.h_stride, tile.weight, tile.stride, floor, sums + r);
  }
}

POSGEOM_SIMD void guttman_products(const double* ratios, Index stride, Index rows, const double* x, Index x_stride, Index columns,
                                   double* out) {
  for (Index k = 0; k < columns; k += column_group) {
    const double* column[column_group];
    for (Index q = 0; q < column_group; ++q) column[q] = x + std::min(k + q, columns - 1) * x_stride;
    for (Index r = 0; r < rows; r += row_group) {
      const double* const first = ratios + r * stride;
      const double* const second = first + (r + 1 < rows ? stride : 0);
      PairVector sum[row_group][column_group] = {};
      for (Index c = 0; c < stride; c += pair_lanes) {
        const PairVector a = vector_at(first + c);
        const PairVector b = vector_at(second + c);
#pragma GCC unroll 4
        for (Index q = 0; q < column_group; ++q) {
          const PairVector values = vector_at(column[q] + c);
          sum[0][q] += a * values;
          sum[1][q] += b * values;
        }
      }
      for (Index p = 0; p < std::min(row_group, rows - r); ++p) {
        for (Index q = 0; q < std::min(column_group, columns - k); ++q) out[(r + p) * columns + k + q] += sum_of(sum[p][q]);
      }
    }
  }
}

}  // namespace posgeom
