#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// How eigenpairs are found. lapack, pdsyevd, pdsyevr and elpa solve a dense matrix (eigh); dual and krylov need to know what it was made
/// from. automatic ("auto") chooses by predicted time (fastest_solver).
enum class Solver { automatic, lapack, pdsyevd, pdsyevr, elpa, dual, krylov };
std::string_view name_of(Solver solver);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Solver solver_named(std::string_view name);

struct EighOptions {
  Solver solver = Solver::pdsyevd;  ///< automatic, lapack, pdsyevd, pdsyevr or elpa
  Index vectors = 0;                ///< how many leading eigenvectors, 0 .. n; 0: all
};

/// The eigenvalues of a symmetric matrix of order n, and the eigenvectors of the K largest.
struct Eigenpairs {
  std::vector<double> values;          ///< [n], descending, bit-equal on every rank
  DistributedMatrix vectors;           ///< n x K; column j belongs to values[j]; orthonormal
  double residual = 0;                 ///< |A Z - Z W|_F / (|A|_F n eps); 0 for A = 0
  double orthogonality = 0;            ///< |Z'Z - I|_F / (n eps)
  std::vector<double> residuals = {};  ///< [K], |A z_j - w_j z_j|_2, in the unit of A; bit-equal on every rank
  Solver solver = Solver::pdsyevd;     ///< the one that was used
};

/// Above these, residual and orthogonality mean a wrong result: eigh and dense_eigh throw (measured for right ones: below 0.1 and 10).
inline constexpr double residual_limit = 100;
inline constexpr double orthogonality_limit = 100;

/// **Collective.** All eigenvalues and options.vectors leading eigenvectors of the symmetric matrix `a` (both triangles set). All backends
/// reduce the matrix to a tridiagonal one, and transform only the vectors that are wanted back. What they do with the tridiagonal one:
///   pdsyevd  divide and conquer (Tisseur and Dongarra, SIAM J. Sci. Comput. 20, 1999), distributed. The workspace is computed here in 64
///            bits: the library's own query is too small for small n and wraps for large ones.
///   pdsyevr  relatively robust representations (Dhillon, Parlett and Voemel, ACM TOMS 32, 2006): the root finds the eigenvalues (QR) and
///            the vectors (LAPACK's dstemr) of the tridiagonal matrix, which takes n (n + vectors) operations only. Where the vectors are
///            more numbers than two of a rank's parts of the matrix (vectors > 2 n / ranks), pdsyevd takes its place.
///   lapack   the same with LAPACK (dsyevd for all vectors), on one rank, with the threads of the BLAS.
///   elpa     ELPA's one-stage solver (divide and conquer); where the build has it. Where there are fewer rows than process rows or columns
///            it cannot start, and pdsyevd takes its place.
/// automatic: fastest_solver of these.
/// The matrix is scaled by a power of two first, so that none of them can overflow. Throws Error (the same on every rank) for a non-finite
/// input, where 32-bit integers do not suffice (naming the rank count that would), for a failure of the library, for a residual or
/// orthogonality above the limits, and for eigenvalues whose sum or sum of squares is not the matrix's; (usage) for a solver that is not of
/// these, is not in this build, or does not suit the rank count.
/// Residuals and orthogonality are exact up to 64 vectors; beyond, where exactness would take as long as a third of the solution, they are
/// estimates from 32 random directions (sketched_quality), right within a factor of two.
/// Memory: at the peak each rank holds its part of `a`, a copy of it, the vectors and (pdsyevd, all vectors) a workspace of twice such a
/// part: five parts, or 5 * 8 n^2 / ranks bytes. Copy and workspace are freed before the vectors are checked.
Eigenpairs eigh(const DistributedMatrix& a, const EighOptions& options = {});

/// Whether this build has the library of `solver` (elpa is optional).
bool is_built(Solver solver);

