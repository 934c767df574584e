#pragma once
#include <vector>

#include "counts/count_tables.hpp"
#include "counts/shuffler.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// What documents were read, by one rank.
struct DocumentTotals {
  Index documents = 0, empty_documents = 0, tokens = 0, longest = 0;
};

/// Cuts what a reader gives into sequences, and counts them: real and shuffled ones, each token into the table of its document's half.
class Sequencer {
 public:
  /// `stream_tokens`: of the whole corpus, for packed sequences.
  Sequencer(const CountOptions& options, Index stream_tokens, CountTables& tables);

  /// The next batch of the unit that the last one belonged to, or the first of another unit. Units come whole, in any order.
  void add(const TokenBatch& batch);

  const DocumentTotals& totals() const { return totals_; }
  /// Bytes of sequences that are being gathered.
  Index bytes() const;

 private:
  template <class Id>
  void add(const TokenBatch& batch, std::span<const Id> ids);
  template <class Id>
  void add_document(const Piece& piece, std::span<const Id> ids, int half);
  template <class Id>
  void add_windows(const Piece& piece, std::span<const Id> ids, int half);
  template <class Id>
  static void count_windows(PositionTable& table, Index length, Index first, std::span<const Id> ids);
  template <class Id>
  void add_stream(Index position, Index own, std::span<const Id> ids, int half);
  void end_stream_unit(const TokenBatch& batch);
  /// The run at `position` of `unit` as often as each replicate draws it.
  template <class Id>
  void add_resampled(Index length, Index unit, Index position, std::span<const Id> ids);
  void count_document(const Piece& piece, Index own_end);
  int half(const Piece& piece) const;
  /// The stream's tokens from here on stand in a block that does not count.
  Index stream_end(Index length) const;

  CountOptions options_;
  Index stream_tokens_;
  std::vector<CountTables::Entry*> real_;
  std::vector<CountTables::Entry*> resampled_;
  struct Shuffled {
    Index length;
    Shuffler shuffler;
  };
  std::vector<Shuffled> shuffled_;
  DocumentTotals totals_;
};

}  // namespace posgeom
