#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom {

/// What a backend leaves of its matrix: ascending eigenvalues (all n, on the root at least), and the vectors of the first K of them.
struct Solution {
  std::vector<double> values;
  DistributedMatrix vectors;
};

/// **Collective.** The eigenpairs of `matrix`, which is destroyed: its largest magnitude is in [0.5, 1), its order n >= 1, 1 <= vectors <=
/// n. `doing` begins the messages. Each throws Error, the same on every rank, where memory does not suffice or the library fails.
Solution solve_lapack(DistributedMatrix matrix, Index vectors, std::string_view doing);
Solution solve_pdsyevd(DistributedMatrix matrix, Index vectors, std::string_view doing);
Solution solve_pdsyevr(DistributedMatrix matrix, Index vectors, std::string_view doing);
Solution solve_elpa(DistributedMatrix matrix, Index vectors, std::string_view doing);

/// Whether the tridiagonal vectors of pdsyevr fit the root (eigh).
bool vectors_on_root(Index n, Index vectors, Index block, int grid_rows, int grid_columns);

/// A block larger than the matrix deals nothing out: the same distribution has a block of n, and workspace terms in nb^2 stay small.
inline Index effective_block(Index n, Index block) { return std::clamp(block, Index{1}, std::max(Index{1}, n)); }
/// The descriptor of `matrix` with the effective block for its number of rows.
inline std::array<int, 9> effective_descriptor(const DistributedMatrix& matrix) {
  std::array<int, 9> descriptor = matrix.descriptor();
  descriptor[4] = descriptor[5] = static_cast<int>(effective_block(matrix.rows(), matrix.block()));
  return descriptor;
}

/// Throws Error where `info` is not zero. `routine`: whose it is.
void refuse_failure(std::string_view doing, std::string_view routine, int info);
/// **Collective.** The same, on every rank, where `info` is not zero on one of them.
void require_success(const Communicator& comm, std::string_view doing, std::string_view routine, int info);

/// The norm of all residuals in units of the matrix's norm; 0 where both are 0.
double relative_residual(std::span<const double> residuals, double norm);

/// The leading vectors.columns() columns of n x n `all`, which has the same distribution. Not collective.
void take_leading_columns(const DistributedMatrix& all, DistributedMatrix& vectors);

}  // namespace posgeom
