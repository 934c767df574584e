#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>

#include "pipeline/stress_encodings.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// H's own numbers, from the geometry file that holds them.
HellingerSummary summary_of(const GeometryFile& geometry) {
  HellingerSummary summary;
  const auto m = static_cast<Index>(geometry.position.size());
  summary.pair_count = m * (m - 1) / 2;
  summary.mean = geometry.mean_hellinger;
  summary.sum = summary.pair_count > 0 ? geometry.mean_hellinger * static_cast<double>(summary.pair_count) : 0;
  summary.sum_squared = geometry.sum_hellinger_squared;
  summary.corpus_violation_rate = geometry.corpus_violation_rate;
  const double mean_square = summary.sum_squared / static_cast<double>(summary.pair_count);
  summary.constant_baseline = summary.sum_squared > 0 ? 1 - summary.mean * summary.mean / mean_square : not_a_number;
  return summary;
}

/// A table for the union of the names and dimensions of `there` and of this run; every cell NaN but those of `there`.
StressTable widened(const StressTable& there, const std::vector<std::int32_t>& dims, const std::vector<std::string>& names) {
  StressTable table;
  std::set<std::int32_t> all(dims.begin(), dims.end());
  all.insert(there.dimensions.begin(), there.dimensions.end());
  table.dimensions.assign(all.begin(), all.end());
  table.encoding_names = names;
  for (const std::string& name : there.encoding_names) {
    if (std::find(table.encoding_names.begin(), table.encoding_names.end(), name) == table.encoding_names.end())
      table.encoding_names.push_back(name);
  }
  const std::size_t cells = table.encoding_names.size() * table.dimensions.size();
  const auto measures = measures_of(table);
  const auto there_measures = measures_of(there);
  for (auto* measure : measures) measure->assign(cells, not_a_number);
  for (std::size_t e = 0; e < there.encoding_names.size(); ++e) {
    const auto name =
        std::find(table.encoding_names.begin(), table.encoding_names.end(), there.encoding_names[e]) - table.encoding_names.begin();
    for (std::size_t d = 0; d < there.dimensions.size(); ++d) {
      const auto dimension =
          std::lower_bound(table.dimensions.begin(), table.dimensions.end(), there.dimensions[d]) - table.dimensions.begin();
      const auto to = static_cast<std::size_t>(table.index(name, dimension));
      const auto from = static_cast<std::size_t>(there.index(static_cast<Index>(e), static_cast<Index>(d)));
      for (std::size_t k = 0; k < measures.size(); ++k) (*measures[k])[to] = (*there_measures[k])[from];
    }
  }
  return table;
}

/// The dimensions that `table` has no number for. A cell that is undefined has none and costs nothing to find undefined again.
std::vector<std::int32_t> missing_dimensions(const StressTable& table, const std::string& name) {
  const Index row = std::ranges::find(table.encoding_names, name) - table.encoding_names.begin();
  std::vector<std::int32_t> missing;
  for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
    if (std::isnan(table.raw[static_cast<std::size_t>(table.index(row, static_cast<Index>(d)))])) missing.push_back(table.dimensions[d]);
  }
  return missing;
}

std::vector<StressRequest> missing_cells(const StressTable& table, const std::vector<NamedEncoding>& encodings) {
  std::vector<StressRequest> requests;
  for (const NamedEncoding& encoding : encodings) {
    std::vector<std::int32_t> dimensions = missing_dimensions(table, encoding.name);
    if (!dimensions.empty()) requests.push_back({encoding, std::move(dimensions)});
  }
  return requests;
}

void insert(StressTable& table, const StressRequest& request, const StressColumns& columns) {
  const auto to_measures = measures_of(table);
  const auto from_measures = measures_of(columns);
  const auto name =
      std::find(table.encoding_names.begin(), table.encoding_names.end(), request.encoding.name) - table.encoding_names.begin();
  for (std::size_t k = 0; k < request.dimensions.size(); ++k) {
    const auto dimension =
        std::lower_bound(table.dimensions.begin(), table.dimensions.end(), request.dimensions[k]) - table.dimensions.begin();
    const auto to = static_cast<std::size_t>(table.index(name, dimension));
    for (std::size_t measure = 0; measure < measure_names.size(); ++measure) (*to_measures[measure])[to] = (*from_measures[measure])[k];
  }
}

