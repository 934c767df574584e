#pragma once
#include <string_view>
#include <vector>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// T = Q'A Q: the same on every rank, but for tau.
struct Tridiagonal {
  std::vector<double> diagonal;      ///< [n]
  std::vector<double> off_diagonal;  ///< [n], the last one unused
  std::vector<double> tau;           ///< of this rank's columns: with the lower triangle of the matrix that was reduced, Q
};

/// **Collective.** ScaLAPACK's pdsytrd on the lower triangle of `a`, which then holds Q's reflectors.
Tridiagonal reduce_to_tridiagonal(DistributedMatrix& a, std::string_view doing);

/// **Collective.** vectors = Q vectors (pdormtr).
void transform_back(const DistributedMatrix& reduced, const Tridiagonal& t, DistributedMatrix& vectors, std::string_view doing);

/// All eigenvalues (dsterf, the QR iteration), ascending. Not collective. Throws Error where it fails.
std::vector<double> tridiagonal_values(const Tridiagonal& t, std::string_view doing);

/// The eigenvectors of the `count` smallest eigenvalues (dstemr), n x count column-major. Not collective. Throws Error where it fails.
std::vector<double> tridiagonal_vectors(const Tridiagonal& t, Index count, std::string_view doing);

/// The doubles of the workspaces of pdsytrd and pdormtr on the fullest rank.
Index reduction_workspace(Index n, Index block, int grid_rows, int grid_columns);

}  // namespace posgeom
