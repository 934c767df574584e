#include "corpus/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Starts one byte before the range, so that "does a line begin at its first byte?" needs no case of its own.
LineReader open_lines(const CorpusFile& file, Index begin, Index buffer_bytes) {
  const Index start = std::max(begin - 1, Index{0});
  if (!file.compressed) buffer_bytes = std::clamp(file.bytes, Index{1}, buffer_bytes);
  return LineReader(open_source(file, start), start, buffer_bytes);
}

}  // namespace

std::unique_ptr<ByteSource> open_source(const CorpusFile& file, Index begin) {
  expects(!file.compressed || begin == 0, "compressed files to be read from their beginning");
  return file.compressed ? compressed_source(file.path, file.bytes) : plain_source(file.path, begin, file.bytes);
}

std::vector<std::string_view> split_columns(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    columns.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  columns.push_back(line);
  return columns;
}

std::optional<std::string_view> column_of(std::string_view line, int column) {
  for (int k = 0; k < column; ++k) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
}

std::string first_line(const CorpusFile& file) {
  LineReader lines(open_source(file));
  std::string_view line;
  if (!lines.next(line)) return {};
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return std::string(line);
}

std::string place_of(const CorpusFile& file, Index offset) {
  try {
    LineReader lines(open_source(file));
    Index number = 1;
    for (; lines.offset() < offset; ++number) lines.skip(offset);
    return fmt::format("{}, line {}", file.path, number);
  } catch (const Error&) {
    return fmt::format("{}, the line at byte {}", file.path, offset);
  }
}

RecordReader::RecordReader(const CorpusOptions& options, const CorpusFile& file, Range range, Index buffer_bytes)
    : file_(&file), format_(options.format), range_(range), lines_(open_lines(file, range.begin, buffer_bytes)) {
  expects(format_ != Format::automatic, "a resolved format");
  if (range.begin > 0) {
    lines_.skip(range.end);
  } else {
    skip_preamble(options.header && format_ == Format::tsv);
  }
}

/// A byte order mark is no text; a header line is no document.
void RecordReader::skip_preamble(bool header) {
  if (lines_.drop_prefix(byte_order_mark)) mark_bytes_ = std::ssize(byte_order_mark);
  if (header) lines_.skip(std::numeric_limits<Index>::max());
}

Index RecordReader::offset() const { return lines_.offset() == mark_bytes_ ? 0 : lines_.offset(); }

bool RecordReader::next(Record& record) {
  if (format_ == Format::fasta) return next_sequence(record);
  if (offset() >= range_.end) return false;
  record.offset = offset();
  if (!lines_.next(record.text)) return false;
  if (format_ == Format::text) return true;
  const auto cell = column_of(record.text, file_->column);
  if (!cell) {
    throw Error(
        fmt::format("reading {}: the row has {} columns, but --column {} (counted from 0) was asked for; every row needs it: mend the row "
                    "or choose another "
                    "column",
                    place_of(*file_, record.offset), split_columns(record.text).size(), file_->column));
  }
  record.text = *cell;
  return true;
}

bool RecordReader::next_sequence(Record& record) {
  std::string_view line;
  while (lines_.peek() != '>') {  // lines of a record that began before the range
    const Index start = offset();
    if (start >= range_.end) return false;
    if (range_.begin > 0) {
      lines_.skip(range_.end);
      if (lines_.peek() < 0) return false;
      continue;
    }
    if (!lines_.next(line)) return false;
    if (!std::all_of(line.begin(), line.end(), is_blank)) {
      throw Error(fmt::format(
          "reading {}: sequence data before the first '>' line; a FASTA record starts with a line '>name': is --format fasta right?",
          place_of(*file_, start)));
    }
  }
  if (offset() >= range_.end) return false;
  record.offset = offset();
  lines_.skip(std::numeric_limits<Index>::max());
  sequence_.clear();
  for (int first = lines_.peek(); first >= 0 && first != '>'; first = lines_.peek()) {
    lines_.next(line);
    std::copy_if(line.begin(), line.end(), std::back_inserter(sequence_), [](char c) { return !is_blank(c); });
  }
  record.text = sequence_;
  return true;
}

Index RecordReader::bytes_done() const {
  return file_->compressed ? lines_.bytes_done() : std::clamp(lines_.offset(), range_.begin, range_.end) - range_.begin;
}

}  // namespace posgeom
