#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "pipeline/encoding_files.hpp"
#include "pipeline/stress_cells.hpp"
#include "pipeline/stress_course.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Where the cells of a stress stage are kept that did not come to its end.
std::string unfinished_path(const Config& config, Index length) {
  const std::string path = stress_path(config, length);
  return path.substr(0, path.size() - std::string_view(".h5").size()) + "-unfinished.h5";
}

/// What was scored before this run: a finished file, or a newer one that did not come to its end.
struct Before {
  std::string path;
  StressFile file;
  FingerprintLines lines;
  bool finished = true;
};

Before read_before(const StageContext& context, Index length, const FingerprintLines& own_lines) {
  const Config& config = context.config;
  Before before{.path = stress_path(config, length), .file = {}, .lines = {}};
  const std::string unfinished = unfinished_path(config, length);
  auto lines = reusable_lines(context.comm, unfinished, own_lines, config.output.force, true);
  if (lines) {
    before.path = unfinished;
    before.finished = false;
  } else {
    lines = reusable_lines(context.comm, before.path, own_lines, config.output.force, config.output.resume);
  }
  if (!lines) return before;
  before.file = read_stress(context.comm, before.path);
  before.lines = std::move(*lines);
  return before;
}

/// **Collective.** The seed of the shuffle null that counts.h5 holds for the length; empty where there is none.
std::string seed_of_null(const StageContext& context, Index length) {
  const std::string path = counts_path(context.config);
  const CountsSummary counted = read_counts_summary(context.comm, path);
  if (std::ranges::find(counted.shuffled_lengths, length) == counted.shuffled_lengths.end()) return {};
  const FingerprintLines lines = split_lines(read_provenance(context.comm, path).value().fingerprint_lines);
  return line_value(lines, "noise.seed");
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
  const StressTable& there = before.file.table;
  const Index widest = std::max<Index>(dims.back(), there.dimensions.empty() ? 0 : there.dimensions.back());
  Encodings encodings = make_encodings(context, s, geometry, widest);
  if (encodings.signal) {
    collective(context.comm, "comparing the noise analysis with the geometry", [&] {
      if (std::ranges::includes(s.position, geometry.noise->position)) return;
      throw Error(
          fmt::format("option --encodings, signal: --rarefy-geometry {} leaves out positions of the noise analysis of {}; give a smaller "
                      "total there, or a larger one with --rarefy",
                      config.values.at("rarefy-geometry").back(), geometry_path(config, s.length)));
    });
  }
  // The null that a file has already is completed too.
  const std::string null_seed = seed_of_null(context, s.length);
  const bool against_null = !null_seed.empty() && (config.noise.shuffle || before.file.shuffled);
  if (against_null) encodings.lines.push_back("noise.shuffled=" + null_seed);
  FingerprintLines lines = stress_lines(config, corpus_fingerprint, s.length, encodings.lines);
  collective(context.comm, "comparing file encodings", [&] {
    if (!before.lines.empty()) require_same(before.path, before.lines, lines, keep_or_replace);
  });

  StressFile file = widened(before.file, dims, scored_names(context.files->specs(context)));
  file.length = s.length;
  const bool grown = file.table.dimensions != there.dimensions || file.table.encoding_names.size() != there.encoding_names.size();
  if (against_null) add_shuffled(file);
  if (encodings.signal) add_denoised(file);
  StressCourse course(context, s, geometry, std::move(encodings), std::move(file));
  const std::string stored_before = line_value(before.lines, "encoding.stored");
  course.against_shuffled = against_null;
  course.store_forms = config.stress.write_encodings || stored_before == "yes";
  if (before.finished && !grown && !course.lacks_groups() && (stored_before == "yes" || !config.stress.write_encodings)) {
    context.report.end("reused " + path);
    return before.file;
  }
  if (!before.finished) context.report.line("  going on with " + before.path);
  keep_additions(lines, before.lines, "encoding.");
  keep_additions(lines, before.lines, "noise.");
  if (course.store_forms && stored_before.empty()) lines.emplace_back("encoding.stored=yes");
  course.provenance = provenance_of(context, lines, corpus_fingerprint);
  // What smacof found costs more than a file encoding's numbers, and what others were may be known nowhere else.
  if (!before.lines.empty()) course.stored = read_stored_encodings(context.comm, before.path);
  course.score_missing(unfinished_path(config, s.length));
  course.write(path);
  remove_unfinished(context, unfinished_path(config, s.length));
  context.report.end(
      fmt::format("{} encodings x {} dimensions", course.file.table.encoding_names.size(), course.file.table.dimensions.size()));
  return std::move(course.file);
}

}  // namespace posgeom
