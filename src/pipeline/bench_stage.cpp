#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/run.hpp"
#include "posgeom/version.hpp"

namespace posgeom {
namespace {

constexpr const char* heading =
    "version,revision,created,ranks,nodes,threads,process_grid,blas,dgemm_gflops,length,positions,vocab_size,tokens,nonzeros,types,solver,"
    "components,rank,encodings,dimensions,noise,count_s,embed_s,gram_s,solver_s,noise_s,stress_s,collect_s,total_s,peak_mib";

/// Seconds of a stage or part, of the slowest rank; 0 where it did not take place.
double seconds_of(const StageContext& context, const StageReport& report, const std::string& stage) {
  double seconds = 0;
  for (const StageTime& time : report.times()) {
    if (time.stage == stage) seconds += time.seconds;
  }
  return all_reduce(context.comm, seconds, Reduction::maximum);
}

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  return text.find_first_of(", ") == std::string::npos ? text : '"' + text + '"';
}

/// What is the same for every length.
struct Common {
  std::string machine, noise;
  double count_seconds = 0, collect_seconds = 0, total_seconds = 0, peak = 0;
};

/// **Collective.** What ran where.
std::string machine_columns(const StageContext& context) {
  const Communicator& comm = context.comm;
  const MachineLook look = look_at_machine(comm);
  return fmt::format("{},{},{},{},{},{},{},{},{:.1f}", version(), git_revision(), context.config.created, comm.size(), look.nodes,
                     look.blas.threads, quoted(context.grid.text()), quoted(look.blas.name), look.slowest_flops / 1e9);
}

/// **Collective.** One length's line.
std::string line_of(const StageContext& context, const StageReport& report, const Common& common, const CountsSummary& counts,
                    const LengthNeeds& needs) {
  const GeometryFile geometry = read_geometry(context.comm, geometry_path(context.config, needs.length));
  const StressFile stress = read_stress(context.comm, stress_path(context.config, needs.length));
  const auto at = [&](const char* stage) { return seconds_of(context, report, fmt::format("{} n={}", stage, needs.length)); };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.1f}",
                     common.machine, needs.length, geometry.position.size(), counts.vocab_size, counts.token_count, needs.nonzeros,
                     needs.types, geometry.solver, geometry.encoding.components, geometry.spectrum.rank, stress.table.encoding_names.size(),
                     stress.table.dimensions.size(), common.noise, common.count_seconds, at("embed"), at("gram"), at("solver"), at("noise"),
                     at("stress"), common.collect_seconds, common.total_seconds, common.peak);
}

void append(const std::string& path, const std::vector<std::string>& lines) {
  const bool fresh = !std::filesystem::exists(path);
  std::ofstream file(path, std::ios::app);
  if (fresh) file << heading << '\n';
  for (const std::string& line : lines) file << line << '\n';
  file.flush();
  if (!file) throw Error(fmt::format("writing '{}': it cannot be written; give a directory of yours with --out", path));
}

}  // namespace

void bench(const StageContext& context) {
  const auto begin = std::chrono::steady_clock::now();
  StageReport report(nullptr, Progress::none, false);
  Config config = context.config;
  config.output.force = true;
  const StageContext timed{context.comm, config, context.grid, report, context.stop_requested};
  run(timed);
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - begin;

  const Common common{.machine = machine_columns(timed),
                      .noise = config.values.at("noise").back(),
                      .count_seconds = seconds_of(timed, report, "count"),
                      .collect_seconds = seconds_of(timed, report, "collect"),
                      .total_seconds = all_reduce(context.comm, total.count(), Reduction::maximum),
                      .peak = mebibytes(all_reduce(context.comm, peak_memory(), Reduction::maximum))};
  const CountedCorpus counted = read_counted_corpus(timed);
  std::vector<std::string> lines;
  for (const LengthNeeds& needs : needs_of_lengths(timed, counted)) lines.push_back(line_of(timed, report, common, counted.summary, needs));
  const std::string path = config.output.directory + "/bench.csv";
  collective(context.comm, "writing " + path, [&] {
    if (context.comm.is_root()) append(path, lines);
  });
  context.report.line(heading);
  for (const std::string& line : lines) context.report.line(line);
}

}  // namespace posgeom
