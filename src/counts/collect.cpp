#include <sys/mman.h>
#include <unistd.h>

#include <limits>

#include "counts/count_tables.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

struct Row {
  std::vector<Token> token;
  std::vector<Count> count;
};

/// a + sign * b, without zeros, appended to `token` and `count`.
void append_sum(const Row& a, const Row& b, Count sign, std::vector<Token>& token, std::vector<Count>& count) {
  constexpr Token last = std::numeric_limits<Token>::max();
  std::size_t i = 0, j = 0;
  while (i < a.token.size() || j < b.token.size()) {
    const Token from_a = i < a.token.size() ? a.token[i] : last, from_b = j < b.token.size() ? b.token[j] : last;
    const Token v = std::min(from_a, from_b);
    Count sum = 0;
    if (from_a == v) sum += a.count[i++];
    if (from_b == v) sum += sign * b.count[j++];
    if (sum == 0) continue;
    token.push_back(v);
    count.push_back(sum);
  }
}

void copy_row(const PositionRows& rows, Index k, Row& row) {
  const auto begin = rows.indptr[static_cast<std::size_t>(k)], end = rows.indptr[static_cast<std::size_t>(k + 1)];
  row.token.assign(rows.token.begin() + begin, rows.token.begin() + end);
  row.count.assign(rows.count.begin() + begin, rows.count.begin() + end);
}

/// Room for so many, with what append_row() needs while it appends.
void reserve(PositionRows& rows, Index nonzeros) {
  constexpr Index slack = 64;
  rows.token.reserve(static_cast<std::size_t>(nonzeros + slack));
  rows.count.reserve(static_cast<std::size_t>(nonzeros + slack));
}

/// Gives the pages beyond the end back to the system: a smaller vector could only be had by holding both for a while.
template <class T>
void release_beyond_end(std::vector<T>& values) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto last = reinterpret_cast<std::uintptr_t>(values.data() + values.capacity()) / page * page;
  const auto first = (reinterpret_cast<std::uintptr_t>(values.data() + values.size()) + page - 1) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

/// Forgets the rows from `row` on; their memory is given back in pieces that are worth a system call.
void cut_rows(PositionRows& rows, Index row) {
  constexpr Index piece = Index{1} << 22U;
  const Index before = std::ssize(rows.token), after = rows.indptr[static_cast<std::size_t>(row)];
  rows.token.resize(static_cast<std::size_t>(after));
  rows.count.resize(static_cast<std::size_t>(after));
  if (before / piece == after / piece) return;
  release_beyond_end(rows.token);
  release_beyond_end(rows.count);
}

}  // namespace

Index CountTables::collected_bytes() {
  flush();
  Index nonzeros = 0;
  for (const Entry& entry : entries_) {
    const OwnedPositions own = owned(entry, rank_);
    for (Index i = own.first; i < own.first + own.rows; ++i) {
      // With halves the sum of both bounds what their union and half a take together.
      for (const PositionTable& table : entry.halves) {
        nonzeros += table.nonzeros(i) * (split_ && &table == entry.halves.data() ? 2 : 1);
      }
    }
  }
  return nonzeros * static_cast<Index>(sizeof(Token) + sizeof(Count));
}

CountTable CountTables::collect(Entry& entry) {
  const OwnedPositions own = owned(entry, rank_);
  CountTable table{entry.kind.length, entry.kind.shuffled, {}, {}, entry.kind.replicate};
  table.all.first = own.first;
  if (split_) table.half_a.first = own.first;
  PositionTable& half = entry.halves.front();
  PositionTable& rest = entry.halves.back();
  // A first pass for the sizes: vectors that grow by doubling would hold up to three times as much. What is reserved for tokens that both
  // halves have, twice, is never touched.
  Index in_half = 0, in_all = 0;
  for (Index i = own.first; i < own.first + own.rows; ++i) {
    in_half += half.nonzeros(i);
    if (split_) in_all += rest.nonzeros(i);
  }
  in_all += in_half;
  reserve(table.all, in_all);
  if (split_) reserve(table.half_a, in_half);
  for (Index i = own.first; i < own.first + own.rows; ++i) {
    if (split_) {
      const std::size_t begin = table.half_a.token.size();
      half.append_row(i, table.half_a.token, table.half_a.count);
      table.half_a.indptr.push_back(std::ssize(table.half_a.token));
      half.clear_row(i);
      rest.add_row(i, std::span<const Token>(table.half_a.token).subspan(begin), std::span<const Count>(table.half_a.count).subspan(begin));
    }
    rest.append_row(i, table.all.token, table.all.count);
    table.all.indptr.push_back(std::ssize(table.all.token));
    rest.clear_row(i);
  }
  return table;
}

std::vector<CountTable> CountTables::collect(bool last) {
  release_columns();
  std::vector<CountTable> tables;
  for (Entry& entry : entries_) {
    tables.push_back(collect(entry));
    if (last) entry.halves.clear();
  }
  return tables;
}

void CountTables::check(const std::vector<CountTable>& tables) const {
  expects(tables.size() == entries_.size(), "counts of the same options");
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const OwnedPositions own = owned(entries_[k], rank_);
    expects(tables[k].length == entries_[k].kind.length && tables[k].shuffled == entries_[k].kind.shuffled &&
                tables[k].replicate == entries_[k].kind.replicate,
            "counts of the same options");
    expects(tables[k].all.rows() == own.rows && (own.rows == 0 || tables[k].all.first == own.first), "the positions that this rank owns");
    expects(tables[k].half_a.rows() == (split_ ? own.rows : 0), "halves where they are counted");
  }
}

void CountTables::add_row(Entry& entry, const CountTable& table, Index k) {
  const Index position = table.all.first + k;
  Row all, a, b;
  copy_row(table.all, k, all);
  if (!split_) {
    entry.halves[0].add_row(position, all.token, all.count);
    return;
  }
  copy_row(table.half_a, k, a);
  append_sum(all, a, -1, b.token, b.count);
  entry.halves[0].add_row(position, a.token, a.count);
  entry.halves[1].add_row(position, b.token, b.count);
}

void CountTables::add(const std::vector<CountTable>& tables) {
  check(tables);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    for (Index i = 0; i < tables[k].all.rows(); ++i) add_row(entries_[k], tables[k], i);
  }
}

void CountTables::take_back(std::vector<CountTable>&& tables) {
  check(tables);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    CountTable table = std::move(tables[k]);
    for (Index i = table.all.rows(); i-- > 0;) {
      add_row(entries_[k], table, i);
      cut_rows(table.all, i);
      if (split_) cut_rows(table.half_a, i);
    }
  }
}

}  // namespace posgeom
