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
LineReader open_lines(const CorpusFile& file, Range range, Index buffer_bytes) {
  constexpr Index small = 4096;
  const Index start = std::max(range.begin - 1, Index{0});
  // No more than is wanted: the buffer grows with a line that is longer.
  if (!file.compressed) buffer_bytes = std::clamp(std::min(range.end - start, file.bytes), Index{1}, std::max(small, buffer_bytes));
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
    : file_(&file), format_(options.format), range_(range), lines_(open_lines(file, range, buffer_bytes)) {
  expects(format_ != Format::automatic && !holds_tokens(format_), "a resolved format of text");
  if (format_ == Format::jsonl) json_.emplace(json_field_of(options.column), options.split_column);
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
  switch (format_) {
    case Format::fasta:
      if (!next_header(record)) return false;
      read_sequence(record);
      return true;
    case Format::tsv:
      if (!next_line(record)) return false;
      read_row(record);
      return true;
    case Format::jsonl:
      do {
        if (!next_line(record)) return false;
      } while (is_blank_line(record.text));
      read_object(record);
      return true;
    default:
      return next_line(record);
  }
}

bool RecordReader::skip() {
  Record record;
  switch (format_) {
    case Format::fasta:
      if (!next_header(record)) return false;
      for (int first = lines_.peek(); first >= 0 && first != '>'; first = lines_.peek()) lines_.skip(std::numeric_limits<Index>::max());
      return true;
    case Format::jsonl:
      do {
        if (!next_line(record)) return false;
      } while (is_blank_line(record.text));
      return true;
    default:
      return next(record);
  }
}

void RecordReader::set_end(Index end) {
  expects(range_.begin == 0, "a range from the beginning");
  range_.end = end;
}

bool RecordReader::next_line(Record& record) {
  if (offset() >= range_.end) return false;
  record.offset = offset();
  return lines_.next(record.text);
}

void RecordReader::check_row(const Record& record, std::optional<std::string_view> cell, int column, std::string_view option) const {
  if (cell) return;
  throw Error(fmt::format(
      "reading {}: the row has {} columns, but {} {} (counted from 0) was asked for; every row needs it: mend the row or choose "
      "another column",
      place_of(*file_, record.offset), split_columns(record.text).size(), option, column));
}

void RecordReader::read_row(Record& record) {
  const auto cell = column_of(record.text, file_->column);
  check_row(record, cell, file_->column, "--column");
  if (file_->split_column >= 0) {
    const auto group = column_of(record.text, file_->split_column);
    check_row(record, group, file_->split_column, "--split-by column");
    record.group = group_of(*group);
  }
  record.text = *cell;
}

void RecordReader::read_object(Record& record) {
  try {
    const JsonRow row = json_->read(record.text);
    record.text = row.text;
    record.group = row.group;
  } catch (const Error& error) {
    throw Error(fmt::format("reading {}: {}", place_of(*file_, record.offset), error.what()), error.kind());
  }
}

/// Goes to the next record of a FASTA file and behind its header line.
bool RecordReader::next_header(Record& record) {
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
  return true;
}

void RecordReader::read_sequence(Record& record) {
  std::string_view line;
  sequence_.clear();
  for (int first = lines_.peek(); first >= 0 && first != '>'; first = lines_.peek()) {
    lines_.next(line);
    std::copy_if(line.begin(), line.end(), std::back_inserter(sequence_), [](char c) { return !is_blank(c); });
  }
  record.text = sequence_;
}

Index RecordReader::bytes_done() const {
  return file_->compressed ? lines_.bytes_done() : std::clamp(lines_.offset(), range_.begin, range_.end) - range_.begin;
}

}  // namespace posgeom
