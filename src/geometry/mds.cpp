#include "posgeom/geometry/mds.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "geometry/dual.hpp"
#include "geometry/krylov.hpp"
#include "geometry/rows.hpp"
#include "geometry/solver_pick.hpp"
#include "geometry/spectrum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Refuses eigenvalues that cannot be those of a Gram matrix with this trace. `order`: of the matrix that was solved.
void check(const std::vector<double>& values, double trace, double floor, Index order, std::string_view solver) {
  const auto m = static_cast<double>(order);
  const auto refuse = [&](const std::string& what) {
    throw Error(fmt::format(
        "eigenvalues of the Gram matrix ({} positions, solver {}): {}: the result is wrong and was not kept; try another --solver, "
        "--block-size or number of ranks, and report it",
        values.size(), solver, what));
  };
  const double most_negative = 10 * m * epsilon * std::max(values.front(), floor);
  if (!(values.back() >= -most_negative)) refuse(fmt::format("found {:.3e}, expected none below {:.3e}", values.back(), -most_negative));
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(std::abs(sum - trace) <= 1e-9 * trace + m * floor))
    refuse(fmt::format("their sum is {:.17g}, expected the trace {:.17g}", sum, trace));
}

struct Leading {
  Spectrum spectrum;
  std::vector<double> columns;  ///< u_j sqrt(lambda_j), m x stored
  Solver solver = Solver::dual;
  double residual = 0;
  double orthogonality = 0;
  std::vector<double> residuals = {};
  double gram_seconds = 0;
};

Leading solve_dense(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Solver solver, Index components,
                    double trace, double floor) {
  const EighOptions wanted{solver, std::min(components, s.row_count())};
  collective(grid.communicator(), "forming the Gram matrix",
             [&] { require_solver_fits(wanted, s.row_count(), options.block, grid.rows(), grid.columns()); });
  const auto begin = std::chrono::steady_clock::now();
  const DistributedMatrix gram = hellinger_gram(grid, s, options.block);
  const std::chrono::duration<double> forming = std::chrono::steady_clock::now() - begin;
  Eigenpairs pairs = eigh(gram, wanted);
  collective(grid.communicator(), "checking the eigenvalues",
             [&] { check(pairs.values, trace, floor, s.row_count(), name_of(pairs.solver)); });
  Leading leading{.spectrum = spectrum_of(pairs.values, trace, options.rank_tolerance, floor),
                  .columns = {},
                  .solver = pairs.solver,
                  .residual = pairs.residual,
                  .orthogonality = pairs.orthogonality,
                  .residuals = std::move(pairs.residuals),
                  .gram_seconds = forming.count()};
  std::vector<Index> stored(static_cast<std::size_t>(std::min(components, leading.spectrum.rank)));
  std::iota(stored.begin(), stored.end(), Index{0});
  leading.columns = gather_columns(pairs.vectors, stored);
  for (const Index j : stored) {
    const double length = std::sqrt(pairs.values[static_cast<std::size_t>(j)]);
    for (Index i = 0; i < s.row_count(); ++i) leading.columns[static_cast<std::size_t>(i + j * s.row_count())] *= length;
  }
  return leading;
}

/// The root alone computes: the arithmetic, and so every bit of the result, is the same for every rank count.
Leading solve_dual(const Communicator& comm, const SquareRootDistributions& s, const MdsOptions& options, Index components, double trace,
                   double floor) {
  DualPairs pairs = collective(comm, "solving the dual eigenproblem", [&] {
    if (!comm.is_root()) return DualPairs{};
    DualPairs found = dual_eigenpairs(s, options.rank_tolerance, floor);
    check(found.values, trace, floor, std::max(s.row_count(), s.column_count), name_of(Solver::dual));
    require_quality({found.residual, found.orthogonality}, name_of(Solver::dual), s.row_count());
    const Index rank = spectrum_of(found.values, trace, options.rank_tolerance, floor).rank;
    found.scaled.resize(static_cast<std::size_t>(s.row_count() * std::min(components, rank)));
    return found;
  });
  broadcast_resized(comm, pairs.values);
  broadcast_resized(comm, pairs.scaled);
  broadcast_resized(comm, pairs.residuals);
  pairs.residuals.resize(std::min(pairs.residuals.size(), static_cast<std::size_t>(components)));
  std::array<double, 2> quality{pairs.residual, pairs.orthogonality};
  broadcast(comm, std::span<double>(quality));
  return {.spectrum = spectrum_of(std::move(pairs.values), trace, options.rank_tolerance, floor),
          .columns = std::move(pairs.scaled),
          .residual = quality[0],
          .orthogonality = quality[1],
          .residuals = std::move(pairs.residuals)};
}

