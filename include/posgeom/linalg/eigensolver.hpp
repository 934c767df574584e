#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// How eigenpairs are found. automatic ("auto"): dual where the V x V problem is the smaller one, else pdsyevd.
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
/// tridiagonalisation (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999). The workspace is computed here in 64 bits: the library's own
/// query is too small for small n and wraps for large ones. Throws Error (the same on every rank) for a non-finite input, where 32-bit
/// workspace does not suffice (naming the rank count that would), for a non-zero info and for a residual or orthogonality above the limits.
/// Memory: at the peak each rank holds its part of `a`, a copy of it, the vectors and a workspace of twice such a part: five parts, or
/// 5 * 8 n^2 / ranks bytes. Copy and workspace are freed before the vectors are checked.
Eigenpairs eigh(const DistributedMatrix& a);

/// The number of doubles of pdsyevd's workspace on the fullest rank for order n, in 64 bits (what every rank is given). Above lp64_limit
/// eigh refuses.
Index pdsyevd_workspace(Index n, Index block, int grid_rows, int grid_columns);

/// The smallest number of ranks whose nearest-to-square grid lets pdsyevd solve order n; 0 if there is none at this block size.
Index smallest_pdsyevd_ranks(Index n, Index block);

/// Throws Error (with the rank count that would do) where eigh would refuse order n on that grid: ask before the matrix is built.
void require_pdsyevd_fits(Index n, Index block, int grid_rows, int grid_columns);

/// How good eigenpairs are: the residual and orthogonality of Eigenpairs.
struct EigenQuality {
  double residual = 0;
  double orthogonality = 0;
};
/// **Collective.** The quality of values[j], column j of `vectors` (n x k, k <= n) as eigenpairs of the whole of `a`; both norms are exact,
/// from pdgemm by column panels (max(512, k/8) columns at a time). NaN in the pairs gives NaN. The same on every rank.
EigenQuality eigen_quality(const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& vectors);
/// Throws Error where residual or orthogonality is above its limit or NaN: `solver` gave a wrong result for order n, which must not be
/// used.
void require_quality(const EigenQuality& quality, std::string_view solver, Index n);

/// Eigenpairs of a small dense symmetric matrix on this rank alone (LAPACK dsyevd). `a` is n x n column-major.
/// values descending; vectors n x n column-major, column j for values[j]. Throws Error for non-finite input, a non-zero info, a residual or
/// orthogonality above the limits, or n > 32766 (32-bit workspace). Not collective.
struct DenseEigenpairs {
  std::vector<double> values;
  std::vector<double> vectors;
};
DenseEigenpairs dense_eigh(std::vector<double> a, Index n);

}  // namespace posgeom
