#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "linalg/scalapack.hpp"
#include "linalg/scaled_sum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"

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

}  // namespace

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
  const int lwork = narrow_to_int(1 + 6 * n + 2 * n * n, "the workspace 1 + 6 n + 2 n^2 of LAPACK's dsyevd");
  const int liwork = narrow_to_int(3 + 5 * n, "the integer workspace of LAPACK's dsyevd");

  DenseEigenpairs pairs{std::vector<double>(static_cast<std::size_t>(n)), a};
  // As in eigh: the ascending eigenvalues of -A are the descending ones of A.
  for (double& x : pairs.vectors) x = -x;
  const auto work = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(lwork));
  const auto iwork = std::make_unique_for_overwrite<int[]>(static_cast<std::size_t>(liwork));
  int info = 0;
  scalapack::dsyevd_("V", "L", &order, pairs.vectors.data(), &order, pairs.values.data(), work.get(), &lwork, iwork.get(), &liwork, &info,
                     1, 1);
  if (info != 0) {
    throw Error(fmt::format(
        "computing the eigenpairs of a {0} x {0} matrix with LAPACK's dsyevd: it failed with info = {1}; try another --solver", n, info));
  }
  for (double& value : pairs.values) value = 0.0 - value;
  require_quality(dense_quality(a, pairs, order, {work.get(), static_cast<std::size_t>(n * n)}), "dsyevd", n);
  return pairs;
}

}  // namespace posgeom
