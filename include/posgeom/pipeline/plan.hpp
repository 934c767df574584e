#pragma once
#include <string>
#include <vector>

#include "posgeom/counts/position_counts.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

/// Memory of one stage on the fullest rank.
struct StageNeed {
  std::string stage;
  Index bytes = 0;
  std::string limit;  ///< a 32-bit limit of the LP64 libraries that would be crossed; empty: none
};

/// What one length needs.
struct LengthPlan {
  Index length = 0;
  bool dual = false;  ///< the V x V problem
  std::vector<StageNeed> stages;
  bool fits = false;         ///< within the memory and every limit, with the planned ranks
  Index smallest_ranks = 0;  ///< the smallest rank count that fits; 0: none up to 2^20
};

/// How far a number can be trusted.
enum class Certainty { exact, estimated, at_least };

/// How many tokens and types there are, as far as is known before reading everything; 0: not at all.
struct CorpusEstimate {
  Index vocab_size = 0;
  Index token_count = 0;
  Certainty vocab_certainty = Certainty::exact;
  Certainty token_certainty = Certainty::exact;
};

/// Needs of one length with `ranks` ranks of `memory_bytes` each. Pure arithmetic, 64-bit throughout.
LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes);

/// **Collective.** Throws Error (usage) on every rank where a length of the configuration cannot be embedded and scored with these counts
/// in the memory that this rank may use, before anything large is allocated; names the stage, the memory and the rank count that would do.
void require_memory(const Communicator& comm, const Config& config, const PositionCounts& counts);

/// **Collective.** The command: memory a rank for every stage and length, limits, and the smallest rank count that fits. Nothing is
/// counted: sizes and a sample of the corpus are read. Throws the same Error on every rank for unreadable files.
void plan(const Communicator& comm, const Config& config, StageReport& report);

}  // namespace posgeom
