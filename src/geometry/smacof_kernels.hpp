#pragma once
#include "posgeom/types.hpp"

namespace posgeom {

/// A tile of the Guttman transform. Rows of `squared`, `h` and the columns of x are whole vectors of 8: entries beyond the last pair have
/// weight 0, h 0 and a finite squared distance.
struct GuttmanTile {
  double* squared;  ///< [rows][stride] squared distances; becomes B's off-diagonal entries without their sign, w_j h / D
  Index stride;
  const double* h;  ///< [rows][h_stride]
  Index h_stride;
  const double* weight;  ///< [stride] w_j
  Index rows;
};

/// sum_j w_j h / D and sum_j w_j (D - h)^2, for each row of a tile.
struct GuttmanSums {
  double ratio = 0;
  double residual = 0;
};

/// Replaces the squared distances by ratios w_j h / max(D, floor), adds the sums of each row to sums[r].
void guttman_ratios(const GuttmanTile& tile, double floor, double* roots, GuttmanSums* sums);

/// Adds sum_j ratio_rj x_jk to out[r * columns + k], r < rows, k < columns; x is the first row of the tile, its columns are `x_stride`
/// apart. Each sum is formed in the order of j: its bits do not depend on the other rows and columns.
void guttman_products(const double* ratios, Index stride, Index rows, const double* x, Index x_stride, Index columns, double* out);

}  // namespace posgeom
