#include "geometry/solver_pick.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/solver_cost.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// So many applications of B to a block are given up as no convergence where krylov was asked for by name.
constexpr Index most_krylov_steps = 1000;

/// The solver with the smallest predicted time.
SolverPick fastest(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Index vectors) {
  const Index m = s.row_count();
  const int ranks = grid.communicator().size();
  const SolverRates rates{.threads = blas_threads()};
  const SpectralProblem problem = spectral_problem(s, vectors, ranks);
  const SolverChoice dense = fastest_solver(m, vectors, options.block, grid.rows(), grid.columns(), rates);
  if (dense.seconds == 0) return {.solver = dense.solver, .reason = dense.reason};  // its refusal says what would fit

  const double forming = gram_seconds(problem, rates);
  double shortest = forming + dense.seconds;
  SolverPick choice{.solver = dense.solver, .reason = {}, .dense = dense.solver};
  std::string predicted = fmt::format("{} {:.2g} s ({:.2g} s of it the Gram matrix)", name_of(dense.solver), shortest, forming);
  if (s.column_count < m && s.column_count <= dual_limit) {
    const double seconds = dual_seconds(problem, rates);
    predicted += fmt::format(", dual {:.2g} s", seconds);
    if (seconds < shortest) {
      shortest = seconds;
      choice.solver = Solver::dual;
    }
  }
  if (!options.whole_spectrum && vectors <= m / 4) {
    const double seconds = decaying_krylov_seconds(problem, rates);
    predicted += fmt::format(", krylov {:.2g} s where the spectrum decays", seconds);
    // Where it meets a flat bulk, which only trying tells, half of that time is lost.
    if (seconds < shortest / 2) {
      choice.solver = Solver::krylov;
      choice.krylov_steps =
          options.krylov_steps > 0 ? options.krylov_steps : static_cast<Index>(shortest / krylov_step_seconds(problem, rates));
    }
  }
  choice.reason =
      fmt::format("{}: n = {}, {}, {}, {}: the shortest predicted of {}", name_of(choice.solver), m,
                  number_of(s.column_count, "different token"), number_of(vectors, "vector"), number_of(ranks, "rank"), predicted);
  return choice;
}

}  // namespace

void require_solver_for(Solver solver, Index rows, Index types, Index vectors) {
  if (solver == Solver::dual && types > dual_limit) {
    throw Error(
        fmt::format("--solver dual: the counts hold {} different tokens, it takes at most {}; use --solver pdsyevd", types, dual_limit),
        ErrorKind::usage);
  }
  if (solver == Solver::krylov && vectors > std::max<Index>(1024, rows / 4)) {
    throw Error(fmt::format("--solver krylov: it finds leading eigenpairs, and {} of {} are asked for; give fewer --components or --dims, "
                            "or use --solver auto or pdsyevd",
                            vectors, rows),
                ErrorKind::usage);
  }
}

SolverPick pick_solver(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Index vectors) {
  const Index m = s.row_count();
  require_solver_for(options.solver, m, s.column_count, vectors);
  switch (options.solver) {
    case Solver::automatic:
      return fastest(grid, s, options, vectors);
    case Solver::dual:
      break;
    case Solver::krylov:
      return {.solver = Solver::krylov,
              .reason = "krylov: as asked for",
              .krylov_steps = options.krylov_steps > 0 ? options.krylov_steps : most_krylov_steps};
    default:
      require_solver_fits({options.solver, vectors}, m, options.block, grid.rows(), grid.columns());
  }
  return {.solver = options.solver, .reason = fmt::format("{}: as asked for", name_of(options.solver))};
}

}  // namespace posgeom
