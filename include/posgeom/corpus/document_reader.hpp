#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/unit_set.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// What the reader of a corpus asks for beyond the tokens of each document.
struct ReadOptions {
  /// The corpus as one stream of tokens (packed sequences): a unit is a run of the stream, which documents may enter and leave, and batches
  /// carry their place in the stream. Otherwise a unit is the documents that begin in it, whole.
  bool stream = false;
  bool document_index = false;  ///< pieces carry their document's index in the corpus
  Index overlap = 0;            ///< stream: so many tokens after a unit's end follow it, to complete the sequences that begin in it
};

/// A run of one document's tokens within a batch.
struct Piece {
  Index begin = 0, end = 0;  ///< tokens [begin, end) of the batch; an empty document has one piece, with begin == end
  Index document = -1;       ///< its index in the corpus; -1 where nobody asked for it
  Index position = 0;        ///< of its first token in the document, after separators and ignored ids were removed
  bool ends = true;          ///< the document ends with this piece
  std::uint64_t group = 0;   ///< hash of the split column's text
  Index size() const { return end - begin; }
};

/// Consecutive tokens of one unit, in the order of the corpus. Every id is below V. A document's pieces follow each other.
struct TokenBatch {
  std::vector<std::uint16_t> narrow;  ///< ids of 16 bits, where the file stores such; else
  std::vector<Token> wide;            ///< ids of 32 bits. One of the two is empty
  std::vector<Piece> pieces;
  UnitId unit;
  bool unit_ends = false;      ///< the last batch of its unit
  Index stream_position = -1;  ///< index of the batch's first token in the stream; -1 where nobody asked for it
  Index own_tokens = 0;        ///< tokens from here on belong to later units (ReadOptions::overlap)

  Index token_count() const { return std::ssize(narrow) + std::ssize(wide); }
  void clear();
};

/// **Collective.** How many documents and tokens come before each unit, as far as `options` need it: from the files' indices where they say
/// it, else by a pass over the corpus (text is tokenised for a stream only; compressed text is decompressed). Sets corpus.index; returns
/// whether the corpus was read. `progress`: called now and then with the bytes read and in all on this rank; may throw to stop.
bool index_corpus(const Communicator& comm, Corpus& corpus, const ReadOptions& options,
                  const std::function<void(Index bytes_done, Index bytes_total)>& progress = {});
/// Tokens and documents of the whole corpus, once it is indexed for a stream (tokens) or for document_index (documents); else -1.
Index indexed_token_count(const Corpus& corpus);
Index indexed_document_count(const Corpus& corpus);

/// How units are shared by ranks: runs: consecutive ones, balanced by bytes. in_turn: unit u of the corpus goes to rank u % ranks.
enum class Sharing { runs, in_turn };

/// One rank's part of a corpus, read batch by batch. The ranks' parts are disjoint and together the whole, less the units that are done.
/// Units do not depend on the rank count. A compressed file is read by one rank where there are at least as many such files as ranks, else
/// by all, which take its units in turn.
class DocumentReader {
 public:
  /// `corpus` outlives the reader. One that `options` need an index for must have it (index_corpus()); throws std::logic_error where it has
  /// not.
  DocumentReader(const Corpus& corpus, const ReadOptions& options, int rank, int ranks, Sharing sharing = Sharing::runs,
                 const UnitSet& done = {});
  ~DocumentReader();
  DocumentReader(DocumentReader&&) noexcept;
  DocumentReader& operator=(DocumentReader&&) noexcept;

  /// Replaces `batch` by the next tokens (some 2^16 to 2^19 of them, or less at the end of a unit); false when there are none left. Not
  /// collective. Throws Error that names file and document or offset: read error, file shorter than it was, id out of range, truncated
  /// compressed file, missing column, invalid text.
  bool next(TokenBatch& batch);
  /// Bytes of the corpus's files that this part has consumed, and will in all; for progress. In turn: those that it has gone past, of all.
  Index bytes_done() const;
  Index bytes_total() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace posgeom
