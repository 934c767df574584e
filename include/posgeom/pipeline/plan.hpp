#pragma once
#include <string>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/machine_rates.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

/// No job has more.
inline constexpr Index most_ranks = Index{1} << 20;

/// Memory of one stage on the fullest rank, and its time.
struct StageNeed {
  std::string stage;
  Index bytes = 0;
  double seconds = 0;
  std::string limit = {};  ///< a 32-bit limit of the LP64 libraries that would be crossed; empty: none
};

/// What one length needs.
struct LengthPlan {
  Index length = 0;
  Solver solver = Solver::pdsyevd;  ///< that would be used
  Index rows = 0;                   ///< positions, at most
  std::vector<StageNeed> stages;    ///< embed, stress; bootstrap where replicates are asked for
  bool fits = false;                ///< within the memory and every limit, with the planned ranks
  Index smallest_ranks = 0;         ///< the smallest rank count that fits; 0: none up to 2^20
};

/// What a length's counts mean for the stages after.
struct LengthNeeds {
  Index length = 0;
  Index nonzeros = 0;   ///< (position, token) counts
  Index types = 0;      ///< token types that occur
  Index positions = 0;  ///< rows that a position table must have: up to the last position that is kept
  Index reached = 0;    ///< positions up to the last that holds a token
};
/// How far a number can be trusted.
enum class Certainty { exact, estimated, at_least };

/// What a corpus holds, as far as is known before reading everything; 0: not at all.
struct CorpusEstimate {
  Index vocab_size = 0;
  Index token_count = 0;
  Certainty vocab_certainty = Certainty::exact;
  Certainty token_certainty = Certainty::exact;
  std::vector<Count> unigram{};  ///< how often each token stands in a sample; empty: not known
  std::vector<Count>
      position_total{};  ///< [at most the longest length] the sample's tokens at each position of documents; empty: not known
  Count sampled_tokens = 0;
  Index longest_document = 0;  ///< of the sample
  bool whole_sample = false;   ///< it is the corpus
  bool compressed = false;     ///< the token count comes from the share of the compressed bytes that the sample took
};

/// The options of the counting stage; memory_bytes is not set.
CountOptions count_options_of(const Config& config);

/// Needs of counting, all lengths in one stage, with `ranks` ranks of `memory_bytes` each.
StageNeed count_need(const Config& config, const CorpusEstimate& corpus, int ranks, Index memory_bytes, const MachineRates& rates = {});

/// Needs of embedding and scoring one length with `ranks` ranks of `memory_bytes` each. Pure arithmetic, 64-bit throughout.
LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes,
                       const MachineRates& rates = {});

/// **Collective.** Throws Error (usage) on every rank where one of `stages` ("embed", "stress") does not fit in the memory that this rank
/// may use at one of the lengths, before anything large is allocated; names the stage, the memory and the rank count that would do.
void require_memory(const Communicator& comm, const Config& config, const std::vector<LengthNeeds>& needs,
                    const std::vector<std::string>& stages);

/// **Collective.** The command: memory a rank and time for every stage and length, limits, the smallest rank count that fits, and a line of
/// sbatch options for every job. Nothing is counted: sizes and a sample of the corpus are read. Times are those of the stored figures, or
/// (--calibrate) of this machine. Throws the same Error on every rank for unreadable files.
void plan(const Communicator& comm, const Config& config, StageReport& report);

}  // namespace posgeom
