#pragma once
#include <span>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// Rotates the columns of the column-major `rows` x `columns` matrix until they are orthogonal relative to their own lengths: one-sided
/// Jacobi (Hestenes 1958), applied only to the pairs that need it. For columns that are nearly orthogonal already and of very different
/// lengths, where a difference of rounding size against the longest column is a large one against the shortest. `grid` holds this rank
/// alone.
void orthogonalise_columns(const ProcessGrid& grid, std::span<double> matrix, Index rows, Index columns);

/// X'X of the column-major rows x columns matrix, columns x columns.
DistributedMatrix inner_products(const ProcessGrid& grid, std::span<const double> matrix, Index rows, Index columns);

}  // namespace posgeom
