#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "pipeline/encoding_files.hpp"
#include "pipeline/stress_cells.hpp"
#include "pipeline/stress_course.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/words.hpp"

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

/// **Collective.** What the de-noised distances of a length are made from; empty where they cannot be had: no noise analysis of halves, of
/// two positions at least that this geometry keeps, or other halves counted since.
std::string source_of_denoised(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry) {
  const bool analysed = geometry.noise && geometry.noise->split && geometry.noise->position_count() > 1;
  if (!analysed || !std::ranges::includes(s.position, geometry.noise->position)) return {};
  const std::string path = counts_path(context.config);
  if (!read_counts_summary(context.comm, path).split) return {};
  const auto lines_of = [&](const std::string& file) { return split_lines(read_provenance(context.comm, file).value().fingerprint_lines); };
  const FingerprintLines counted = lines_of(path);
  const FingerprintLines lines = lines_of(geometry_path(context.config, s.length));
  std::string source;
  for (const char* key : {"noise.seed", "noise.split-by"}) {
    if (line_value(counted, key) != line_value(lines, key)) return {};
    source += fmt::format("{} {}, ", std::string_view(key).substr(6), line_value(lines, key));
  }
  return source + "rarefy " + line_value(lines, "noise.rarefy");
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
  const std::string denoised = source_of_denoised(context, s, geometry);
  const bool against_denoised = encodings.signal || (!denoised.empty() && (config.noise.split || before.file.denoised));
  if (against_denoised && !denoised.empty()) encodings.lines.push_back("noise.denoised=" + denoised);
  FingerprintLines lines = stress_lines(config, corpus_fingerprint, s.length, encodings.lines);
  collective(context.comm, "comparing file encodings", [&] {
    if (!before.lines.empty()) require_same(before.path, before.lines, lines, keep_or_replace);
  });

  StressFile file = widened(before.file, dims, scored_names(context.files->specs(context)));
  file.length = s.length;
  const bool grown = file.table.dimensions != there.dimensions || file.table.encoding_names.size() != there.encoding_names.size();
  if (against_null) add_shuffled(file);
  if (against_denoised) add_denoised(file);
  if (wants(config, "smacof") && config.stress.smacof_weights != SmacofWeights::none) add_weighted(file, config.stress.smacof_weights);
  StressCourse course(context, s, geometry, std::move(encodings), std::move(file));
  const std::string stored_before = line_value(before.lines, "encoding.stored");
  course.against_shuffled = against_null;
  course.against_denoised = against_denoised;
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
  context.report.end(fmt::format("{} x {}", number_of(std::ssize(course.file.table.encoding_names), "encoding"),
                                 number_of(std::ssize(course.file.table.dimensions), "dimension")));
  return std::move(course.file);
}

}  // namespace posgeom
