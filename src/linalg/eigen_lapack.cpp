#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "linalg/eigen_backends.hpp"
#include "linalg/scalapack.hpp"
#include "linalg/scaled_sum.hpp"
#include "linalg/tridiagonal.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// eigen_quality on one rank without a grid. `scratch` is n x n.
EigenQuality dense_quality(std::span<const double> a, const DenseEigenpairs& pairs, int n, std::span<double> scratch) {
  const Index order = n;
  const double one = 1.0;
  const double minus_one = -1.0;
  const double zero = 0.0;
  ScaledSum norm;
  for (const double x : a) norm.add(x);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) {
      scratch[static_cast<std::size_t>(i + j * order)] =
          pairs.values[static_cast<std::size_t>(j)] * pairs.vectors[static_cast<std::size_t>(i + j * order)];
    }
  }
  scalapack::dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, pairs.vectors.data(), &n, &minus_one, scratch.data(), &n);
  ScaledSum residual;
  for (const double x : scratch) residual.add(x);
  scalapack::dgemm_("T", "N", &n, &n, &n, &one, pairs.vectors.data(), &n, pairs.vectors.data(), &n, &zero, scratch.data(), &n);
  for (Index j = 0; j < order; ++j) scratch[static_cast<std::size_t>(j + j * order)] -= 1.0;
  ScaledSum orthogonality;
  for (const double x : scratch) orthogonality.add(x);

  const double unit = static_cast<double>(order) * std::numeric_limits<double>::epsilon();
  const double relative = norm.root() == 0 && residual.root() == 0 ? 0.0 : residual.root() / norm.root();
  return {relative / unit, orthogonality.root() / unit};
}

/// Ascending eigenvalues; the vectors replace the matrix. Returns info.
int run_dsyevd(int n, std::span<double> matrix, std::span<double> values) {
  const Index order = n;
  const int lwork = narrow_to_int(1 + 6 * order + 2 * order * order, "the workspace 1 + 6 n + 2 n^2 of LAPACK's dsyevd");
  const int liwork = narrow_to_int(3 + 5 * order, "the integer workspace of LAPACK's dsyevd");
  const auto work = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(lwork));
  const auto iwork = std::make_unique_for_overwrite<int[]>(static_cast<std::size_t>(liwork));
  int info = 0;
  scalapack::dsyevd_("V", "L", &n, matrix.data(), &n, values.data(), work.get(), &lwork, iwork.get(), &liwork, &info, 1, 1);
  return info;
}

/// Divide and conquer, all vectors; `matrix` becomes the vectors.
Solution solve_all(DistributedMatrix matrix, std::string_view doing) {
  const Index order = matrix.rows();
  const int n = narrow_to_int(order, "the order of a matrix");
  std::vector<double> values(static_cast<std::size_t>(order));
  const int info = run_dsyevd(n, matrix.data(), values);
  refuse_failure(doing, "dsyevd", info);
  return {std::move(values), std::move(matrix)};
}

/// dsyevr's steps for some vectors, and all eigenvalues, which it would not give.
Solution solve_some(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  const Index order = matrix.rows();
  const int n = narrow_to_int(order, "the order of a matrix");
  const int k = narrow_to_int(vectors, "the number of eigenvectors");
  constexpr Index widest_block = 64;  // dormtr's NBMAX, and more than dsytrd's block
  const int lwork = narrow_to_int(widest_block * (order + widest_block + 1), "the workspace of LAPACK's dsytrd and dormtr");
  std::vector<double> work(static_cast<std::size_t>(lwork));
  Tridiagonal t{std::vector<double>(static_cast<std::size_t>(order)), std::vector<double>(static_cast<std::size_t>(order)),
                std::vector<double>(static_cast<std::size_t>(order))};
  int info = 0;
  scalapack::dsytrd_("L", &n, matrix.data().data(), &n, t.diagonal.data(), t.off_diagonal.data(), t.tau.data(), work.data(), &lwork, &info,
                     1);
  refuse_failure(doing, "dsytrd", info);
  Solution solution{tridiagonal_values(t, doing), DistributedMatrix(matrix.grid(), order, vectors, matrix.block())};
  std::ranges::copy(tridiagonal_vectors(t, vectors, doing), solution.vectors.data().begin());
  scalapack::dormtr_("L", "L", "N", &n, &k, matrix.data().data(), &n, t.tau.data(), solution.vectors.data().data(), &n, work.data(), &lwork,
                     &info, 1, 1, 1);
  refuse_failure(doing, "dormtr", info);
  return solution;
}

}  // namespace

Solution solve_lapack(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  expects(matrix.grid().communicator().size() == 1, "one rank");
  const ProcessGrid grid = matrix.grid();
  return collective(grid.communicator(), doing, [&] {
    return vectors == matrix.rows() ? solve_all(std::move(matrix), doing) : solve_some(std::move(matrix), vectors, doing);
  });
}

DenseEigenpairs dense_eigh(std::vector<double> a, Index n) {
  expects(n >= 0 && std::ssize(a) == n * n, "n x n elements");
  if (n == 0) return {};
  for (Index k = 0; k < n * n; ++k) {
    const double x = a[static_cast<std::size_t>(k)];
    if (!std::isfinite(x)) {
      throw Error(
          fmt::format("computing the eigenpairs of a {0} x {0} matrix: element ({1}, {2}) is {3}, and every element must be finite; "
                      "the data it was made from holds a value that is not a number",
                      n, k % n, k / n, x));
    }
  }
  const int order = narrow_to_int(n, "the order of a matrix");
  DenseEigenpairs pairs{std::vector<double>(static_cast<std::size_t>(n)), a};
  // As in eigh: the ascending eigenvalues of -A are the descending ones of A.
  for (double& x : pairs.vectors) x = -x;
  const int info = run_dsyevd(order, pairs.vectors, pairs.values);
  if (info != 0) {
    throw Error(fmt::format(
        "computing the eigenpairs of a {0} x {0} matrix with LAPACK's dsyevd: it failed with info = {1}; try another --solver", n, info));
  }
  for (double& value : pairs.values) value = 0.0 - value;
  std::vector<double> scratch(static_cast<std::size_t>(n * n));
  require_quality(dense_quality(a, pairs, order, scratch), "dsyevd", n);
  return pairs;
}

}  // namespace posgeom