/// Above so many positions an encoding is scored after the other, and what is finished can be kept in between.
constexpr Index positions_at_once = 2048;

/// Where the cells of a stress stage are kept that did not come to its end.
std::string unfinished_path(const Config& config, Index length) {
  const std::string path = stress_path(config, length);
  return path.substr(0, path.size() - std::string_view(".h5").size()) + "-unfinished.h5";
}

/// What was scored before this run: a finished file, or a newer one that did not come to its end.
struct Before {
  std::string path;
  StressTable table;
  FingerprintLines lines;
  bool finished = true;
};

Before read_before(const StageContext& context, Index length, const FingerprintLines& own_lines) {
  const Config& config = context.config;
  Before before{.path = stress_path(config, length), .table = {}, .lines = {}};
  const std::string unfinished = unfinished_path(config, length);
  auto lines = reusable_lines(context.comm, unfinished, own_lines, config.output.force, true);
  if (lines) {
    before.path = unfinished;
    before.finished = false;
  } else {
    lines = reusable_lines(context.comm, before.path, own_lines, config.output.force, config.output.resume);
  }
  if (!lines) return before;
  before.table = read_stress(context.comm, before.path).table;
  before.lines = std::move(*lines);
  return before;
}

/// A stress stage in its course: the table and what is stored beside it.
struct Course {
  const StageContext& context;
  const SquareRootDistributions& s;
  const GeometryFile& geometry;
  HellingerSummary summary;
  StressFile file;
  std::vector<NamedEncoding> stored_forms;  ///< encodings that are stored at every dimension
  std::vector<StoredEncoding> stored;       ///< others
  Provenance provenance;
  bool changed = false;  ///< since the last write

  /// **Collective.** Scores these and puts them into the table.
  void score(const std::vector<StressRequest>& requests) {
    const std::vector<StressColumns> columns = stress_sweep(context.comm, s, summary, requests, [&](Index done, Index total) {
      constexpr Index between_looks = 16;
      if (done % between_looks == 0) check_stop(context);
      context.report.progress(static_cast<double>(done) / static_cast<double>(std::max<Index>(total, 1)), requests.front().encoding.name);
    });
    for (std::size_t k = 0; k < requests.size(); ++k) insert(file.table, requests[k], columns[k]);
    changed = true;
  }
  /// **Collective.** smacof at these dimensions, scored and to be stored.
  void score_smacof(const std::vector<std::int32_t>& dimensions) {
    const std::vector<StressRequest> requests = smacof_requests(context, s, geometry, dimensions);
    if (requests.empty()) return;
    score(requests);
    std::ranges::move(smacof_to_store(requests), std::back_inserter(stored));
  }
  void write(const std::string& path) {
    std::vector<StoredEncoding> all = encodings_to_store(file.table, stored_forms, s);
    all.insert(all.end(), stored.begin(), stored.end());
    write_stress(context.comm, path, file, all, provenance);
    changed = false;
  }
};

