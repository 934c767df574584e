#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "corpus/token_source.hpp"
#include "corpus/token_walk.hpp"
#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// A file's ids from a place on, a chunk in memory at a time. `Id`: uint16_t where the file's ids have two bytes, else uint32_t.
template <class Id>
class IdChunk {
 public:
  /// `file`, `ids` and `rule` outlive it.
  IdChunk(const CorpusFile& file, const IdSource& ids, const SplitRule& rule, Index chunk_ids)
      : file_(&file), ids_(&ids), rule_(&rule), chunk_ids_(chunk_ids) {}

  /// From `at` on: as much at a time as there is up to `soft_end`, less from there to `stop`, since little may be wanted of it.
  void seek(Index at, Index soft_end, Index stop);
  /// The next ids, once all are taken; none at the stop.
  void load();
  /// Those that are left.
  std::span<const Id> left() const { return std::span<const Id>(chunk_).subspan(static_cast<std::size_t>(taken_)); }
  bool empty() const { return taken_ == std::ssize(chunk_); }
  /// Their place in the file.
  Index at() const { return at_; }
  void take(Index count) {
    taken_ += count;
    at_ += count;
  }
  /// Any one id of the file.
  Id operator[](Index index) const;

 private:
  void convert(const char* stored, std::span<Id> ids) const;

  const CorpusFile* file_;
  const IdSource* ids_;
  const SplitRule* rule_;
  Index chunk_ids_;
  Index soft_end_ = 0, stop_ = 0;
  Index tail_ = 0;  ///< ids to read at a time beyond the soft end
  std::vector<char> stored_;
  std::vector<Id> chunk_;
  Index taken_ = 0;
  Index at_ = 0;
};

}  // namespace posgeom