/// Nothing where krylov did not converge within the steps: `found` then says how far it came.
std::optional<Leading> solve_krylov(const Communicator& comm, const SquareRootDistributions& s, const MdsOptions& options, Index steps,
                                    Index components, double trace, double floor, KrylovPairs& found) {
  const Index m = s.row_count();
  const int threads = blas_threads();
  {
    // Between krylov's own threads come many small products: a BLAS's threads would spend them waiting for each other (measured: 2 threads
    // took 2.5 to 4 times as long as 1 where other work had the cores too).
    const OneBlasThread alone;
    found = krylov_eigenpairs(comm, s, {.count = std::min(components, m), .floor = floor, .most_steps = steps, .threads = threads});
  }
  if (!found.converged) return std::nullopt;
  Leading leading{.spectrum = leading_spectrum_of(found.values, m, trace, options.rank_tolerance, floor),
                  .columns = std::move(found.vectors),
                  .solver = Solver::krylov};
  collective(comm, "checking the eigenvalues", [&] {
    const double largest = std::max(found.values.front(), floor);
    const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
    if (sum <= trace + 1e-9 * trace + static_cast<double>(m) * floor && found.orthogonality <= 1e-9 &&
        found.values.back() >= -1e-8 * largest)
      return;
    throw Error(
        fmt::format("--solver krylov gave wrong eigenpairs ({} positions): their sum is {:.17g} of a trace of {:.17g}, the smallest "
                    "{:.3g}, the departure from orthogonality {:.3g}; nothing is written from them: use another --solver",
                    m, sum, trace, found.values.back(), found.orthogonality));
  });
  const Index above = numerical_rank(found.values, options.rank_tolerance, floor);
  leading.columns.resize(static_cast<std::size_t>(m * above));
  double residual = 0;
  double norm = 0;
  for (Index j = 0; j < std::ssize(found.values); ++j) {
    const double value = found.values[static_cast<std::size_t>(j)];
    residual += std::pow(found.residuals[static_cast<std::size_t>(j)], 2);
    norm += value * value;
    for (Index i = 0; j < above && i < m; ++i) leading.columns[static_cast<std::size_t>(i + j * m)] *= std::sqrt(value);
  }
  const double unit = static_cast<double>(m) * epsilon;
  leading.residual = norm > 0 ? std::sqrt(residual / norm) / unit : 0;
  leading.orthogonality = found.orthogonality / unit;
  leading.residuals = found.residuals;
  return leading;
}

Leading solve(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, SolverPick& choice, Index components,
              double trace, double floor) {
  const Communicator& comm = grid.communicator();
  if (choice.solver == Solver::dual) return solve_dual(comm, s, options, components, trace, floor);
  if (choice.solver == Solver::krylov) {
    KrylovPairs found;
    if (auto leading = solve_krylov(comm, s, options, choice.krylov_steps, components, trace, floor, found)) return std::move(*leading);
    const std::string progress = fmt::format(
        "after {} steps the largest residual is {:.2g} lambda_1{}", found.steps, found.worst,
        found.foretold_steps > found.steps ? fmt::format(", and by its progress {} steps would be needed", found.foretold_steps) : "");
    if (options.solver == Solver::krylov) {
      collective(comm, "finding eigenpairs", [&] {
        throw Error(
            fmt::format("--solver krylov: {} eigenpairs of {} positions did not converge: {}, expected at most 1e-8 (a flat spectrum "
                        "does this); use --solver auto or pdsyevr, or other --components",
                        components, s.row_count(), progress));
      });
    }
    choice.reason = fmt::format("{}: in place of krylov: {}, more than the {} that {} is predicted to take ({})", name_of(choice.dense),
                                progress, choice.krylov_steps, name_of(choice.dense), choice.reason);
    choice.solver = choice.dense;
  }
  return solve_dense(grid, s, options, choice.solver, components, trace, floor);
}

