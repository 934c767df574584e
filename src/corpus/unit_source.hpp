#pragma once
#include <memory>
#include <optional>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// How much a unit holds: the documents that begin in it, and the tokens that next() gives of it.
struct UnitSize {
  Index documents = 0;
  Index tokens = 0;
};

/// The units of one file, numbered from 0. Their tokens, one unit after the other, are the file's; what a unit holds depends on the file
/// and the options, never on ranks.
class UnitSource {
 public:
  virtual ~UnitSource() = default;
  /// -1: known only at the end (compressed text).
  virtual Index unit_count() const = 0;
  /// Goes to the beginning of `unit`; compressed text goes forward only. False where the file ends before it.
  virtual bool open(Index unit) = 0;
  /// Appends the next tokens of the open unit to `batch` with their pieces, at most some 2^19 tokens; false at its end (nothing appended).
  /// Piece::document counts the documents that begin in the unit from 0; -1 is the one that began before it (streams only). Ids are checked
  /// against V; separators and ignored ids are removed, documents cut to max_tokens, before this returns.
  virtual bool next(TokenBatch& batch) = 0;
  /// The unit's size where it is known without reading it.
  virtual std::optional<UnitSize> known_size(Index unit) const = 0;
  /// The unit's size by reading it; `tokens`: whether the tokens are wanted too (else 0 will do). The unit is open() before.
  virtual UnitSize measure(bool tokens) = 0;
  /// Bytes of the open unit consumed so far (compressed: of the file), and bytes of a unit (compressed: of the file).
  virtual Index bytes_done() const = 0;
  virtual Index unit_bytes(Index unit) const = 0;
};

/// Token files (token_units.cpp) and text (text_units.cpp). `file` is an index into corpus.files.
std::unique_ptr<UnitSource> open_token_units(const Corpus& corpus, Index file, const ReadOptions& options);
std::unique_ptr<UnitSource> open_text_units(const Corpus& corpus, Index file, const ReadOptions& options);

}  // namespace posgeom