/// The number of doubles in the largest array that `solver` hands to a 32-bit interface on the fullest rank, in 64 bits; above lp64_limit
/// eigh refuses. `vectors` as in EighOptions.
Index largest_array(const EighOptions& options, Index n, Index block, int grid_rows, int grid_columns);
/// The smallest number of ranks whose nearest-to-square grid lets the solver take order n; 0 if there is none at this block size.
Index smallest_ranks(const EighOptions& options, Index n, Index block);
/// Throws Error (usage) for a solver of a dense matrix that is not in this build or does not suit the rank count, whatever the order.
void require_solver_suits(Solver solver, Index ranks);
/// The same, and Error where eigh would refuse order n on that grid for its 32-bit limits (with the rank count that would do). Ask before
/// the matrix is built.
void require_solver_fits(const EighOptions& options, Index n, Index block, int grid_rows, int grid_columns);

/// What this machine does in a second, for predictions. Choosing needs ratios only, which are measured ones; seconds need a measured DGEMM.
struct SolverRates {
  double dgemm_flops = 50e9;  ///< operations a second of DGEMM on one core (BlasReport)
  int threads = 1;            ///< threads of the BLAS, for lapack
};
/// The predicted seconds of eigh: the operations of the steps of each backend over DGEMM's rate, times how much slower than DGEMM each step
/// was measured to be. In units of n^3 / (dgemm_flops ranks), k = vectors / n:
///   pdsyevd 6.3 + 1.9 + 5.2 k    pdsyevr 6.3 + 5.2 k and, on the root alone, (700 n^2 + 18000 n vectors) / dgemm_flops    elpa 5.4 + 2.0 +
///   4.3 k    lapack 5.0 + 3.0 k and the same on the root (all vectors: 5.0 + 2.9 + 3.0); threads help all but 4.3 of its 5.0
/// for the reduction, divide and conquer, and the back transformation. For comparing backends, and within a factor of two for times where
/// the network is no bound.
double predicted_seconds(const EighOptions& options, Index n, int ranks, const SolverRates& rates);
/// What `automatic` takes: of the backends that are built and fit, the one with the smallest predicted time on this many ranks; and why, as
/// one line for a log. Where none fits: pdsyevd, whose refusal says what would. On one core all vectors are lapack's and so are some; on
/// several ranks all are elpa's (pdsyevd's without it) and few are pdsyevr's.
struct SolverChoice {
  Solver solver = Solver::pdsyevd;
  double seconds = 0;  ///< predicted; 0 where none fits
  std::string reason;  ///< "pdsyevr: n = 4096, 64 vectors, 2 ranks: the shortest predicted of pdsyevd 5.7 s, pdsyevr 4.9 s, elpa 5.2 s"
};
SolverChoice fastest_solver(Index n, Index vectors, Index block, int grid_rows, int grid_columns, const SolverRates& rates);

/// The number of doubles of pdsyevd's workspace on the fullest rank for order n, in 64 bits (what every rank is given). Above lp64_limit
/// eigh refuses.
Index pdsyevd_workspace(Index n, Index block, int grid_rows, int grid_columns);

/// The smallest number of ranks whose nearest-to-square grid lets pdsyevd solve order n; 0 if there is none at this block size.
Index smallest_pdsyevd_ranks(Index n, Index block);

/// Throws Error (with the rank count that would do) where eigh would refuse order n on that grid: ask before the matrix is built.
void require_pdsyevd_fits(Index n, Index block, int grid_rows, int grid_columns);

/// How good eigenpairs are: the numbers of Eigenpairs.
struct EigenQuality {
  double residual = 0;
  double orthogonality = 0;
  std::vector<double> residuals = {};
};
/// **Collective.** The quality of values[j], column j of `vectors` (n x k, k <= n) as eigenpairs of the whole of `a`; all norms are exact,
/// from pdgemm by column panels (max(512, k/8) columns at a time). NaN in the pairs gives NaN. The same on every rank.
EigenQuality eigen_quality(const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& vectors);
/// **Collective.** The same numbers estimated from the images of `directions` random vectors w, E |w'R|^2 = |R|^2 (Hutchinson 1989; Avron
/// and Toledo, J. ACM 58, 2011): n^2 directions operations instead of n^2 k. The relative error is about 1/sqrt(2 directions) a column and
/// less for the norms of all; the estimate of an error is below a tenth of it with a probability of 1e-26 at 32. The vectors are functions
/// of the index: the same for every rank count.
EigenQuality sketched_quality(const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& vectors,
                              Index directions = 32);
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
