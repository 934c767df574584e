#include <fmt/format.h>

#include <string>

#include "linalg/eigen_backends.hpp"
#include "linalg/tridiagonal.hpp"
#include "posgeom/error.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

constexpr Index far_beyond = Index{1} << 60;

/// a b without wrapping.
Index product(Index a, Index b) { return b > 0 && a > far_beyond / b ? far_beyond : a * b; }

Index part(Index n, Index block, int grid_rows, int grid_columns) {
  const Index nb = effective_block(n, block);
  return product(BlockCyclic{n, nb, grid_rows, 0}.local_extent(), BlockCyclic{n, nb, grid_columns, 0}.local_extent());
}

Index array_of_pdsyevr(Index n, Index vectors, Index block, int grid_rows, int grid_columns) {
  const Index own = part(n, block, grid_rows, grid_columns);
  if (n > lp64_limit || own > lp64_limit) return std::max(own, n);
  return vectors_on_root(n, vectors, block, grid_rows, grid_columns)
             ? std::max({own, product(n, vectors), reduction_workspace(n, block, grid_rows, grid_columns)})
             : pdsyevd_workspace(n, block, grid_rows, grid_columns);
}

}  // namespace

bool is_built(Solver solver) {
  switch (solver) {
    case Solver::elpa:
      return POSGEOM_WITH_ELPA != 0;
    case Solver::lapack:
    case Solver::pdsyevd:
    case Solver::pdsyevr:
      return true;
    default:
      return false;
  }
}

Index largest_array(const EighOptions& options, Index n, Index block, int grid_rows, int grid_columns) {
  expects(n >= 0 && block >= 1 && grid_rows >= 1 && grid_columns >= 1, "an order, a block and a grid");
  const Index vectors = options.vectors == 0 ? n : options.vectors;
  switch (options.solver) {
    case Solver::lapack:
      return vectors < n ? product(n, n) : std::min(product(product(2, n), n) + 6 * std::min(n, lp64_limit) + 1, far_beyond);
    case Solver::pdsyevr:
      return array_of_pdsyevr(n, vectors, block, grid_rows, grid_columns);
    case Solver::elpa:  // it documents no limit: as pdsyevd's, which divides and conquers alike
      return std::max(n, product(2, part(n, block, grid_rows, grid_columns)));
    default:
      return pdsyevd_workspace(n, block, grid_rows, grid_columns);
  }
}

Index smallest_ranks(const EighOptions& options, Index n, Index block) {
  expects(n >= 0 && block >= 1, "an order and a block");
  if (options.solver == Solver::lapack) return largest_array(options, n, block, 1, 1) <= lp64_limit ? 1 : 0;
  if (n > lp64_limit / 18) return 0;  // the terms in n alone are too many
  const Index vectors = options.vectors == 0 ? n : options.vectors;
  // No solver takes more than 2 n^2 / ranks numbers and terms in n, but pdsyevr's vectors on the root: those are no more than two parts.
  const Index fewest = std::max(Index{1}, n * n / lp64_limit);
  for (Index ranks = fewest; ranks <= std::min(4 * fewest + 16, lp64_limit); ++ranks) {
    const GridShape shape = nearest_square_shape(static_cast<int>(ranks));
    if (largest_array({options.solver, vectors}, n, block, shape.rows, shape.columns) <= lp64_limit) return ranks;
  }
  return 0;
}

void require_solver_suits(Solver solver, Index ranks) {
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("--solver {}: {}", name_of(solver), why), ErrorKind::usage); };
  if (solver == Solver::elpa && !is_built(Solver::elpa))
    refuse("this build has no ELPA; build it with ELPA (Debian: libelpa-dev), or use auto, pdsyevd or pdsyevr");
  if (!is_built(solver)) refuse("it does not solve a dense matrix; use auto, lapack, pdsyevd, pdsyevr or elpa");
  if (solver == Solver::lapack && ranks != 1)
    refuse(fmt::format("it works on one rank, and this job has {}; run it on one rank, or use auto, pdsyevd or pdsyevr", ranks));
}

void require_solver_fits(const EighOptions& options, Index n, Index block, int grid_rows, int grid_columns) {
  require_solver_suits(options.solver, Index{grid_rows} * grid_columns);
  if (options.solver == Solver::pdsyevd) return require_pdsyevd_fits(n, block, grid_rows, grid_columns);

  const Index largest = largest_array(options, n, block, grid_rows, grid_columns);
  if (largest <= lp64_limit) return;
  const Index enough = smallest_ranks(options, n, block);
  const Index others = smallest_pdsyevd_ranks(n, block);
  std::string advice = "use a smaller --block-size or --lengths";
  if (enough > 0) {
    advice = "use at least " + number_of(enough, "rank");
  } else if (others > 0) {
    advice = "use --solver pdsyevd on at least " + number_of(others, "rank");
  }
  throw Error(
      fmt::format("computing the eigenpairs of a {0} x {0} matrix with {1} on a {2}x{3} process grid takes an array of {4} numbers "
                  "a rank, and the 32-bit integers of this LAPACK and ScaLAPACK count at most {5}; {6}",
                  n, name_of(options.solver), grid_rows, grid_columns, largest, lp64_limit, advice));
}

}  // namespace posgeom
