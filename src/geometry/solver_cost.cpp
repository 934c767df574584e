#include "geometry/solver_cost.hpp"

#include <algorithm>

#include "geometry/krylov.hpp"
#include "geometry/split_rows.hpp"
#include "posgeom/geometry/mds.hpp"

namespace posgeom {
namespace {

double real(Index x) { return static_cast<double>(x); }

}  // namespace

SpectralProblem spectral_problem(const SquareRootDistributions& s, Index pairs, int ranks) {
  const SplitColumns columns = centred_columns(s);
  SpectralProblem problem{s.row_count(), s.column_count, columns.dense_count, 0, pairs, ranks};
  for (auto k = static_cast<std::size_t>(columns.dense_count); k < columns.holders.size(); ++k) problem.entries += columns.holders[k];
  return problem;
}

double gram_seconds(const SpectralProblem& problem, const SolverRates& rates) {
  const double m = real(problem.m);
  const double units = 1.4 * real(problem.dense) * m * m + 3.6 * real(problem.entries) * m + 600 * m * m;
  return units / (rates.dgemm_flops * problem.ranks * rates.threads);
}

double dual_seconds(const SpectralProblem& problem, const SolverRates& rates) {
  const double v = real(problem.columns);
  return (20 * real(problem.m) * v * v + 25 * v * v * v) / (rates.dgemm_flops * rates.threads);
}

namespace {

/// A step without what the root does alone.
double shared_step_seconds(const SpectralProblem& problem, const KrylovOptions& sizes, const SolverRates& rates) {
  const double b = real(sizes.block);
  const double m = real(problem.m);
  const double shared = 24 * real(problem.entries) * b + 6 * real(problem.dense) * m * b + 30 * m * real(sizes.basis) * b;
  const double exchanged = problem.ranks > 1 ? 8 * real(problem.columns) * b / 1e9 : 0;
  return shared / problem.ranks / rates.dgemm_flops + exchanged;
}

}  // namespace

double krylov_step_seconds(const SpectralProblem& problem, const SolverRates& rates) {
  const KrylovOptions sizes = krylov_sizes({.count = problem.pairs}, problem.m);
  const double k = real(sizes.basis);
  return shared_step_seconds(problem, sizes, rates) + 12 * k * k * k / rates.dgemm_flops;
}

double decaying_krylov_seconds(const SpectralProblem& problem, const SolverRates& rates) {
  const KrylovOptions sizes = krylov_sizes({.count = problem.pairs}, problem.m);
  const Index first = (problem.pairs + sizes.block - 1) / sizes.block;
  const Index steps = 2 * first + 6;
  double cubes = 0;
  for (Index step = first + 1; step <= steps; ++step) {
    const double vectors = real(std::min(step * sizes.block, sizes.basis));
    cubes += 25 * vectors * vectors * vectors;
  }
  return real(steps) * shared_step_seconds(problem, sizes, rates) + cubes / rates.dgemm_flops;
}

double krylov_seconds(const RowsSize& s, Index pairs, int ranks, const SolverRates& rates) {
  const SpectralProblem problem{s.rows, s.columns, s.dense, s.nonzeros - s.dense_nonzeros, pairs, ranks};
  const Index block = krylov_sizes({.count = pairs}, s.rows).block;
  const Index steps = 40 + 6 * ((pairs + block - 1) / block);
  return real(steps) * krylov_step_seconds(problem, rates);
}

}  // namespace posgeom
