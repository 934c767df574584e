#include <fmt/format.h>

#include <array>
#include <string>

#include "linalg/eigen_backends.hpp"
#include "posgeom/error.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// The steps of a backend as times, in units of what one DGEMM operation takes: the operations, times how much slower than DGEMM's they
/// are. Fitted to CPU seconds at n = 1000, 2000 and 4000 on one core with AVX-512 and BLIS 0.9 (DGEMM 50 GF/s).
struct Steps {
  double reduction = 0;        ///< n^3: 4/3 n^3 operations, half of them matrix-vector products at the speed of memory
  double divide = 0;           ///< n^3: divide and conquer, for all vectors whatever is wanted
  double back = 0;             ///< n^2 vectors: 2 n^2 vectors operations
  double values_on_root = 0;   ///< n^2: QR on the tridiagonal matrix, not shared by the ranks
  double vectors_on_root = 0;  ///< n vectors: robust representations, not shared by the ranks
  double start = 0;            ///< seconds
};

constexpr double per_vector_element = 18000;
constexpr double per_value_squared = 700;
/// What of the reduction gains by threads: its half of 4/3 n^3 at DGEMM's speed. BLIS has no threads for matrix-vector products.
constexpr double threaded_reduction = 2.0 / 3;

Steps steps_of(Solver solver, Index n, Index vectors, Index ranks) {
  switch (solver) {
    case Solver::lapack:
      if (vectors == n) return {.reduction = 5.0, .divide = 2.9, .back = 3.0};
      return {.reduction = 5.0, .back = 3.0, .values_on_root = per_value_squared, .vectors_on_root = per_vector_element};
    case Solver::pdsyevr:
      if (vectors > 2 * n / ranks) break;  // pdsyevd takes its place
      return {.reduction = 6.3, .back = 5.2, .values_on_root = per_value_squared, .vectors_on_root = per_vector_element};
    case Solver::elpa:
      return {.reduction = 5.4, .divide = 2.0, .back = 4.3, .start = 0.003};  // its own communicators
    default:
      break;
  }
  return {.reduction = 6.3, .divide = 1.9, .back = 5.2};
}

}  // namespace

double predicted_seconds(const EighOptions& options, Index n, int ranks, const SolverRates& rates) {
  expects(ranks >= 1 && rates.dgemm_flops > 0 && rates.threads >= 1, "ranks, a rate and threads");
  const Index wanted = options.vectors == 0 ? n : options.vectors;
  const Steps steps = steps_of(options.solver, n, wanted, ranks);
  const auto order = static_cast<double>(n);
  const auto vectors = static_cast<double>(wanted);
  double workers = ranks;
  double reduction = steps.reduction * order * order * order / workers;
  if (options.solver == Solver::lapack) {
    workers = rates.threads;
    reduction = (steps.reduction - threaded_reduction + threaded_reduction / workers) * order * order * order;
  }
  const double shared = order * (order * order * steps.divide + order * vectors * steps.back) / workers;
  const double on_root = order * (order * steps.values_on_root + vectors * steps.vectors_on_root);
  return steps.start + (reduction + shared + on_root) / rates.dgemm_flops;
}

SolverChoice fastest_solver(Index n, Index vectors, Index block, int grid_rows, int grid_columns, const SolverRates& rates) {
  const int ranks = grid_rows * grid_columns;
  SolverChoice best;
  double shortest = 0;
  std::string others;
  for (const Solver solver : {Solver::pdsyevd, Solver::pdsyevr, Solver::elpa, Solver::lapack}) {
    const EighOptions options{solver, vectors};
    if (!is_built(solver) || (solver == Solver::lapack && ranks > 1)) continue;
    if (largest_array(options, n, block, grid_rows, grid_columns) > lp64_limit) continue;
    const double seconds = predicted_seconds(options, n, ranks, rates);
    others += fmt::format("{}{} {:.2g} s", others.empty() ? "" : ", ", name_of(solver), seconds);
    if (shortest > 0 && seconds >= shortest) continue;
    shortest = seconds;
    best.solver = solver;
    best.seconds = seconds;
  }
  const Index wanted = vectors == 0 ? n : vectors;
  best.reason = fmt::format("{}: n = {}, {}, {}: {}", name_of(best.solver), n, number_of(wanted, "vector"), number_of(ranks, "rank"),
                            others.empty() ? std::string("none fits") : "the shortest predicted of " + others);
  return best;
}

}  // namespace posgeom
