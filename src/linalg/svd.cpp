#include "posgeom/linalg/svd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linalg/scalapack.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

ThinSvd thin_svd(std::vector<double> a, Index rows, Index columns) {
  expects(rows >= 0 && columns >= 0 && std::ssize(a) == rows * columns, "a whole matrix");
  if (!std::ranges::all_of(a, [](double x) { return std::isfinite(x); })) {
    throw Error(fmt::format("factoring a {} x {} matrix: it has entries that are not finite", rows, columns));
  }
  const Index count = std::min(rows, columns);
  ThinSvd svd;
  if (count == 0) return svd;
  narrow_to_int(rows * columns, "the elements of a matrix for LAPACK's dgesdd");
  const int m = narrow_to_int(rows, "the rows of a matrix");
  const int n = narrow_to_int(columns, "the columns of a matrix");
  const int k = std::min(m, n);
  // LAPACK's own bound for job S, with room for blocked code; computed here, as a query wraps beyond 32 bits.
  const int lwork =
      narrow_to_int(4 * count * count + 7 * count + std::max(rows, columns) + 64 * (rows + columns), "the workspace of LAPACK's dgesdd");
  svd.left.resize(static_cast<std::size_t>(rows * count));
  svd.values.resize(static_cast<std::size_t>(count));
  std::vector<double> transposed(static_cast<std::size_t>(count * columns));
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(8 * count));
  int info = 0;
  scalapack::dgesdd_("S", &m, &n, a.data(), &m, svd.values.data(), svd.left.data(), &m, transposed.data(), &k, work.data(), &lwork,
                     iwork.data(), &info, 1);
  if (info != 0) {
    throw Error(fmt::format("factoring a {} x {} matrix: LAPACK's dgesdd did not converge (info {}); try another BLAS library", rows,
                            columns, info));
  }
  svd.right.resize(transposed.size());
  for (Index j = 0; j < columns; ++j) {
    for (Index c = 0; c < count; ++c)
      svd.right[static_cast<std::size_t>(j + c * columns)] = transposed[static_cast<std::size_t>(c + j * count)];
  }
  return svd;
}

}  // namespace posgeom
