#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "linalg/eigen_backends.hpp"
#include "linalg/scalapack.hpp"
#include "linalg/tridiagonal.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

struct Workspace {
  int size = 0;
  int integers = 0;
  std::unique_ptr<double[]> work;
  std::unique_ptr<int[]> iwork;
};

/// Enough for pdsyevd, and so for pdstedc, which is a part of it.
Workspace workspace_for(const DistributedMatrix& a) {
  Workspace space;
  space.size = narrow_to_int(pdsyevd_workspace(a.rows(), a.block(), a.grid().rows(), a.grid().columns()), "pdsyevd's workspace");
  space.integers = narrow_to_int(7 * a.rows() + 8 * Index{a.grid().columns()} + 2, "pdsyevd's integer workspace");
  space.work = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(space.size));
  space.iwork = std::make_unique_for_overwrite<int[]>(static_cast<std::size_t>(space.integers));
  return space;
}

Solution solve_all(DistributedMatrix matrix, std::string_view doing) {
  const Communicator& comm = matrix.grid().communicator();
  Workspace space;
  Solution solution = collective(comm, doing, [&] {
    space = workspace_for(matrix);
    return Solution{std::vector<double>(static_cast<std::size_t>(matrix.rows())),
                    DistributedMatrix(matrix.grid(), matrix.rows(), matrix.rows(), matrix.block())};
  });
  const std::array<int, 9> descriptor = effective_descriptor(matrix);
  const int first = 1;
  int info = 0;
  scalapack::pdsyevd_("V", "L", &descriptor[2], matrix.data().data(), &first, &first, descriptor.data(), solution.values.data(),
                      solution.vectors.data().data(), &first, &first, descriptor.data(), space.work.get(), &space.size, space.iwork.get(),
                      &space.integers, &info, 1, 1);
  require_success(comm, doing, "pdsyevd", info);
  return solution;
}

/// pdsyevd's own steps, but that only the wanted vectors are transformed back: 2 n^2 (n - vectors) operations less.
Solution solve_some(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  const ProcessGrid& grid = matrix.grid();
  const Communicator& comm = grid.communicator();
  Tridiagonal t = reduce_to_tridiagonal(matrix, doing);
  DistributedMatrix leading = collective(comm, doing, [&] { return DistributedMatrix(grid, matrix.rows(), vectors, matrix.block()); });
  {
    Workspace space;
    DistributedMatrix all = collective(comm, doing, [&] {
      space = workspace_for(matrix);
      return DistributedMatrix(grid, matrix.rows(), matrix.rows(), matrix.block());
    });
    const std::array<int, 9> descriptor = effective_descriptor(all);
    const int first = 1;
    int info = 0;
    scalapack::pdstedc_("I", &descriptor[2], t.diagonal.data(), t.off_diagonal.data(), all.data().data(), &first, &first, descriptor.data(),
                        space.work.get(), &space.size, space.iwork.get(), &space.integers, &info, 1);
    require_success(comm, doing, "pdstedc", info);
    take_leading_columns(all, leading);
  }
  transform_back(matrix, t, leading, doing);
  return {std::move(t.diagonal), std::move(leading)};
}

}  // namespace

Solution solve_pdsyevd(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  return vectors == matrix.rows() ? solve_all(std::move(matrix), doing) : solve_some(std::move(matrix), vectors, doing);
}

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

}  // namespace posgeom
