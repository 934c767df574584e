#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/jsonl.hpp"
#include "corpus/line_reader.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// One document's text.
struct Record {
  std::string_view text;    ///< valid until the next record
  Index offset = 0;         ///< of the record's first byte in the (decompressed) file
  std::uint64_t group = 0;  ///< hash of the split column's text
};

/// The byte range of a file whose records are to be read: those whose first byte lies in [begin, end).
struct Range {
  Index begin = 0;
  Index end = 0;
};

/// The records of one range of one file.
class RecordReader {
 public:
  /// `options` has its format resolved. For a compressed file the range must be all of it: [0, largest Index).
  RecordReader(const CorpusOptions& options, const CorpusFile& file, Range range, Index buffer_bytes = Index{1} << 20);

  /// The next record; false when there are none left. Throws Error that names the file and the line.
  bool next(Record& record);
  /// The same without the record's text, for who counts records or passes them over: cheaper. The columns of a TSV row are still checked, a
  /// JSON object is not looked into.
  bool skip();
  /// Moves the range's end on, once its records are read. Only for ranges that begin at 0.
  void set_end(Index end);
  /// Whether the text ends here; not where a range does.
  bool at_end() { return lines_.peek() < 0; }
  Index bytes_done() const;

 private:
  void skip_preamble(bool header);
  Index offset() const;
  bool next_line(Record& record);
  bool next_header(Record& record);
  void check_row(const Record& record, std::optional<std::string_view> cell, int column, std::string_view option) const;
  void read_row(Record& record);
  void read_object(Record& record);
  void read_sequence(Record& record);

  const CorpusFile* file_;
  Format format_;
  Range range_;
  LineReader lines_;
  Index mark_bytes_ = 0;  ///< of a byte order mark: the first line begins before it
  std::string sequence_;  ///< fasta: a record's lines joined
  std::optional<JsonReader> json_;
};

/// The columns of a TSV line: cut at tabs, nothing else; no quoting.
std::vector<std::string_view> split_columns(std::string_view line);
/// Column `column` of a TSV line, nothing where there are fewer.
std::optional<std::string_view> column_of(std::string_view line, int column);

/// A file's first line, without a byte order mark.
std::string first_line(const CorpusFile& file);
/// "FILE, line N" of the line that begins at `offset`, for an error: reads the file up to there to count.
std::string place_of(const CorpusFile& file, Index offset);

std::unique_ptr<ByteSource> open_source(const CorpusFile& file, Index begin = 0);

}  // namespace posgeom
