#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/stress_encodings.hpp"
#include "posgeom/geometry/smacof.hpp"
#include "posgeom/io/encoding_file.hpp"
#include "posgeom/pipeline/machine.hpp"

namespace posgeom {

std::vector<StressRequest> smacof_requests(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry,
                                           const std::vector<std::int32_t>& dimensions) {
  std::vector<StressRequest> requests;
  if (dimensions.empty()) return requests;
  const StressOptions& stress = context.config.stress;
  SmacofOptions options;
  options.iterations = stress.smacof_iterations;
  options.tolerance = stress.smacof_tolerance;
  options.seed = stress.encoding.seed;
  // The other half is for the coordinates, and for the sums and sorts of the stress.
  options.hellinger_bytes = std::max<Index>(1, memory_limit(context.comm, context.config.geometry.memory_bytes) / 2);
  const std::vector<SmacofSolution> solutions =
      smacof(context.comm, s, mds_encoding(geometry.encoding, geometry.spectrum.rank), dimensions, options, [&](Index d, Index iterations) {
        check_stop(context);
        context.report.progress(static_cast<double>(iterations) / static_cast<double>(options.iterations), fmt::format("smacof d={}", d));
      });
  for (const SmacofSolution& solution : solutions) {
    if (solution.values.empty()) continue;  // more than the components of the MDS
    context.report.line(fmt::format("  smacof d={}: raw stress {:.6g} from {:.6g} in {} passes, stopped by {}", solution.d, solution.stress,
                                    solution.start_stress, solution.iterations, name_of(solution.stopped_by)));
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

std::vector<StoredEncoding> stored_smacof(const Communicator& comm, const std::string& path, const StressTable& there) {
  std::vector<StoredEncoding> stored;
  const auto name = std::ranges::find(there.encoding_names, "smacof");
  if (name == there.encoding_names.end()) return stored;
  const Index row = name - there.encoding_names.begin();
  for (std::size_t d = 0; d < there.dimensions.size(); ++d) {
    if (std::isnan(there.raw[static_cast<std::size_t>(there.index(row, static_cast<Index>(d)))])) continue;
    FileMatrix matrix = read_encoding_file(comm, path, fmt::format("encodings/smacof/{}", there.dimensions[d]));
    stored.push_back({"smacof", there.dimensions[d], matrix.rows, matrix.columns, std::move(matrix.values)});
  }
  return stored;
}

}  // namespace posgeom
