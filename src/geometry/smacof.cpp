#include "posgeom/geometry/smacof.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/smacof_pass.hpp"
#include "geometry/smacof_start.hpp"
#include "geometry/smacof_steps.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Raw stress below this is rounding: distances right to ten digits.
constexpr double exact_stress = 1e-20;
/// The steps whose decrease is held against the tolerance: a single one may be small on the way.
constexpr std::size_t stop_window = 10;

/// One configuration: all rows (column-major, padded), and of the own rows the coordinates and those of the Guttman transform (row-major).
struct State {
  std::vector<double> x;
  std::vector<double> own;
  std::vector<double> transform;
  double stress = 0;
};

/// The iteration at one d.
class Iteration {
 public:
  Iteration(GuttmanPass& pass, Index d, const SmacofOptions& options, const SmacofProgress& progress)
      : pass_(&pass), d_(d), options_(&options), progress_(&progress), steps_(pass.blocks(), pass.weights(), d, options.history) {}

  Index passes() const { return passes_; }

  /// **Collective.** The configuration of row-major coordinates, centred.
  State at(std::vector<double> rows) {
    const std::span<const double> w = pass_->weights();
    for (Index k = 0; k < d_; ++k) {
      double sum = 0;
      double total = 0;
      for (std::size_t i = 0; i < w.size(); ++i) {
        sum += w[i] * rows[i * static_cast<std::size_t>(d_) + static_cast<std::size_t>(k)];
        total += w[i];
      }
      for (std::size_t i = 0; i < w.size(); ++i) rows[i * static_cast<std::size_t>(d_) + static_cast<std::size_t>(k)] -= sum / total;
    }
    State state;
    for (const auto& [first, count] : pass_->blocks().own())
      state.own.insert(state.own.end(), rows.begin() + first * d_, rows.begin() + (first + count) * d_);
    finish(state, rows);
    return state;
  }

  /// **Collective.** Iterates `state` until one of the stops.
  SmacofStop descend(State& state, std::vector<double>& history) {
    steps_.clear();
    history = {state.stress};
    while (state.stress > exact_stress) {
      if (passes_ >= options_->iterations) return SmacofStop::iterations;
      std::vector<double> direction = difference(state.transform, state.own);
      const bool plain = [&] {
        steps_.turn(direction);
        return steps_.empty();
      }();
      State next = moved(state, direction);
      if (!(next.stress <= state.stress)) {
        if (plain) return SmacofStop::no_decrease;
        steps_.clear();
        continue;
      }
      std::vector<double> change = difference(state.transform, state.own);
      for (std::size_t k = 0; k < change.size(); ++k) change[k] -= next.transform[k] - next.own[k];
      steps_.add(difference(next.own, state.own), std::move(change));
      state = std::move(next);
      history.push_back(state.stress);
      if (history.size() > stop_window) {
        const double before = history[history.size() - 1 - stop_window];
        if (before - state.stress < options_->tolerance * before) return SmacofStop::tolerance;
      }
    }
    return SmacofStop::exact;
  }

 private:
  static std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] - b[k];
    return result;
  }

  State moved(const State& from, const std::vector<double>& direction) {
    State state;
    state.own = from.own;
    for (std::size_t k = 0; k < direction.size(); ++k) state.own[k] += direction[k];
    finish(state, pass_->blocks().gather_rows(state.own, d_));
    return state;
  }

  /// Fills what follows from the rows.
  void finish(State& state, const std::vector<double>& rows) {
    const Index m = pass_->blocks().row_count();
    const Index padded = pass_->padded_rows();
    state.x.assign(static_cast<std::size_t>(padded * d_), 0.0);
    for (Index i = 0; i < m; ++i) {
      for (Index k = 0; k < d_; ++k) state.x[static_cast<std::size_t>(k * padded + i)] = rows[static_cast<std::size_t>(i * d_ + k)];
    }
    state.transform.resize(state.own.size());
    state.stress = pass_->run(state.x, d_, state.transform);
    ++passes_;
    if (*progress_) (*progress_)(d_, passes_);
  }

  GuttmanPass* pass_;
  Index d_;
  const SmacofOptions* options_;
  const SmacofProgress* progress_;
  StepHistory steps_;
  Index passes_ = 0;
};

