#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "corpus/unit_source.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/corpus/unit_set.hpp"

namespace posgeom {

/// One rank's share of one file.
struct FileShare {
  Index file = 0;
  Index first = 0;
  Index end = -1;         ///< -1: up to the file's end
  bool streamed = false;  ///< the file says only at its end how many units it has
  bool in_turn = false;   ///< every rank-th of the units in [first, end), counted over all such shares
  Index bytes = 0;        ///< the sum of its weights
};

/// What is left to read of one file.
struct FileRest {
  Index unit_count = -1;  ///< of the whole file; -1: not known
  bool streamed = false;
  Index bytes = 0;  ///< the sum of its weights; streamed: of the file, 0 where nothing is left
};

/// The shares of `rank` in the order of the corpus (Sharing::runs). `weight`: bytes of a unit, at least 1, or 0 where it is done.
/// Streamed files go whole to one rank where there are at least as many as ranks, the largest first, or where `whole_files` says so; else
/// all ranks read them, and take their units in turn.
std::vector<FileShare> share_units(const std::vector<FileRest>& files, int rank, int ranks, bool whole_files,
                                   const std::function<Index(UnitId)>& weight);

/// The units of one rank's part, one after the other, through one open file at a time.
class UnitWalk {
 public:
  /// `whole_files`: for work that is not worth decompressing a file on every rank.
  UnitWalk(const Corpus& corpus, const ReadOptions& options, int rank, int ranks, Sharing sharing, UnitSet done, bool whole_files = false);

  /// The next unit of this part; nothing when there are none left. Not opened yet, except in streamed files.
  std::optional<UnitId> next();
  /// Opens a unit, of this part or not; nothing happens where it was the last to be opened and was not read since. False where the file
  /// ends before it.
  bool open(UnitId id);
  /// The source of the unit that was opened last, to be read.
  UnitSource& reading();
  Index unit_count(Index file) { return planned(file).unit_count(); }
  Index bytes_done() const;
  Index bytes_total() const { return bytes_total_; }

 private:
  FileRest rest_of(Index file);
  Index weight_of(UnitId id);
  UnitSource& planned(Index file);
  bool takes(const FileShare& share, UnitId id);

  const Corpus* corpus_;
  ReadOptions options_;
  int rank_, ranks_;
  bool by_turns_;
  UnitSet done_;
  std::vector<FileShare> shares_;
  std::size_t share_ = 0;
  std::optional<UnitId> unit_;  ///< the last that next() looked at
  Index weight_ = 0;            ///< of it; streamed: 0
  Index turn_ = 0;              ///< units that were counted to be taken in turn
  std::unique_ptr<UnitSource> source_;
  std::optional<UnitId> opened_;  ///< in source_
  bool fresh_ = false;            ///< and not read
  /// For numbers and sizes alone, since source_ may be reading another file.
  std::unique_ptr<UnitSource> planned_;
  Index planned_file_ = -1;
  Index bytes_passed_ = 0, bytes_total_ = 0;
};

}  // namespace posgeom
