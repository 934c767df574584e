#pragma once
#include <optional>

#include "corpus/unit_walk.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// The tokens of the corpus from a unit on, unit after unit, in batches that do not span them; with the places that the index gives.
class UnitStream {
 public:
  /// `walk` outlives this.
  UnitStream(const Corpus& corpus, const ReadOptions& options, UnitWalk& walk) : corpus_(&corpus), options_(options), walk_(&walk) {}

  /// The next batch will be the first of `unit`.
  void seek(UnitId unit);
  /// The next batch; what follows a unit that has ended is only known for files that know their number of units. False at the corpus's end.
  bool next(TokenBatch& batch);

 private:
  bool advance();
  void place(TokenBatch& batch);
  void check_size() const;

  const Corpus* corpus_;
  ReadOptions options_;
  UnitWalk* walk_;
  UnitId unit_;
  bool opened_ = false;
  bool ended_ = false;  ///< the unit's last batch was given
  UnitSize given_;      ///< of the unit
};

/// Appends the first `limit` tokens of `from`, with the pieces that hold them.
void append_tokens(TokenBatch& batch, const TokenBatch& from, Index limit);

}  // namespace posgeom
