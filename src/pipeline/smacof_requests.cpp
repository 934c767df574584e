#include <fmt/format.h>

#include <algorithm>

#include "pipeline/stress_encodings.hpp"
#include "posgeom/geometry/smacof.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/words.hpp"

namespace posgeom {

std::vector<StressRequest> smacof_requests(const StageContext& context, const SquareRootDistributions& s, const Coordinates& start,
                                           const std::vector<std::int32_t>& dimensions, const std::string& title,
                                           std::vector<SmacofDescent>* descents) {
  std::vector<StressRequest> requests;
  if (dimensions.empty()) return requests;
  const StressOptions& stress = context.config.stress;
  SmacofOptions options;
  options.iterations = stress.smacof_iterations;
  options.tolerance = stress.smacof_tolerance;
  options.seed = stress.encoding.seed;
  const bool weighted = stress.smacof_weights == SmacofWeights::tokens;
  if (weighted) {
    expects(std::ssize(s.total) == s.row_count(), "distributions that know their totals");
    options.row_weights = token_weights(s.total);
  }
  // The other half is for the coordinates, and for the sums and sorts of the stress.
  options.hellinger_bytes = std::max<Index>(1, memory_limit(context.comm, context.config.geometry.memory_bytes) / 2);
  const std::vector<SmacofSolution> solutions = smacof(context.comm, s, start, dimensions, options, [&](Index d, Index iterations) {
    check_stop(context);
    context.report.progress(static_cast<double>(iterations) / static_cast<double>(options.iterations), fmt::format("{} d={}", title, d));
  });
  for (const SmacofSolution& solution : solutions) {
    if (solution.values.empty()) continue;  // more than the components of the MDS
    if (!title.empty())
      context.report.line(fmt::format("  {} d={}: {}raw stress {:.6g} from {:.6g} in {}, stopped by {}", title, solution.d,
                                      weighted ? "weighted " : "", solution.stress, solution.start_stress,
                                      number_of(solution.iterations, "pass", "passes"), name_of(solution.stopped_by)));
    if (descents != nullptr) descents->push_back({static_cast<std::int32_t>(solution.d), solution.stress, solution.start_stress});
    Coordinates x;
    x.rows = s.row_count();
    x.columns = x.stored = solution.d;
    x.values = solution.values;
    requests.push_back({{"smacof", std::move(x)}, {static_cast<std::int32_t>(solution.d)}});
  }
  return requests;
}

std::vector<StoredEncoding> smacof_to_store(const std::vector<StressRequest>& requests) {
  std::vector<StoredEncoding> stored;
  for (const StressRequest& request : requests) {
    const auto& x = std::get<Coordinates>(request.encoding.form);
    StoredEncoding encoding{request.encoding.name, x.columns, x.rows, x.columns, std::vector<double>(x.values.size())};
    for (Index i = 0; i < x.rows; ++i) {
      for (Index k = 0; k < x.columns; ++k)
        encoding.values[static_cast<std::size_t>(i * x.columns + k)] = x.values[static_cast<std::size_t>(i + k * x.rows)];
    }
    stored.push_back(std::move(encoding));
  }
  return stored;
}

std::vector<StressRequest> requests_of_stored(const std::vector<StoredEncoding>& stored, const std::string& name) {
  std::vector<StressRequest> requests;
  for (const StoredEncoding& encoding : stored) {
    if (encoding.name != name) continue;
    Coordinates x;
    x.rows = encoding.rows;
    x.columns = x.stored = encoding.columns;
    for (Index k = 0; k < x.columns; ++k) {
      for (Index i = 0; i < x.rows; ++i) x.values.push_back(encoding.values[static_cast<std::size_t>(i * x.columns + k)]);
    }
    requests.push_back({{name, std::move(x)}, {static_cast<std::int32_t>(encoding.d)}});
  }
  return requests;
}

}  // namespace posgeom
