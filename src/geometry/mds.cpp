#include "posgeom/geometry/mds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/dual.hpp"
#include "geometry/rows.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// The solver to use, and why. Throws where the one that was asked for is not there or does not suit.
SolverChoice chosen_solver(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Index vectors) {
  const Index m = s.row_count();
  switch (options.solver) {
    case Solver::automatic:
      if (s.column_count < m && s.column_count <= dual_limit)
        return {Solver::dual, fmt::format("dual: {} different tokens are fewer than {} positions", s.column_count, m)};
      return fastest_solver(m, vectors, options.block, grid.rows(), grid.columns(), {.threads = blas_threads()});
    case Solver::dual:
      if (s.column_count > dual_limit) {
        throw Error(fmt::format("--solver dual: the counts hold {} different tokens, it takes at most {}; use --solver pdsyevd",
                                s.column_count, dual_limit),
                    ErrorKind::usage);
      }
      break;
    case Solver::krylov:
      throw Error(
          fmt::format("--solver {}: not in this version; use auto, lapack, pdsyevd, pdsyevr, elpa or dual", name_of(options.solver)),
          ErrorKind::usage);
    default:
      require_solver_fits({options.solver, vectors}, m, options.block, grid.rows(), grid.columns());
  }
  return {options.solver, fmt::format("{}: as asked for", name_of(options.solver))};
}

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
};

Leading solve_dense(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Solver solver, Index components,
                    double trace, double floor) {
  const EighOptions wanted{solver, std::min(components, s.row_count())};
  const DistributedMatrix gram = collective(grid.communicator(), "forming the Gram matrix", [&] {
    require_solver_fits(wanted, s.row_count(), options.block, grid.rows(), grid.columns());
    return hellinger_gram(grid, s, options.block);
  });
  Eigenpairs pairs = eigh(gram, wanted);
  collective(grid.communicator(), "checking the eigenvalues",
             [&] { check(pairs.values, trace, floor, s.row_count(), name_of(pairs.solver)); });
  Leading leading{.spectrum = spectrum_of(pairs.values, trace, options.rank_tolerance, floor),
                  .columns = {},
                  .solver = pairs.solver,
                  .residual = pairs.residual,
                  .orthogonality = pairs.orthogonality,
                  .residuals = std::move(pairs.residuals)};
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
  std::array<double, 2> quality{pairs.residual, pairs.orthogonality};
  broadcast(comm, std::span<double>(quality));
  return {.spectrum = spectrum_of(std::move(pairs.values), trace, options.rank_tolerance, floor),
          .columns = std::move(pairs.scaled),
          .residual = quality[0],
          .orthogonality = quality[1]};
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
  SolverChoice choice = collective(comm, "choosing a solver", [&] { return chosen_solver(grid, s, options, std::min(components, m)); });
  // A BLAS may have other threads on other nodes: the root chooses.
  broadcast(comm, std::span(&choice.solver, 1));
  broadcast_resized(comm, choice.reason);
  const double trace = gram_trace(s);
  // Equal rows, centred, leave one rounding an entry: |error|^2 <= m (eps |S_i|)^2. Nothing below it is geometry.
  const double floor = static_cast<double>(m) * 64 * epsilon * epsilon * largest_squared_norm(s);

  Leading leading = choice.solver == Solver::dual ? solve_dual(comm, s, options, components, trace, floor)
                                                  : solve_dense(grid, s, options, choice.solver, components, trace, floor);
  Mds mds;
  mds.encoding.rows = m;
  mds.encoding.components = components;
  mds.encoding.stored = std::min(components, leading.spectrum.rank);
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
  return mds;
}

}  // namespace posgeom
