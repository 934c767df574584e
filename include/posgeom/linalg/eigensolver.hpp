#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// How eigenpairs are found. automatic: dual where the V x V problem is the smaller one, else pdsyevd.
enum class Solver { automatic, lapack, pdsyevd, pdsyevr, elpa, dual, krylov };
std::string_view name_of(Solver solver);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Solver solver_named(std::string_view name);

/// Eigenpairs of a symmetric matrix.
struct Eigenpairs {
  std::vector<double> values;  ///< descending, bit-equal on every rank
  DistributedMatrix vectors;   ///< column j belongs to values[j]; orthonormal
  double residual = 0;         ///< |A Z - Z W|_F / (|A|_F n eps), n the order; 0 for A = 0
  double orthogonality = 0;    ///< |Z'Z - I|_F / (n eps)
};

/// Above these, residual and orthogonality mean a wrong result: eigh and dense_eigh throw (measured for right ones: below 0.1 and 10).
inline constexpr double residual_limit = 100;
inline constexpr double orthogonality_limit = 100;

/// **Collective.** All eigenpairs of the symmetric matrix `a` (both triangles set) with ScaLAPACK's pdsyevd: divide and conquer after
/// tridiagonalisation (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999). The workspace is computed here in 64 bits: the library's own query
/// is too small for small n and wraps for large ones. Throws Error (the same on every rank) for a non-finite input, where 32-bit
/// workspace does not suffice (naming the rank count that would), for a non-zero info and for a residual or orthogonality above the limits.
Eigenpairs eigh(const DistributedMatrix& a);

/// The number of doubles of pdsyevd's workspace on the fullest rank for order n, in 64 bits.
Index pdsyevd_workspace(Index n, Index block, int grid_rows, int grid_columns);

/// The largest ranks' local element count that the LP64 interface can take: 2^31 - 1.
inline constexpr Index lp64_limit = 2147483647;

/// Eigenpairs of a small dense symmetric matrix on this rank alone (LAPACK dsyevd). `a` is n x n column-major.
/// values descending; vectors n x n column-major, column j for values[j]. Throws Error for non-finite input or a non-zero info.
struct DenseEigenpairs {
  std::vector<double> values;
  std::vector<double> vectors;
};
DenseEigenpairs dense_eigh(std::vector<double> a, Index n);

}  // namespace posgeom
