#include "geometry/solver_cost.hpp"

#include "geometry/centred_rows.hpp"
#include "geometry/krylov.hpp"

namespace posgeom {
namespace {

double real(Index x) { return static_cast<double>(x); }

}  // namespace

SpectralProblem spectral_problem(const SquareRootDistributions& s, Index pairs, int ranks) {
  const CentredColumns columns = centred_columns(s);
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

double krylov_step_seconds(const SpectralProblem& problem, const SolverRates& rates) {
  const KrylovOptions sizes = krylov_sizes({.count = problem.pairs}, problem.m);
  const double b = real(sizes.block);
  const double k = real(sizes.basis);
  const double m = real(problem.m);
  const double shared = 24 * real(problem.entries) * b + 6 * real(problem.dense) * m * b + 30 * m * k * b;
  const double exchanged = problem.ranks > 1 ? 8 * real(problem.columns) * b / 1e9 : 0;
  return (shared / problem.ranks + 25 * k * k * k) / rates.dgemm_flops + exchanged;
}

}  // namespace posgeom
