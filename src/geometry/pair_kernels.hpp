#pragma once
#include <limits>

#include "posgeom/types.hpp"

namespace posgeom {

/// Adds (x_ik - x_jk)^2 over the columns k_begin <= k < k_end to squared[r * stride + j - j_begin], for anchors i = first + r, r < count <=
/// 16, and j_begin <= j < rows. `x` is column-major with `rows` rows; j_begin is a multiple of 8: each number is the same whatever the
/// block.
void add_squared_differences(const double* x, Index rows, Index first, Index count, Index j_begin, Index k_begin, Index k_end,
                             double* squared, Index stride);

/// Sums over some pairs; D - shift and H - mean_h keep the digits of the variances.
struct PairMoments {
  double shifted = 0;          ///< sum (D - shift)
  double shifted_squared = 0;  ///< sum (D - shift)^2
  double cross = 0;            ///< sum (D - shift) (H - mean_h)
  double squared = 0;          ///< sum D^2
  double product = 0;          ///< sum D H
  double residual = 0;         ///< sum (D - H)^2
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
};

/// The moments of `count` pairs with squared distances `squared` and Hellinger distances `h`.
PairMoments pair_moments(const double* squared, const double* h, Index count, double shift, double mean_h);

}  // namespace posgeom
