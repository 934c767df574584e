#include <algorithm>
#include <optional>
#include <vector>

#include "geometry/noise_null.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom::noise {
namespace {

/// Token counts over the positions, for each type.
std::vector<Count> pooled_counts(const PositionCounts& corpus, std::span<const std::int32_t> positions) {
  std::vector<Count> pooled(static_cast<std::size_t>(corpus.vocab_size), 0);
  for (const std::int32_t i : positions) {
    const auto tokens = corpus.tokens_at(i);
    const auto occurrences = corpus.counts_at(i);
    for (std::size_t e = 0; e < tokens.size(); ++e) pooled[static_cast<std::size_t>(tokens[e])] += occurrences[e];
  }
  return pooled;
}

}  // namespace

std::vector<double> null_replicates(const Communicator& comm, const PositionCounts& corpus, const NoiseAnalysis& analysis,
                                    const HellingerOptions& hellinger, const NoiseAnalysisOptions& options, const NoiseProgress& progress) {
  std::vector<double> largest(static_cast<std::size_t>(options.replicates), 0.0);
  std::optional<NullRows> a;
  std::optional<NullRows> b;
  collective(comm, "pooling the counts", [&] {
    a.emplace(pooled_counts(corpus, analysis.position), analysis.rarefied_total);
    b = a;
  });
  const Index rows = analysis.position_count();
  const double factor = hellinger.unit_range ? 0.5 : 1.0;
  for (Index begin = 0; begin < options.replicates; begin += comm.size()) {
    collective(comm, "drawing a replicate of the global null", [&] {
      const Index r = begin + comm.rank();
      if (r >= options.replicates) return;
      a->draw(options.seed, r, 0, rows);
      b->draw(options.seed, r, rows, rows);
      const KeyedWords start({.seed = options.seed, .first = static_cast<std::uint64_t>(r), .purpose = Purpose::start});
      largest[static_cast<std::size_t>(r)] = factor * largest_split_eigenvalue(*a, *b, start);
    });
    if (progress) progress(std::min(begin + comm.size(), options.replicates), options.replicates);
  }
  all_reduce(comm, std::span<double>(largest));
  return largest;
}

}  // namespace posgeom::noise
