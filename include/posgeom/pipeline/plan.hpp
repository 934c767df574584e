#pragma once
#include <string>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/machine_rates.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

struct StageContext;

/// No job has more.
inline constexpr Index most_ranks = Index{1} << 20;

/// A rank that has done nothing yet: MPI, HDF5, BLAS, their buffers (measured with Open MPI 4.1). --memory is what a rank may use beside
/// it.
inline constexpr Index process_bytes = Index{48} << 20;

/// Memory of one stage on the fullest rank, and its time.
struct StageNeed {
  std::string stage;
  Index bytes = 0;    ///< all that the system counts, as batch systems limit it
  Index limited = 0;  ///< of these, what --memory limits
  double seconds = 0;
  std::string limit = {};  ///< that would be crossed: of the LP64 libraries' 32-bit integers, or of a solver; empty: none
};

/// Whether a stage fits: within `memory_bytes` (--memory) and every 32-bit limit. The plan's word, and run's.
inline bool fits(const StageNeed& need, Index memory_bytes) { return need.limit.empty() && need.limited <= memory_bytes; }

/// What one length needs.
struct LengthPlan {
  Index length = 0;
  Solver solver = Solver::pdsyevd;  ///< that would be used
  Index rows = 0;                   ///< positions, at most
  std::vector<StageNeed> stages;    ///< embed, stress; bootstrap where replicates are asked for
  bool fits = false;                ///< within the memory and every limit, with the planned ranks
  Index smallest_ranks = 0;         ///< the smallest rank count that fits; 0: none up to 2^20
  int proposed_ranks = 0;           ///< that embed and stress should have; 0: none fits
  std::vector<StageNeed> proposed;  ///< what they need then
};

/// What a length's counts mean for the stages after.
struct LengthNeeds {
  Index length = 0;
  Index nonzeros = 0;   ///< (position, token) counts
  Index types = 0;      ///< token types that occur
  Index positions = 0;  ///< rows that a position table must have: up to the last position that is kept
  Index reached = 0;    ///< positions up to the last that holds a token
  RowsSize rows{};      ///< S of them
};
/// How far a number can be trusted.
enum class Certainty { exact, estimated, at_least };

/// What a corpus holds, as far as is known before reading everything; 0: not at all.
struct CorpusEstimate {
  Index vocab_size = 0;
  Index token_count = 0;
  Certainty vocab_certainty = Certainty::exact;
  Certainty token_certainty = Certainty::exact;
  Index document_count = 0;            ///< as --documents says; 0: not known
  std::vector<Count> unigram{};        ///< how often each token stands in a sample; empty: not known
  std::vector<Count> early_unigram{};  ///< in about its first quarter; empty: not known
  std::vector<Count>
      position_total{};  ///< [at most the longest length] the sample's tokens at each position of documents; empty: not known
  Count sampled_tokens = 0;
  Index longest_document = 0;  ///< of the sample
  bool whole_sample = false;   ///< it is the corpus
  bool text = true;            ///< that is tokenised; else ids
  bool compressed = false;     ///< the token count comes from the share of the compressed bytes that the sample took
  Index streams = 0;           ///< files that are all compressed, of which one rank each reads; 0: ranks share files
};

/// The options of the counting stage; memory_bytes is not set.
CountOptions count_options_of(const Config& config);

/// Needs of counting, all lengths in one stage, with `ranks` ranks of `memory_bytes` each.
StageNeed count_need(const Config& config, const CorpusEstimate& corpus, int ranks, Index memory_bytes, const MachineRates& rates = {});

/// Needs of embedding and scoring one length with `ranks` ranks of `memory_bytes` each, and how many ranks it should have: the smallest
/// count that fits where `ranks` do not; fewer than `ranks` where more would only wait for each other (enough_ranks) and the stages take
/// no minute longer. Pure arithmetic, 64-bit throughout.
LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes,
                       const MachineRates& rates = {});

/// As many ranks as a matrix of so many rows keeps at work: with fewer than 64 x 64 elements each, communication is all there is.
Index enough_ranks(Index rows);

/// What would let a length fit that no rank count lets fit, found by planning with it: a token count that is not known, more memory a rank,
/// on as many ranks a node as have it, or as few changes of options as help together. A clause.
std::string what_helps(const Config& config, const CorpusEstimate& corpus, const LengthPlan& plan, Index memory_bytes,
                       const MachineRates& rates = {});

/// **Collective.** Throws the same Error (usage) on every rank where run would refuse these options with so many ranks, as far as options
/// and files of encodings tell.
void check_options(const StageContext& context, Index ranks);
/// Throws the same Error (usage) as the solver that --solver names would, for a problem of at most so many rows and types (0: not known).
void check_solver(const Config& config, Index rows, Index types);

/// **Collective.** Throws the same Error on every rank where one of `stages` ("embed", "stress") does not fit in the memory that this rank
/// may use at one of the lengths, before anything large is allocated; names the stage, the memory and the rank count that would do.
void require_memory(const Communicator& comm, const Config& config, const std::vector<LengthNeeds>& needs,
                    const std::vector<std::string>& stages);

/// **Collective.** The command: memory a rank and time for every stage and length, limits, the smallest rank count that fits, and a line of
/// sbatch options for every job. Nothing is counted: sizes and a sample of the corpus are read. Times are those of the stored figures, or
/// (--calibrate) of this machine. Throws the same Error on every rank for unreadable files, and for what run would refuse.
void plan(const Communicator& comm, const Config& config, StageReport& report);

}  // namespace posgeom
