#include "counts/count_tables.hpp"

namespace posgeom {

std::vector<TableKind> table_kinds(const CountOptions& options) {
  std::vector<TableKind> kinds;
  if (const Resampling& resampling = options.resampling; resampling.count > 0) {
    for (Index replicate = resampling.first; replicate < resampling.first + resampling.count; ++replicate) {
      if (options.sequences == Sequences::document) {
        kinds.push_back({options.lengths.back(), false, replicate});
      } else {
        for (const Index length : options.lengths) kinds.push_back({length, false, replicate});
      }
    }
    return kinds;
  }
  if (options.sequences == Sequences::document) {
    kinds.push_back({options.lengths.back(), false});  // its first rows are the tables of the smaller lengths
  } else {
    for (const Index length : options.lengths) kinds.push_back({length, false});
  }
  if (options.noise.shuffle) {
    for (const Index length : options.lengths) kinds.push_back({length, true});
  }
  return kinds;
}

MemoryShares memory_shares(const CountOptions& options, int ranks, Index tokens) {
  constexpr Index most_columns = Index{256} << 20U, least_columns = Index{1} << 20U;
  // 2 MiB: large enough for any network, and small enough to be in cache when it is unpacked.
  constexpr Index most_message = Index{1} << 18U;
  MemoryShares shares;
  shares.memory = options.memory_bytes;
  shares.columns = most_columns;
  if (ranks > 1) shares.message = std::max(std::min(options.chunk, most_message), least_message);
  if (shares.memory > 0) {
    // A quarter for columns and an eighth for the two messages at most: the rows are what memory is for.
    shares.columns = std::min(std::clamp(shares.memory / 8, least_columns, most_columns), shares.memory / 4);
    if (ranks > 1) shares.message = std::max(std::min(shares.message, shares.memory / 128), least_message);
  }
  const std::vector<TableKind> kinds = table_kinds(options);
  Index positions = 0;
  for (const TableKind& kind : kinds) positions += kind.length;
  for (const TableKind& kind : kinds) {
    const double share = static_cast<double>(kind.length) / static_cast<double>(positions) / (options.noise.split ? 2 : 1);
    Index bytes = static_cast<Index>(share * static_cast<double>(shares.columns));
    if (options.sequences == Sequences::packed && tokens > 0) {
      // Columns that are never filled would only be memory that is touched for the first time.
      constexpr Index room = 128;  // ids; ranks' parts are not quite equal
      bytes = std::min(bytes, (tokens / kind.length / ranks + room) * kind.length * static_cast<Index>(sizeof(Token)));
    }
    shares.buffer_bytes.push_back(bytes);
  }
  return shares;
}

CountTables::CountTables(const CountOptions& options, Index vocab_size, const MemoryShares& shares, int rank, int ranks)
    : rank_(rank), ranks_(ranks), split_(options.noise.split) {
  const std::vector<TableKind> kinds = table_kinds(options);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Entry& entry = entries_.emplace_back();
    entry.kind = kinds[k];
    for (int half = 0; half < (split_ ? 2 : 1); ++half) entry.halves.emplace_back(kinds[k].length, vocab_size, shares.buffer_bytes[k]);
  }
}

void CountTables::flush() {
  for (Entry& entry : entries_) {
    for (PositionTable& table : entry.halves) table.flush();
  }
}

void CountTables::release_columns() {
  for (Entry& entry : entries_) {
    for (PositionTable& table : entry.halves) table.release_columns();
  }
}

Index CountTables::bytes() const {
  Index sum = 0;
  for (const Entry& entry : entries_) {
    for (const PositionTable& table : entry.halves) sum += table.bytes();
  }
  return sum;
}

}  // namespace posgeom
