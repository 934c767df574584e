#include <algorithm>

#include "pipeline/plan_parts.hpp"
#include "pipeline/stage_times.hpp"
#include "posgeom/geometry/smacof.hpp"
#include "posgeom/geometry/stress.hpp"

namespace posgeom {
namespace {

Index widest_dimension(const Config& config, const LengthSize& size) {
  switch (config.stress.choice) {
    case StressOptions::Dimensions::listed:
      return config.stress.dims.back();
    case StressOptions::Dimensions::all:
      return size.rows;
    default:
      return size.rank;
  }
}

bool is_made(const EncodingSpec& spec, std::string_view name) { return spec.name == name && spec.made(); }

/// What the encodings of a configuration are at one length.
struct Scored {
  StressWork work;
  Index held = 0;    ///< columns of coordinates in memory
  Index stored = 0;  ///< columns of all encodings at all dimensions, as --write-encodings holds them
  std::vector<Index> smacof;
};

Scored scored_at(const Config& config, const LengthSize& size) {
  Scored scored;
  scored.work = {.rows = size.rows, .nonzeros = size.whole.nonzeros};
  const Index widest = widest_dimension(config, size);
  const std::vector<std::int32_t> dims = resolve_dimensions(config.stress, std::max<Index>(size.rank, 1), size.rows);
  for (const EncodingSpec& spec : config.stress.encodings) {
    const bool is_mds = is_made(spec, "mds"), is_smacof = is_made(spec, "smacof"), is_signal = is_made(spec, "signal");
    for (const Index d : dims) scored.stored += config.stress.write_encodings || is_smacof ? d : 0;
    if (!is_mds && !is_smacof && !is_signal && spec.name != "random" && spec.made()) {
      scored.work.lag_kernels = true;
      continue;
    }
    const Index width = is_mds || is_smacof ? std::min(widest, size.rank) : widest;
    // The geometry file's columns, and the encoding's. smacof has coordinates of its own at every d, and no columns in common.
    if (!is_smacof) scored.held += is_mds ? 2 * width : width;
    for (const Index d : dims) {
      if (!is_smacof || d > width) continue;
      scored.smacof.push_back(d);
      scored.held += d;
      scored.work.columns += d;
    }
    if (!is_smacof) scored.work.columns += width;
    const auto beyond = std::count_if(dims.begin(), dims.end(), [&](Index d) { return d > width; });  // they share a cell
    scored.work.cells += std::ssize(dims) - beyond + (beyond > 0 && std::count(dims.begin(), dims.end(), width) == 0 ? 1 : 0);
  }
  return scored;
}

Index smacof_need(const Scored& scored, Index ranks, Index memory_bytes) {
  if (scored.smacof.empty()) return 0;
  SmacofOptions options;
  options.hellinger_bytes = std::max<Index>(1, memory_bytes / 2);
  return smacof_bytes(scored.work.rows, *std::ranges::max_element(scored.smacof), static_cast<int>(ranks), options);
}

}  // namespace

Index shared_bytes(Index bytes, const Config& config, Index ranks) {
  return bytes / std::min<Index>(ranks, std::max(config.plan_ranks_per_node, 1));
}

Index reading_bytes(Index stored, const Config& config, Index ranks) {
  constexpr Index cell = sizeof(Token) + sizeof(Count), entry = sizeof(std::int32_t) + sizeof(double);
  // Between ranks the cells are copied once more, and glibc's malloc keeps what was freed of arrays below 32 MiB.
  constexpr Index kept_below = Index{1} << 25;
  const Index kept = ranks > 1 && stored * static_cast<Index>(sizeof(double)) < kept_below ? cell : 0;
  return shared_bytes(stored * (cell + entry + static_cast<Index>(sizeof(double)) + kept), config, ranks);
}

StageNeed stress_need(const Config& config, const LengthSize& size, Index ranks, Index memory_bytes, const EmbedNeeds& embed,
                      const MachineRates& rates) {
  const Index n = size.rows;
  Scored scored = scored_at(config, size);
  StageNeed need{.stage = "stress"};
  const Index rows = shared_bytes(size.whole.bytes(), config, ranks);
  const Index working = std::max(stress_bytes(n, ranks), smacof_need(scored, ranks, memory_bytes));
  need.bytes = process_bytes + std::max(reading_bytes(size.whole.nonzeros, config, ranks),
                                        rows + n * (scored.held + scored.stored) * double_bytes + working);
  const double majorising = smacof_seconds(n, scored.smacof, config.stress.smacof_iterations, ranks, rates);
  need.seconds = stage_start_seconds + stress_seconds(scored.work, ranks, rates) + majorising;
  if (config.noise.split) {
    // Against the de-noised distances, which come from the halves as the noise analysis makes them: the sums over pairs once more.
    StressWork sums = scored.work;
    sums.violations = sums.spearman = false;
    need.seconds += stress_seconds(sums, ranks, rates);
    need.bytes = std::max(need.bytes, embed.with_noise.bytes + n * scored.held * double_bytes);
  }
  if (config.noise.shuffle) {
    // Against the shuffled corpus: its own mds and smacof, and the sums over pairs once more, without sorting.
    scored.work.cells = scored.work.columns = 0;
    need.seconds += embed.geometry.seconds - stage_start_seconds + stress_seconds(scored.work, ranks, rates) + majorising;
    // Nothing is sorted, and what is scored of the corpus itself stays.
    const Index scoring = process_bytes + rows + smacof_need(scored, ranks, memory_bytes);
    need.bytes = std::max(need.bytes, std::max(embed.geometry.bytes, scoring) + rows + n * scored.held * double_bytes);
  }
  need.limited = need.bytes - process_bytes;
  return need;
}

StageNeed bootstrap_need(const Config& config, const CorpusEstimate& corpus, Index length, const LengthSize& size, Index ranks,
                         Index memory_bytes, const ReplicateNeeds& replicate, const MachineRates& rates) {
  StageNeed need{.stage = "bootstrap"};
  const Index replicates = config.bootstrap.replicates;
  CountOptions options = count_options_of(config);
  options.lengths = {length};
  options.noise = {};
  options.memory_bytes = memory_bytes;
  options.resampling = {.first = 0, .count = replicates, .seed = config.seed};
  const auto counting = [&](Index tokens, std::span<const Count> unigram) {
    return count_memory(options, corpus.vocab_size, tokens, unigram, static_cast<int>(ranks));
  };
  // As many at a time as half of the memory holds, whatever the corpus.
  while (options.resampling.count > 1 && counting(0, {}) > memory_bytes / 2) options.resampling.count /= 2;
  const Index batches = (replicates + options.resampling.count - 1) / options.resampling.count;
  // 1 - 1/e of the documents are in a replicate, some of them several times.
  constexpr double drawn = 0.632;
  const auto tokens =
      static_cast<Index>(drawn * static_cast<double>(corpus.token_certainty == Certainty::at_least ? 0 : corpus.token_count));
  const Index half = std::min(size.half.nonzeros, size.whole.nonzeros);
  const auto nonzeros = half + static_cast<Index>((2 * drawn - 1) * static_cast<double>(size.whole.nonzeros - half));
  // A batch's counts stay until each has had its turn: then all of it is on every rank, and a geometry is made of it as in the other
  // stages.
  const Index counts = nonzeros * static_cast<Index>(sizeof(Token) + sizeof(Count));
  const Index waiting = options.resampling.count * counts / ranks + counts + size.whole.bytes();
  need.bytes = std::max(process_bytes + counting(tokens, corpus.unigram) + size.whole.bytes(),
                        std::max(replicate.geometry.bytes, replicate.stress.bytes) + waiting);
  need.limited = need.bytes - process_bytes;
  Config plain = config;
  plain.noise = {};
  plain.lengths = {length};
  Scored scored = scored_at(config, size);
  scored.work.spearman = false;
  const double each = replicate.geometry.seconds + stress_seconds(scored.work, ranks, rates) +
                      smacof_seconds(size.rows, scored.smacof, config.stress.smacof_iterations, ranks, rates);
  need.seconds = stage_start_seconds + resampled_seconds(plain, corpus, size.whole.nonzeros, replicates, batches, ranks, rates) +
                 static_cast<double>(replicates) * std::max(0.0, each - stage_start_seconds);
  return need;
}

}  // namespace posgeom
