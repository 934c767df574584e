#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/record_reader.hpp"
#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// One file's share of one rank: a byte range (uncompressed), or every `stride`-th record from the `first`-th (compressed).
struct Part {
  std::size_t file = 0;
  Range range;
  Index first = 0;
  Index stride = 1;
};

/// How the files are shared by `ranks` ranks; the parts of `rank`, in the files' order. The uncompressed bytes, taken as one string, are
/// cut evenly; compressed files go whole to the rank that has least so far, the largest first, or to all in turn where there are fewer than
/// ranks.
std::vector<Part> parts_of(const std::vector<CorpusFile>& files, int rank, int ranks);

/// The records of one rank's parts, one after the other.
class PartReader {
 public:
  PartReader(const Corpus& corpus, int rank, int ranks);
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;

  bool next(Record& record);
  /// "FILE, line N" of the record that next() gave last.
  std::string place() const;
  Index bytes_done() const;
  Index bytes_total() const { return bytes_total_; }

 private:
  Index bytes_of(const Part& part) const;

  CorpusOptions options_;
  std::vector<CorpusFile> files_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;  ///< being read
  std::optional<RecordReader> reader_;
  Index record_ = 0;  ///< in the present file
  Index offset_ = 0;  ///< of the last record
  Index bytes_before_ = 0, bytes_total_ = 0;
};

}  // namespace posgeom
