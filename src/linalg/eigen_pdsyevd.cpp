#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "linalg/scalapack.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// A block larger than the matrix deals nothing out: the same distribution has a block of n, and workspace terms in nb^2 stay small.
Index effective_block(Index n, Index block) { return std::clamp(block, Index{1}, std::max(Index{1}, n)); }

void refuse_not_finite(const DistributedMatrix& a) {
  for (Index j = 0; j < a.local_columns(); ++j) {
    for (Index i = 0; i < a.local_rows(); ++i) {
      if (std::isfinite(a.local(i, j))) continue;
      throw Error(
          fmt::format("computing the eigenpairs of a {0} x {0} matrix: element ({1}, {2}) is {3}, and every element must be finite; "
                      "the data it was made from holds a value that is not a number",
                      a.rows(), a.row_axis().global(i), a.column_axis().global(j), a.local(i, j)));
    }
  }
}

/// **Collective.** The call itself: negated eigenvalues into pairs.values (on process (0, 0) at least), the vectors, and info.
int run_pdsyevd(const DistributedMatrix& a, Eigenpairs& pairs, std::string_view doing) {
  const Index order = a.rows();
  const int n = narrow_to_int(order, "the order of a matrix");
  const int lwork = narrow_to_int(pdsyevd_workspace(order, a.block(), a.grid().rows(), a.grid().columns()), "pdsyevd's workspace");
  const int liwork = narrow_to_int(7 * order + 8 * Index{a.grid().columns()} + 2, "pdsyevd's integer workspace");
  std::optional<DistributedMatrix> copy;
  std::unique_ptr<double[]> work;
  std::unique_ptr<int[]> iwork;
  collective(a.grid().communicator(), doing, [&] {
    copy.emplace(a);
    work = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(lwork));
    iwork = std::make_unique_for_overwrite<int[]>(static_cast<std::size_t>(liwork));
  });
  // The ascending eigenvalues of -A are the descending ones of A, with the same vectors: no columns to reorder, and negation is exact.
  for (double& x : copy->data()) x = -x;
  std::array<int, 9> descriptor = a.descriptor();
  descriptor[4] = descriptor[5] = static_cast<int>(effective_block(order, a.block()));
  const int first = 1;
  int info = 0;
  scalapack::pdsyevd_("V", "L", &n, copy->data().data(), &first, &first, descriptor.data(), pairs.values.data(),
                      pairs.vectors.data().data(), &first, &first, descriptor.data(), work.get(), &lwork, iwork.get(), &liwork, &info, 1,
                      1);
  return info;
}

}  // namespace

Index pdsyevd_workspace(Index n, Index block, int grid_rows, int grid_columns) {
  expects(n >= 0 && block >= 1 && grid_rows >= 1 && grid_columns >= 1, "an order, a block and a grid");
  const Index nb = effective_block(n, block);
  const Index np = BlockCyclic{n, nb, grid_rows, 0}.local_extent();
  const Index nq = BlockCyclic{n, nb, grid_columns, 0}.local_extent();
  constexpr Index far_beyond = Index{1} << 60;
  if (n > far_beyond / 16 || (np > 0 && nq > far_beyond / 4 / np)) return far_beyond;
  // pdsyevd keeps tau and e (2n), then gives the rest to pdstedc (6n + 2 np nq; its pdlasrt: np (nb + nq), no more where n > nb) and after
  // it to pdormtr, whose need the library's own formula leaves out. pdsytrd works behind tau, e, d and e' (4n). One number more: the check
  // of pdsyevd.
  const Index divide_and_conquer = 2 * n + 6 * n + 2 * np * nq + 1;
  const Index back_transformation = 2 * n + std::max(nb * (nb - 1) / 2, (np + nq) * nb) + nb * nb;
  const Index tridiagonalisation = 5 * n + std::max(nb * (np + 1), 3 * nb);
  return std::max({divide_and_conquer, back_transformation, tridiagonalisation});
}

Index smallest_pdsyevd_ranks(Index n, Index block) {
  expects(n >= 0 && block >= 1, "an order and a block");
  if (n > lp64_limit / 8) return 0;  // the terms in n alone are too many
  const Index fewest = std::max(Index{1}, 2 * n * n / lp64_limit);
  // The count of a nearly square grid comes soon after `fewest`, unless the blocks are too coarse to be dealt to so many.
  for (Index ranks = fewest; ranks <= std::min(2 * fewest + 16, lp64_limit); ++ranks) {
    const GridShape shape = nearest_square_shape(static_cast<int>(ranks));
    if (pdsyevd_workspace(n, block, shape.rows, shape.columns) <= lp64_limit) return ranks;
  }
  return 0;
}

void require_pdsyevd_fits(Index n, Index block, int grid_rows, int grid_columns) {
  const Index doubles = pdsyevd_workspace(n, block, grid_rows, grid_columns);
  if (doubles <= lp64_limit) return;
  const Index ranks = smallest_pdsyevd_ranks(n, block);
  const std::string advice =
      ranks > 0 ? fmt::format("use at least {} ranks", ranks) : std::string("use a smaller --block-size or --lengths");
  throw Error(fmt::format(
      "computing the eigenpairs of a {0} x {0} matrix with pdsyevd on a {1}x{2} process grid takes a workspace of {3} numbers a rank, "
      "and the 32-bit integers of this ScaLAPACK count at most {4}; {5}",
      n, grid_rows, grid_columns, doubles, lp64_limit, advice));
}

Eigenpairs eigh(const DistributedMatrix& a) {
  expects(a.rows() == a.columns(), "a square matrix");
  const Index order = a.rows();
  const ProcessGrid& grid = a.grid();
  const Communicator& comm = grid.communicator();
  collective(comm, "checking a matrix", [&] {
    require_pdsyevd_fits(order, a.block(), grid.rows(), grid.columns());
    refuse_not_finite(a);
  });

  const std::string doing = fmt::format("computing the eigenpairs of a {0} x {0} matrix with pdsyevd", order);
  Eigenpairs pairs = collective(comm, doing, [&] {
    return Eigenpairs{std::vector<double>(static_cast<std::size_t>(order)), DistributedMatrix(grid, order, order, a.block())};
  });
  if (order == 0) return pairs;

  const int info = run_pdsyevd(a, pairs, doing);
  collective(comm, doing, [&] {
    if (info != 0) {
      throw Error(fmt::format("{}: it failed with info = {} ({}); try another --solver or --block-size", doing, info,
                              info > 0 ? "an eigenvalue did not converge" : "an argument was refused"));
    }
  });
  // Where n <= nb only process (0, 0), which is rank 0, holds the eigenvalues.
  broadcast(comm, std::span(pairs.values));
  for (double& value : pairs.values) value = 0.0 - value;

  const EigenQuality quality = eigen_quality(a, pairs.values, pairs.vectors);
  collective(comm, doing, [&] { require_quality(quality, "pdsyevd", order); });
  pairs.residual = quality.residual;
  pairs.orthogonality = quality.orthogonality;
  return pairs;
}

}  // namespace posgeom
