#pragma once
#include <optional>
#include <string>
#include <vector>

#include "corpus/record_reader.hpp"
#include "corpus/unit_source.hpp"

namespace posgeom {

/// Unit u of a text file: the records that begin in bytes [u U, (u+1) U) of its (decompressed) text. U is unit_bytes, or else 1 MiB where
/// the file is compressed, and max(4 MiB, file / 65536) where it is not. A unit may be without a record. Where sequences overlap units, a
/// compressed file is one unit, since what follows a unit is read twice.
class TextUnits : public UnitSource {
 public:
  /// `corpus` and its tokenizer outlive this; it may still be null, as long as nothing is tokenised.
  TextUnits(const Corpus& corpus, Index file, const ReadOptions& options);

  Index unit_count() const override;
  bool open(Index unit) override;
  bool next(TokenBatch& batch) override;
  std::optional<UnitSize> known_size(Index) const override { return std::nullopt; }
  UnitSize measure(bool tokens) override;
  Index bytes_done() const override;
  Index unit_bytes(Index unit) const override;

  /// The next record of the open unit, for who wants its text; not together with next().
  bool next_record(Record& record);
  /// "FILE, line N" of the record that next_record() gave last.
  std::string place() const { return place_of(*file_, offset_); }

 private:
  bool streams() const { return unit_count() < 0; }
  bool next_document();
  std::string_view known_text(std::string_view text);
  void tokenise(const Record& record);

  const Corpus* corpus_;
  const CorpusFile* file_;
  bool whole_;                 ///< one unit
  Index unit_size_;            ///< U
  std::vector<bool> ignored_;  ///< by id; empty: none
  std::optional<RecordReader> records_;
  Index passed_ = 0;  ///< streams: where the unit that is open, or was last, ends
  Index offset_ = 0;  ///< of the last record
  std::string scratch_;
  // The document that is being given out.
  std::vector<Token> ids_;
  Index given_ = 0;  ///< ids of it
  Index document_ = -1;
  std::uint64_t group_ = 0;
};

}  // namespace posgeom
