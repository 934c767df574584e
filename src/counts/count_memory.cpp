#include <algorithm>
#include <cmath>
#include <numeric>

#include "counts/count_tables.hpp"

namespace posgeom {

double expected_types(std::span<const Count> unigram, Index vocab_size, double draws) {
  const double size = static_cast<double>(vocab_size);
  if (unigram.empty()) return size > 1 ? -size * std::expm1(draws * std::log1p(-1 / size)) : std::min(draws, size);
  const double total = static_cast<double>(std::accumulate(unigram.begin(), unigram.end(), Count{0}));
  double sum = 0;
  for (const Count count : unigram) {
    const double p = static_cast<double>(count) / total;
    sum += p < 1 ? -std::expm1(draws * std::log1p(-p)) : std::min(draws, 1.0);
  }
  return sum;
}

namespace {

/// Bytes of one kind of table on one rank.
struct TableBytes {
  double columns = 0;     ///< given back before rows are compressed
  double scratch = 0;     ///< whatever is counted
  double own = 0;         ///< rows of positions that the rank owns, in the end
  double others = 0;      ///< rows of the other positions, if none were handed over before the end
  double compressed = 0;  ///< its own rows in the end
  double words = 0;       ///< of messages to one other rank, if all goes at once
};

}  // namespace

Index count_memory(const CountOptions& options, Index vocab_size, Index token_count, std::span<const Count> unigram, int ranks) {
  const MemoryShares shares = memory_shares(options, ranks, token_count);
  const std::vector<TableKind> kinds = table_kinds(options);
  const double halves = options.noise.split ? 2 : 1;
  std::vector<TableBytes> tables;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Index length = kinds[k].length;
    const double draws = static_cast<double>(token_count) / static_cast<double>(length);
    const auto distinct = [&](double tokens) {
      return token_count == 0 ? static_cast<double>(vocab_size) : expected_types(unigram, vocab_size, tokens);
    };
    const auto row = [&](double tokens) {
      return static_cast<double>(PositionTable::bytes_of_row(vocab_size, std::llround(distinct(tokens)), std::llround(tokens)));
    };
    const double owned = static_cast<double>(owned_positions(length, 0, ranks).rows);
    TableBytes& table = tables.emplace_back();
    // An empty table has mapped its buffers, and touched none of them.
    const PositionTable empty(length, vocab_size, shares.buffer_bytes[k]);
    table.columns = halves * static_cast<double>(empty.column_bytes());
    table.scratch = halves * static_cast<double>(empty.bytes() - empty.column_bytes());
    table.own = halves * owned * row(draws / halves);
    table.others = halves * (static_cast<double>(length) - owned) * row(draws / halves / ranks);
    table.words = ranks > 1 ? halves * owned * (distinct(draws / halves / ranks) + 3) : 0;
    table.compressed = owned * (distinct(draws) + (halves > 1 ? distinct(draws / halves) : 0)) * (sizeof(Token) + sizeof(Count));
  }
  double fixed = 0, columns = 0, own = 0, others = 0, words = 0;
  for (const TableBytes& table : tables) {
    words += table.words;
    fixed += table.columns + table.scratch;
    columns += table.columns;
    own += table.own;
    others += table.others;
  }
  // Others' rows are handed over when they no longer fit. Of a message's room only what is sent is touched.
  const double messages = 2.0 * sizeof(std::uint64_t) * std::min(words, static_cast<double>(shares.message));
  double most = fixed + messages + own + others;
  if (shares.memory > 0) most = std::max(fixed + messages + own, std::min(most, static_cast<double>(shares.memory)));
  // In the end each table's rows are replaced by compressed ones, position by position, and then its buffers go.
  double left = fixed - columns + own, compressed = 0;
  for (const TableBytes& table : tables) {
    left -= table.own;
    compressed += table.compressed;
    most = std::max(most, left + compressed);
    left -= table.scratch;
  }
  return std::llround(most);
}

}  // namespace posgeom