/// **Collective.** Everything that is missing; large lengths in steps, of which the finished ones are kept now and then, and at a signal.
void score_missing(Course& course, const std::vector<StressRequest>& requests, const std::vector<std::int32_t>& smacof_dimensions) {
  const StageContext& context = course.context;
  const std::string unfinished = unfinished_path(context.config, course.s.length);
  std::vector<std::function<void()>> steps;
  if (course.s.row_count() <= positions_at_once) {
    if (!requests.empty()) steps.emplace_back([&] { course.score(requests); });
    if (!smacof_dimensions.empty()) steps.emplace_back([&] { course.score_smacof(smacof_dimensions); });
  } else {
    for (const StressRequest& request : requests) steps.emplace_back([&course, &request] { course.score({request}); });
    for (const std::int32_t d : smacof_dimensions) steps.emplace_back([&course, d] { course.score_smacof({d}); });
  }
  auto kept = std::chrono::steady_clock::now();
  try {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      check_stop(context);
      steps[k]();
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - kept).count();
      broadcast(context.comm, std::span(&seconds, 1));
      const double every = context.config.output.keep_seconds;
      if (k + 1 == steps.size() || every <= 0 || seconds < every) continue;
      course.write(unfinished);
      kept = std::chrono::steady_clock::now();
    }
  } catch (const CollectiveError& error) {
    if (error.kind() == ErrorKind::stopped && course.changed) course.write(unfinished);
    throw;
  }
}

}  // namespace

StressFile stress_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                        const GeometryFile& geometry) {
  const Config& config = context.config;
  const std::string path = stress_path(config, s.length);
  context.report.begin(fmt::format("stress n={}", s.length));
  // Where the rank is not known, no more dimensions than there are components.
  const Index rank = geometry.spectrum.rank < 0 ? geometry.encoding.components : geometry.spectrum.rank;
  const std::vector<std::int32_t> dims = resolve_dimensions(config.stress, rank, s.row_count());
  const Before before = read_before(context, s.length, stress_lines(config, corpus_fingerprint, s.length, {}));
  const StressTable& there = before.table;
  const Index widest = std::max<Index>(dims.back(), there.dimensions.empty() ? 0 : there.dimensions.back());
  const Encodings encodings = make_encodings(context, s, geometry, widest);
  FingerprintLines lines = stress_lines(config, corpus_fingerprint, s.length, encodings.file_lines);
  collective(context.comm, "comparing file encodings", [&] {
    if (!before.lines.empty()) require_same(before.path, before.lines, lines, keep_or_replace);
  });

  Course course{.context = context,
                .s = s,
                .geometry = geometry,
                .summary = summary_of(geometry),
                .file = {},
                .stored_forms = {},
                .stored = {},
                .provenance = {}};
  StressTable& table = course.file.table;
  course.file.length = s.length;
  std::vector<std::string> names;
  for (const EncodingSpec& spec : config.stress.encodings) names.push_back(spec.name);
  table = widened(there, dims, names);
  const bool grown = table.dimensions != there.dimensions || table.encoding_names.size() != there.encoding_names.size();
  const std::string stored_before = line_value(before.lines, "encoding.stored");
  const bool store_encodings = config.stress.write_encodings || stored_before == "yes";
  if (before.finished && !grown && (stored_before == "yes" || !config.stress.write_encodings)) {
    context.report.end("reused " + path);
    course.file.table = there;
    return course.file;
  }
  if (!before.finished) context.report.line("  going on with " + before.path);
  keep_additions(lines, before.lines, "encoding.");
  if (store_encodings && stored_before.empty()) lines.emplace_back("encoding.stored=yes");
  course.provenance = provenance_of(context, lines, corpus_fingerprint);
  if (store_encodings) course.stored_forms = encodings.named;
  // What smacof found is kept always: it costs more than a file encoding's numbers, and nothing else has it.
  course.stored = stored_smacof(context.comm, before.path, there);
  for (const std::int32_t d : table.dimensions) table.not_unique.push_back(not_unique(geometry.spectrum, d) ? 1 : 0);
  table.constant_baseline = course.summary.constant_baseline;
  table.corpus_violation_rate = course.summary.corpus_violation_rate;

  score_missing(course, missing_cells(table, encodings.named),
                wants_smacof(config) ? missing_dimensions(table, "smacof") : std::vector<std::int32_t>());
  course.write(path);
  remove_unfinished(context, unfinished_path(config, s.length));
  context.report.end(fmt::format("{} encodings x {} dimensions", table.encoding_names.size(), table.dimensions.size()));
  return course.file;
}

}  // namespace posgeom
