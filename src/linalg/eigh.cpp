#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "linalg/eigen_backends.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Up to so many vectors their quality is computed exactly: beyond, the sketch is less work.
constexpr Index exactly_checked = 64;

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

/// **Collective.** The power of two, as an exponent, that brings the largest magnitude into [0.5, 1); 0 for a zero matrix.
int exponent_of(const DistributedMatrix& a) {
  double largest = 0;
  for (const double x : a.data()) largest = std::max(largest, std::abs(x));
  largest = all_reduce(a.grid().communicator(), largest, Reduction::maximum);
  int exponent = 0;
  std::frexp(largest, &exponent);
  constexpr int range = 1000;  // its reciprocal is a normal number too
  return std::clamp(exponent, -range, range);
}

Solution solve(Solver solver, DistributedMatrix matrix, Index vectors, std::string_view doing) {
  switch (solver) {
    case Solver::lapack:
      return solve_lapack(std::move(matrix), vectors, doing);
    case Solver::pdsyevr:
      return solve_pdsyevr(std::move(matrix), vectors, doing);
    case Solver::elpa:
      return solve_elpa(std::move(matrix), vectors, doing);
    default:
      return solve_pdsyevd(std::move(matrix), vectors, doing);
  }
}

/// The pairs of the vectors that were asked for have residuals; the other eigenvalues have only these: order, sum and sum of squares.
void require_whole_spectrum(const std::vector<double>& values, double trace, double norm, std::string_view doing) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const double tolerance = residual_limit * static_cast<double>(values.size()) * std::numeric_limits<double>::epsilon() * norm;
  if (std::ranges::is_sorted(values) && std::abs(sum - trace) <= tolerance && std::abs(std::sqrt(squares) - norm) <= tolerance) return;
  throw Error(
      fmt::format("{}: it gave wrong eigenvalues: in units of the matrix's norm their sum is {:.17g}, expected {:.17g}, and their norm "
                  "{:.17g}, expected 1; nothing is written from them: try another --solver or --block-size, or another BLAS or ScaLAPACK",
                  doing, sum / norm, trace / norm, std::sqrt(squares) / norm));
}

}  // namespace

void refuse_failure(std::string_view doing, std::string_view routine, int info) {
  if (info == 0) return;
  throw Error(fmt::format("{}: {} failed with info = {} ({}); try another --solver or --block-size", doing, routine, info,
                          info > 0 ? "an eigenvalue did not converge" : "an argument was refused"));
}

void require_success(const Communicator& comm, std::string_view doing, std::string_view routine, int info) {
  collective(comm, doing, [&] { refuse_failure(doing, routine, info); });
}

void take_leading_columns(const DistributedMatrix& all, DistributedMatrix& vectors) {
  std::ranges::copy(all.data().first(vectors.data().size()), vectors.data().begin());
}

Eigenpairs eigh(const DistributedMatrix& a, const EighOptions& asked) {
  expects(a.rows() == a.columns(), "a square matrix");
  expects(asked.vectors >= 0 && asked.vectors <= a.rows(), "0 .. n eigenvectors");
  const Index order = a.rows();
  const ProcessGrid& grid = a.grid();
  const Communicator& comm = grid.communicator();
  EighOptions options{asked.solver, asked.vectors == 0 ? order : asked.vectors};
  if (options.solver == Solver::automatic)
    options.solver = fastest_solver(order, options.vectors, a.block(), grid.rows(), grid.columns(), {}).solver;
  collective(comm, "checking a matrix", [&] {
    require_solver_fits(options, order, a.block(), grid.rows(), grid.columns());
    refuse_not_finite(a);
  });
  // ELPA gives each rank a row and a column or does not start.
  if (options.solver == Solver::elpa && order < std::max(grid.rows(), grid.columns())) options.solver = Solver::pdsyevd;
  if (options.solver == Solver::pdsyevr && !vectors_on_root(order, options.vectors, a.block(), grid.rows(), grid.columns()))
    options.solver = Solver::pdsyevd;

  const std::string doing = fmt::format("computing the eigenpairs of a {0} x {0} matrix with {1}", order, name_of(options.solver));
  if (order == 0) return {.values = {}, .vectors = a, .solver = options.solver};
  const int exponent = exponent_of(a);
  DistributedMatrix matrix = collective(comm, doing, [&] {
    DistributedMatrix copy = a;
    // The ascending eigenvalues of -A are the descending ones of A, with the same vectors: no columns to reorder, and negation is exact.
    const double factor = -std::ldexp(1.0, -exponent);
    for (double& x : copy.data()) x *= factor;
    return copy;
  });
  const double scaled_trace = trace(matrix);
  const double scaled_norm = frobenius_norm(matrix);

  Solution solution = solve(options.solver, std::move(matrix), options.vectors, doing);
  Eigenpairs pairs{.values = std::move(solution.values), .vectors = std::move(solution.vectors), .solver = options.solver};
  // Where n <= nb only process (0, 0) of pdsyevd's, which is rank 0, holds the eigenvalues.
  broadcast(comm, std::span(pairs.values));
  collective(comm, doing, [&] { require_whole_spectrum(pairs.values, scaled_trace, scaled_norm, doing); });
  for (double& value : pairs.values) value = 0.0 - std::ldexp(value, exponent);

  const auto leading = std::span<const double>(pairs.values).first(static_cast<std::size_t>(options.vectors));
  EigenQuality quality =
      options.vectors <= exactly_checked ? eigen_quality(a, leading, pairs.vectors) : sketched_quality(a, leading, pairs.vectors);
  collective(comm, doing, [&] { require_quality(quality, name_of(options.solver), order); });
  pairs.residual = quality.residual;
  pairs.orthogonality = quality.orthogonality;
  pairs.residuals = std::move(quality.residuals);
  return pairs;
}

}  // namespace posgeom
