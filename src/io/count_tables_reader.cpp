#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "io/count_tables.hpp"
#include "posgeom/error.hpp"

namespace posgeom::io {
namespace {

constexpr Index longest_length = std::numeric_limits<std::int32_t>::max();  // positions are stored in 32 bits

/// n of "length_<n>" as it is written; 0 for other names.
Index length_in(const std::string& name) {
  constexpr std::string_view prefix = "length_";
  if (!name.starts_with(prefix)) return 0;
  Index length = 0;
  const auto result = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), length);
  const bool is_length = result.ec == std::errc() && length <= longest_length && name == fmt::format("{}{}", prefix, length);
  return is_length ? std::max<Index>(length, 0) : 0;
}

std::vector<Index> checked_indptr(const StoreReader& reader, const std::string& group, Index length, Index nonzeros) {
  std::vector<Index> indptr = reader.values<Index>(group + "/indptr", {length + 1});
  if (indptr.front() != 0 || indptr.back() != nonzeros) {
    reader.refuse(fmt::format("{}/indptr runs from {} to {}, expected 0 to {}", group, indptr.front(), indptr.back(), nonzeros));
  }
  for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
    if (indptr[i] > indptr[i + 1] || indptr[i + 1] > nonzeros) reader.refuse(fmt::format("{}/indptr falls at position {}", group, i));
  }
  return indptr;
}

/// The sums of the rows, whose tokens must ascend and whose counts be positive.
std::vector<Count> checked_totals(const StoreReader& reader, const std::string& group, const PositionRows& rows, Index vocab_size) {
  std::vector<Count> totals;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    Token previous = -1;
    Count total = 0;
    for (auto k = static_cast<std::size_t>(rows.indptr[row]); k < static_cast<std::size_t>(rows.indptr[row + 1]); ++k) {
      const Token token = rows.token[k];
      const Count count = rows.count[k];
      if (token <= previous || token >= vocab_size) {
        reader.refuse(fmt::format("{}/token at position {} has {} after {}, expected ascending ids below {}", group, rows.first + i, token,
                                  previous, vocab_size));
      }
      if (count <= 0 || count > std::numeric_limits<Count>::max() - total) {
        reader.refuse(fmt::format("{}/count at position {} has {} for token {}, expected at least 1, and a sum of 64 bits", group,
                                  rows.first + i, count, token));
      }
      previous = token;
      total += count;
    }
    totals.push_back(total);
  }
  return totals;
}

/// The corpus's own table has these sums; shuffling keeps them, since a sequence keeps its length; half a is a part.
void check_against_position_total(const StoreReader& reader, const CountsSummary& summary, const RowRange& range, const std::string& group,
                                  const std::vector<Count>& totals) {
  const bool null = range.table == CountsTable::shuffled || range.table == CountsTable::shuffled_half_a;
  if (null && range.unfinished) return;
  const std::string name = positions_group(summary.sequences, CountsTable::corpus, range.length) + "/position_total";
  const Index extent = summary.sequences == Sequences::document ? summary.lengths.front() : range.length;
  const auto stored = reader.run<Count>(name, extent, range.first, range.count);
  const bool half = range.table == CountsTable::corpus_half_a || range.table == CountsTable::shuffled_half_a;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (half ? totals[i] <= stored[i] : totals[i] == stored[i]) continue;
    reader.refuse(fmt::format("{} is {} at position {}, but the counts of {} sum to {}{}", name, stored[i],
                              range.first + static_cast<Index>(i), group, totals[i], half ? ", and half a is a part of all" : ""));
  }
}

}  // namespace

CountsSummary summary_of(const StoreReader& reader) {
  CountsSummary s;
  const std::string sequences = reader.text("sequences");
  try {
    s.sequences = sequences_named(sequences);
  } catch (const Error&) {
    reader.refuse(fmt::format("the attribute sequences is `{}`, expected document, chunk or packed", sequences));
  }
  // Files of the first version have neither halves nor this attribute.
  s.split = reader.has_attribute("split") && reader.integer("split") != 0;
  s.vocab_size = reader.integer("vocab_size");
  s.document_count = reader.integer("document_count");
  s.empty_document_count = reader.integer("empty_document_count");
  s.token_count = reader.integer("token_count");
  s.longest_document = reader.integer("longest_document");
  const bool one_table = s.sequences == Sequences::document;
  if (one_table) {
    s.lengths.push_back(reader.integer("length"));
    if (s.lengths.front() < 1 || s.lengths.front() > longest_length) {
      reader.refuse(fmt::format("the attribute length is {}, expected 1 to {}", s.lengths.front(), longest_length));
    }
  }
  for (const std::string& name : reader.names_in("/")) {
    const Index length = length_in(name);
    if (length < 1) continue;
    if (!one_table && reader.has(fmt::format("/{}/counts", name))) s.lengths.push_back(length);
    if (reader.has(fmt::format("/{}/counts_shuffled", name))) s.shuffled_lengths.push_back(length);
  }
  std::sort(s.lengths.begin(), s.lengths.end());
  std::sort(s.shuffled_lengths.begin(), s.shuffled_lengths.end());
  s.shuffled = !s.shuffled_lengths.empty();
  if (s.lengths.empty()) reader.refuse("no group /length_<n>/counts is there, expected one a length");
  const Index longest = s.lengths.back();
  for (const Index length : s.shuffled_lengths) {
    if (one_table ? length <= longest : std::binary_search(s.lengths.begin(), s.lengths.end(), length)) continue;
    reader.refuse(fmt::format("/length_{}/counts_shuffled is there, but the corpus's own counts are not", length));
  }
  if (reader.has("/vocabulary")) {
    const std::vector<Index> shape = reader.shape("/vocabulary");
    if (shape.size() != 1 || shape[0] != s.vocab_size) {
      reader.refuse(fmt::format("/vocabulary has {} entries, expected vocab_size = {}", shape.empty() ? 0 : shape[0], s.vocab_size));
    }
  }
  return s;
}

CheckedRows read_count_rows(const StoreReader& reader, const CountsSummary& summary, const RowRange& range) {
  const std::string group = counts_group(summary.sequences, range.table, range.length);
  const std::vector<Index> shape = reader.shape(group + "/token");
  const Index nonzeros = shape.size() == 1 ? shape[0] : -1;  // another shape is refused where it is read
  if (nonzeros < 0) reader.values<Token>(group + "/token", {-1});
  const std::vector<Index> indptr = checked_indptr(reader, group, range.length, nonzeros);
  const Index begin = indptr[static_cast<std::size_t>(range.first)];
  const Index end = indptr[static_cast<std::size_t>(range.first + range.count)];
  CheckedRows read;
  read.rows.first = range.first;
  read.rows.indptr.assign(indptr.begin() + range.first, indptr.begin() + range.first + range.count + 1);
  for (Index& bound : read.rows.indptr) bound -= begin;
  read.rows.token = reader.run<Token>(group + "/token", nonzeros, begin, end - begin);
  read.rows.count = reader.run<Count>(group + "/count", nonzeros, begin, end - begin);
  read.total = checked_totals(reader, group, read.rows, summary.vocab_size);
  check_against_position_total(reader, summary, range, group, read.total);
  return read;
}

}  // namespace posgeom::io