/// Among the components, those in a flat bulk.
void warn_of_bulk(Mds& mds) {
  const Index known = std::ssize(mds.spectrum.eigenvalues);
  const auto values =
      std::span<const double>(mds.spectrum.eigenvalues).first(static_cast<std::size_t>(mds.spectrum.rank < 0 ? known : mds.spectrum.rank));
  const Index begin = flat_bulk_begin(values);
  if (begin < 0 || begin >= mds.encoding.stored) return;
  mds.warnings.push_back(
      fmt::format("from component {} on the spectrum is a flat bulk (eigenvalues {:.4g}, {:.4g}, {:.4g} ...), such as finite counts alone "
                  "give: the components inside it are noise unless a noise analysis says otherwise",
                  begin + 1, values[static_cast<std::size_t>(begin)], values[static_cast<std::size_t>(begin + 1)],
                  values[static_cast<std::size_t>(begin + 2)]));
}

/// Equal rows of S have equal rows of the exact solution: give them the same bits, so that their distances are exact zeros and exact ties.
void unify_equal_rows(const SquareRootDistributions& s, Encoding& encoding) {
  const std::vector<Index> first = first_equal_row(s);
  for (Index j = 0; j < encoding.stored; ++j) {
    const auto column =
        std::span(encoding.values).subspan(static_cast<std::size_t>(j * encoding.rows), static_cast<std::size_t>(encoding.rows));
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = column[static_cast<std::size_t>(first[i])];
  }
}

}  // namespace

Mds classical_mds(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options) {
  const Index m = s.row_count();
  expects(m >= 1 && options.components >= 0, "positions and a number of components");
  const Index components = options.components == 0 ? m : options.components;
  const Communicator& comm = grid.communicator();
  SolverPick choice = collective(comm, "choosing a solver", [&] { return pick_solver(grid, s, options, std::min(components, m)); });
  // A BLAS may have other threads on other nodes: the root chooses.
  broadcast(comm, std::span(&choice.solver, 1));
  broadcast(comm, std::span(&choice.dense, 1));
  broadcast(comm, std::span(&choice.krylov_steps, 1));
  broadcast_resized(comm, choice.reason);
  const double trace = gram_trace(s);
  // Equal rows, centred, leave one rounding an entry: |error|^2 <= m (eps |S_i|)^2. Nothing below it is geometry.
  const double floor = static_cast<double>(m) * 64 * epsilon * epsilon * largest_squared_norm(s);

  const auto begin = std::chrono::steady_clock::now();
  Leading leading = solve(grid, s, options, choice, components, trace, floor);
  Mds mds;
  const std::chrono::duration<double> solving = std::chrono::steady_clock::now() - begin;
  mds.gram_seconds = leading.gram_seconds;
  mds.solver_seconds = solving.count() - leading.gram_seconds;
  mds.encoding.rows = m;
  mds.encoding.components = components;
  mds.encoding.stored = std::ssize(leading.columns) / m;
  mds.encoding.values = std::move(leading.columns);
  mds.spectrum = std::move(leading.spectrum);
  mds.solver = name_of(leading.solver);
  mds.solver_reason = std::move(choice.reason);
  mds.residual = leading.residual;
  mds.orthogonality = leading.orthogonality;
  mds.residuals = std::move(leading.residuals);
  unify_equal_rows(s, mds.encoding);
  for (Index j = 0; j < mds.encoding.stored; ++j) {
    fix_sign(std::span(mds.encoding.values).subspan(static_cast<std::size_t>(j * m), static_cast<std::size_t>(m)));
  }
  warn_of_bulk(mds);
  return mds;
}

}  // namespace posgeom