/// Row-major rows of a configuration.
std::vector<double> rows_of(const State& state, Index m, Index padded, Index d) {
  std::vector<double> rows(static_cast<std::size_t>(m * d));
  for (Index i = 0; i < m; ++i) {
    for (Index k = 0; k < d; ++k) rows[static_cast<std::size_t>(i * d + k)] = state.x[static_cast<std::size_t>(k * padded + i)];
  }
  return rows;
}

SmacofSolution solve(GuttmanPass& pass, const SquareRootDistributions& s, const Coordinates& start, Index d, const SmacofOptions& options,
                     const SmacofProgress& progress) {
  SmacofSolution solution;
  solution.d = d;
  if (d > start.columns && !start.zero_beyond) return solution;
  const Index m = pass.blocks().row_count();
  if (pass.sum_squared() == 0) {  // all positions are equal, and so are their vectors
    solution.values.assign(static_cast<std::size_t>(m * d), 0.0);
    return solution;
  }
  Iteration iteration(pass, d, options, progress);
  const SmacofStart tied(s, start, d);
  State state = iteration.at(tied.rows());
  solution.start_stress = solution.stress = state.stress;
  solution.history = {state.stress};
  if (state.stress <= exact_stress) {  // as it is, to the last bit
    solution.iterations = iteration.passes();
    solution.values = start.values;
    solution.values.resize(static_cast<std::size_t>(m * d), 0.0);
    return solution;
  }
  std::vector<double> unperturbed;  // to go back to
  if (tied.has_ties()) {
    unperturbed = rows_of(state, m, pass.padded_rows(), d);
    state = iteration.at(tied.perturbed(options.seed));
  }
  solution.stopped_by = iteration.descend(state, solution.history);
  if (tied.has_equal_rows()) {
    State joined = iteration.at(tied.joined(rows_of(state, m, pass.padded_rows(), d)));
    if (joined.stress <= state.stress) {
      state = std::move(joined);
      solution.history.push_back(state.stress);
    }
  }
  if (state.stress > solution.start_stress) {
    state = iteration.at(std::move(unperturbed));
    solution.stopped_by = iteration.descend(state, solution.history);
  }
  solution.stress = state.stress;
  solution.iterations = iteration.passes();
  for (Index k = 0; k < d; ++k) {
    const auto column = state.x.begin() + k * pass.padded_rows();
    solution.values.insert(solution.values.end(), column, column + m);
  }
  return solution;
}

}  // namespace

std::string_view name_of(SmacofStop stop) {
  switch (stop) {
    case SmacofStop::exact:
      return "an exact fit";
    case SmacofStop::tolerance:
      return "the tolerance";
    case SmacofStop::no_decrease:
      return "no further decrease";
    case SmacofStop::iterations:
      return "the iteration limit";
  }
  return {};
}

std::vector<SmacofSolution> smacof(const Communicator& comm, const SquareRootDistributions& s, const Coordinates& start,
                                   std::span<const std::int32_t> dimensions, const SmacofOptions& options, const SmacofProgress& progress) {
  expects(start.rows == s.row_count() && std::ssize(start.values) == start.rows * start.stored, "a start with a row for each position");
  expects(options.iterations >= 1 && options.tolerance >= 0 && options.history >= 0, "iterations, a tolerance and a history");
  GuttmanPass pass(comm, s, options);
  std::vector<SmacofSolution> solutions;
  for (const std::int32_t d : dimensions) {
    expects(d >= 1, "dimensions from 1");
    solutions.push_back(solve(pass, s, start, d, options, progress));
  }
  return solutions;
}

Index smacof_bytes(Index m, Index d, int ranks, const SmacofOptions& options) {
  const Index blocks = (m + RowBlocks::size - 1) / RowBlocks::size;
  const Index own_rows = std::min((blocks + ranks - 1) / ranks * RowBlocks::size, m);
  const Index all = GuttmanPass::hellinger_bytes(m, own_rows);
  const Index kept =
      options.hellinger_bytes == 0 ? all : std::min(all, options.hellinger_bytes) + GuttmanPass::hellinger_bytes(m, RowBlocks::size);
  // Two configurations of all rows and two copies on the way; of the own rows two configurations and their transforms, five differences and
  // the history.
  const Index own_vectors = 2 * options.history + 9;
  return kept + GuttmanPass::work_bytes(m, d) + static_cast<Index>(sizeof(double)) * d * (5 * m + own_vectors * own_rows);
}

}  // namespace posgeom
