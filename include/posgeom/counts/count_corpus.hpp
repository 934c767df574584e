#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/corpus/unit_set.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// How documents become sequences of at most n tokens. document: its first n tokens. chunk: successive windows of n tokens, the last one
/// may be shorter. packed: the corpus's stream of tokens, across documents and files, cut every n tokens.
enum class Sequences { document, chunk, packed };
std::string_view name_of(Sequences sequences);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Sequences sequences_named(std::string_view name);

/// By what a document goes to half a or b: its index, its index / block, or the text of a column.
enum class SplitBy { document, block, column };

struct NoiseOptions {
  bool split = false;    ///< halves
  bool shuffle = false;  ///< the shuffle null
  SplitBy split_by = SplitBy::document;
  Index block = 1;  ///< documents of a block
  std::uint64_t seed = 1;
};

/// Replicates first .. first + count - 1 of a bootstrap: in replicate r every document counts w times, w drawn from a Poisson distribution
/// of mean 1 by (seed, r, its index) alone; packed, where documents run into each other, every block of the length. Nothing else is
/// counted.
struct Resampling {
  Index first = 0;
  Index count = 0;  ///< 0: no bootstrap, the corpus itself is counted
  std::uint64_t seed = 1;
};

struct CountOptions {
  Sequences sequences = Sequences::document;
  std::vector<Index> lengths;    ///< ascending, distinct, at least one
  bool drop_last_block = false;  ///< packed: the last, partial block does not count (document, chunk: no effect)
  NoiseOptions noise;
  Resampling resampling;
  Index memory_bytes = 0;        ///< what this rank may use for counting; 0: no limit
  Index chunk = Index{1} << 22;  ///< elements of one message between ranks; injectable for tests
};

/// Rows of one table: positions first .. first + rows - 1, compressed.
struct PositionRows {
  Index first = 0;
  std::vector<Index> indptr{0};  ///< [rows + 1], from 0
  std::vector<Token> token;      ///< ascending within each row
  std::vector<Count> count;      ///< all > 0
  Index rows() const { return std::ssize(indptr) - 1; }
};

/// One table of counts, this rank's positions of it.
struct CountTable {
  Index length = 0;       ///< n
  bool shuffled = false;  ///< of the shuffle null
  PositionRows all;
  PositionRows half_a;   ///< with NoiseOptions::split, else without rows; half b is the difference
  Index replicate = -1;  ///< of a bootstrap; -1: the corpus as it is
};

/// What a corpus was counted to. Numbers are the same on every rank; of each table a rank holds the positions that it owns.
struct CorpusCounts {
  Sequences sequences = Sequences::document;
  bool split = false;
  Index vocab_size = 0;
  Index document_count = 0;        ///< documents read, empty ones included
  Index empty_document_count = 0;  ///< of these, without a token
  Index token_count = 0;           ///< T: tokens read, those that no sequence holds included
  Index longest_document = 0;      ///< tokens of the longest document
  /// document: one table, of the largest length, then with shuffle a shuffled one a length. chunk, packed: one a length, then the shuffled.
  std::vector<CountTable> tables;
};

/// The positions that a rank owns of a table of `length`: a run, ceil(length / ranks) of them or what is left.
struct OwnedPositions {
  Index first = 0;
  Index rows = 0;
};
OwnedPositions owned_positions(Index length, int rank, int ranks);

/// A count that is not finished: what has been counted, and of which units.
struct CountCheckpoint {
  CorpusCounts counts;
  UnitSet done;
};

/// How far a count is, over all ranks.
struct CountStatus {
  Index bytes_done = 0, bytes_total = 0;
  Index tokens = 0;         ///< counted by this run
  Index tokens_before = 0;  ///< taken over from a checkpoint
  double seconds = 0;       ///< since this run's start
  bool indexing = false;    ///< the corpus is being indexed, before anything is counted: bytes are of this rank's part
};

struct CountHooks {
  std::function<bool()> stop_requested;              ///< this rank's signal flag, asked often
  std::function<void(const CountStatus&)> progress;  ///< called on every rank, once a round
  std::function<void(const CountCheckpoint&)> keep;  ///< **Collective.** Called before a stop and every checkpoint_seconds
  double round_seconds = 1;                          ///< ranks agree on signals, errors and progress so often
  double checkpoint_seconds = 600;                   ///< 0: after every round (tests)
  double grace_seconds = 20;  ///< after a stop: units that are not finished by then are given up, and so is keeping what was counted
};

/// **Collective.** Counts every document of the corpus, which is indexed first where options need it. `resume`: goes on from there (the
/// same corpus and options, any rank count). Integers throughout: bit-equal for every rank count, and whether resumed or not.
/// Memory a rank: its own positions' rows (at most 4 bytes a cell, 8 beyond 2^32 tokens a position; 12 bytes a nonzero in the end), others'
/// rows until they are handed to their owners, column buffers and messages; within memory_bytes.
/// Throws the same Error on every rank: what the corpus throws; memory too small (says how much would do); Error (stopped) after a signal,
/// everything counted so far being kept.
CorpusCounts count_corpus(const Communicator& comm, Corpus& corpus, const CountOptions& options, const CountHooks& hooks = {},
                          const CountCheckpoint* resume = nullptr);

/// Bytes that count_corpus takes on the fullest of `ranks` ranks, for a corpus of `token_count` tokens (0: unknown, every cell is taken as
/// nonzero) whose tokens are distributed as in `unigram` (counts of a sample, [V]; empty: uniform). Without MPI's own memory and the
/// reader's. Tokens at a position are taken as token_count / n: exact for packed sequences; chunk, and document more so, have more at the
/// first positions and fewer at the last ones. The greater of what counting takes and what the compressed rows take in the end (12 bytes a
/// nonzero, twice with halves), which is also what a checkpoint takes.
Index count_memory(const CountOptions& options, Index vocab_size, Index token_count, std::span<const Count> unigram, int ranks);

/// How many different tokens `draws` draws from `unigram` (counts of a sample, [V]; empty: uniform) are expected to show: the sum over v
/// of 1 - (1 - p_v)^draws.
double expected_types(std::span<const Count> unigram, Index vocab_size, double draws);

/// How often `unit` (a document or block) counts in a replicate of a bootstrap.
Index bootstrap_weight(std::uint64_t seed, Index replicate, Index unit);

/// What a corpus must be read with for these options.
ReadOptions read_options_for(const CountOptions& options);

}  // namespace posgeom
