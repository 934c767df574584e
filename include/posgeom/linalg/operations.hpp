#pragma once
#include <functional>
#include <span>
#include <vector>

#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// C += R K' on the local part: `row_panel` is local_rows x width (the panel's rows that this rank's rows of C stand for), `column_panel`
/// local_columns x width (those of its columns), both column-major and dense (leading dimension = their row count).
/// With both panels taken from one m x width matrix X over all ranks this is the rank-k update C += X X'. Not collective: no communication.
void rank_k_update(DistributedMatrix& c, std::span<const double> row_panel, std::span<const double> column_panel, Index width);

/// **Collective.** C = A B (PBLAS pdgemm); shapes and grids must agree. `transpose_a`: C = A' B.
void multiply(const DistributedMatrix& a, const DistributedMatrix& b, DistributedMatrix& c, bool transpose_a = false);

/// C = op(A) op(B) + beta C for dense column-major arrays of this rank: op(A) is m x k, op(B) k x n; the arrays have no gaps (op(A) = A' is
/// stored k x m). Not collective.
struct LocalShape {
  Index m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
};
void multiply_local(const LocalShape& shape, const double* a, const double* b, double beta, double* c);

/// **Collective.** sqrt(sum a_ij^2), the same on every rank.
double frobenius_norm(const DistributedMatrix& a);

/// **Collective.** sum of the diagonal, the same on every rank.
double trace(const DistributedMatrix& a);

/// **Collective.** The columns `columns` of `a` (global indices, any order) as one column-major rows x columns.size() array on every rank.
std::vector<double> gather_columns(const DistributedMatrix& a, std::span<const Index> columns);

/// Sets every local element to f(global row, global column). Not collective.
void fill(DistributedMatrix& a, const std::function<double(Index, Index)>& f);

/// The name of this process's BLAS and of its kernels as far as it says ("BLIS 0.9.0 skx", "OpenBLAS 0.3.21 Prescott"), else the file that
/// holds it ("libmkl_rt.so.2") or "unknown".
std::string name_of_blas();

/// Double-precision operations a second of DGEMM on a k x k product, the best of four by the clock `seconds`. Not collective.
double best_dgemm_flops(int k, double (*seconds)());

/// name_of_blas(), and the number of double-precision operations a second that one rank's DGEMM reaches on a k x k product (k = 512).
struct BlasReport {
  std::string name;
  double dgemm_flops = 0;  ///< with all its threads
  int threads = 1;         ///< those that it uses now (blas_threads)
};
/// Takes about 0.05 s with right kernels, 0.2 s with wrong ones. Not collective.
BlasReport measure_blas();

}  // namespace posgeom
