#pragma once
#include <algorithm>

#include "pipeline/length_size.hpp"
#include "posgeom/pipeline/plan.hpp"

/// Needs of single stages, for plan_length(). Pure arithmetic.
namespace posgeom {

inline constexpr Index double_bytes = 8;

/// embed and stress of one length, and the bootstrap where replicates are asked for, with so many ranks.
std::vector<StageNeed> stages_with(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, int ranks,
                                   Index memory_bytes, const MachineRates& rates);
/// The solver that they take.
Solver solver_with(const Config& config, const LengthSize& size, int ranks, const MachineRates& rates);
/// Eigenvectors that embed computes.
Index vectors_of(const Config& config, const LengthSize& size);

/// The smallest memory a rank, in whole MiB and above `memory_bytes`, which does not fit, that fits(bytes) is true of; 0: none.
template <class Fits>
Index least_memory(Index memory_bytes, Fits fits) {
  constexpr Index mebibyte = Index{1} << 20, most = Index{1} << 30;
  Index low = std::max<Index>(memory_bytes / mebibyte, 1), high = low + 1;
  while (!fits(high * mebibyte)) {
    if (high > most) return 0;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (fits(middle * mebibyte) ? high : low) = middle;
  }
  return high * mebibyte;
}

/// Whole MiB of what is needed, rounded up, and of what there is, rounded down.
inline Index mebibytes_needed(Index bytes) { return (bytes + (Index{1} << 20) - 1) >> 20; }
inline Index mebibytes_there(Index bytes) { return bytes >> 20; }

/// A rank's share of what its node holds once for all of its ranks.
Index shared_bytes(Index bytes, const Config& config, Index ranks);
/// The rows of a counts file, of S, and a copy of its values on their way into the node's memory: while a stage reads what it starts from.
Index reading_bytes(Index stored, const Config& config, Index ranks);

/// What the shuffled corpus's own MDS takes, and what embed does with the noise analysis, whose halves the de-noised distances come from.
struct EmbedNeeds {
  StageNeed geometry;
  StageNeed with_noise;
};
StageNeed stress_need(const Config& config, const LengthSize& size, Index ranks, Index memory_bytes, const EmbedNeeds& embed,
                      const MachineRates& rates);
/// A replicate takes a geometry and its scores.
struct ReplicateNeeds {
  StageNeed geometry;
  StageNeed stress;
};
/// All replicates of one length.
StageNeed bootstrap_need(const Config& config, const CorpusEstimate& corpus, Index length, const LengthSize& size, Index ranks,
                         Index memory_bytes, const ReplicateNeeds& replicate, const MachineRates& rates);

}  // namespace posgeom
