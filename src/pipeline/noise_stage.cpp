#include <fmt/format.h>

#include <algorithm>

#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// **Collective.** One table of the length, where it is wanted.
std::optional<PositionCounts> table_of(const StageContext& context, Index length, CountsTable table, bool wanted) {
  if (!wanted) return std::nullopt;
  return read_counts(context.comm, counts_path(context.config), length, table);
}

const PositionCounts* pointer(const std::optional<PositionCounts>& table) { return table ? &*table : nullptr; }

/// What the options ask for that the counts do not hold is refused before anything is computed.
void require_counted(const StageContext& context, const CountsSummary& counted, Index length) {
  const NoiseOptions& noise = context.config.noise;
  collective(context.comm, "looking for halves and shuffled counts", [&] {
    const bool shuffled = std::ranges::find(counted.shuffled_lengths, length) != counted.shuffled_lengths.end();
    const bool halves_missing = noise.split && !counted.split;
    if (!halves_missing && (!noise.shuffle || shuffled)) return;
    throw Error(
        fmt::format("{}: --noise {} needs {} for length {}, which were not counted; run `posgeom count` with the same --noise, or "
                    "give --noise none",
                    counts_path(context.config), context.config.values.at("noise").back(),
                    halves_missing ? "the counts of random halves" : "counts of the shuffled corpus", length));
  });
}

}  // namespace

FingerprintLines noise_analysis_lines(const Config& config) {
  FingerprintLines lines = noise_lines(config);
  const NoiseAnalysisOptions& analysis = config.noise_analysis;
  if (config.noise.split) {
    lines.push_back(fmt::format("noise.replicates={}", analysis.replicates));
    lines.push_back(fmt::format("noise.alpha={}", analysis.alpha));
    lines.push_back(fmt::format("noise.rarefy={}", analysis.rarefy));
  }
  return lines;
}

NoiseAnalysis noise_stage(const StageContext& context, const SquareRootDistributions& s, Index block) {
  const Index length = s.length;
  const Config& config = context.config;
  const std::string path = counts_path(config);
  require_counted(context, read_counts_summary(context.comm, path), length);
  context.report.begin(fmt::format("noise n={}", length));
  const PositionCounts corpus = read_counts(context.comm, path, length);
  const bool both = config.noise.split && config.noise.shuffle;
  const auto half_a = table_of(context, length, CountsTable::corpus_half_a, config.noise.split);
  const auto shuffled = table_of(context, length, CountsTable::shuffled, config.noise.shuffle);
  const auto shuffled_half_a = table_of(context, length, CountsTable::shuffled_half_a, both);
  NoiseAnalysisOptions options = config.noise_analysis;
  options.block = block;
  // What shuffled text keeps is told of the geometry, so of as many tokens as that has.
  std::optional<PositionCounts> rarefied_shuffled;
  if (config.rarefied_total >= 0 && config.noise.shuffle) rarefied_shuffled = geometry_counts(context, length, CountsTable::shuffled);
  const NoiseTables tables{.corpus = &corpus,
                           .half_a = pointer(half_a),
                           .shuffled = pointer(shuffled),
                           .shuffled_half_a = pointer(shuffled_half_a),
                           .rarefied_shuffled = pointer(rarefied_shuffled),
                           .trace = gram_trace(s)};
  NoiseAnalysis analysis = analyse_noise(context.grid, tables, length, config.positions, options, [&](Index done, Index total) {
    context.report.progress(static_cast<double>(done) / static_cast<double>(std::max<Index>(total, 1)), "replicates");
    check_stop(context);
  });
  const std::string rank = !config.noise.split             ? std::string("no halves")
                           : analysis.position_count() > 1 ? fmt::format("signal rank {}", analysis.signal_rank)
                                                           : std::string("no signal rank");
  const std::string order =
      analysis.signal_rank_order >= 0 ? fmt::format(", {} above the shuffled corpus", analysis.signal_rank_order) : "";
  context.report.end(fmt::format("{} of {}, {} a half; {}{}", analysis.position_count(), number_of(analysis.reached, "reached position"),
                                 number_of(analysis.rarefied_total, "token"), rank, order));
  return analysis;
}

}  // namespace posgeom
