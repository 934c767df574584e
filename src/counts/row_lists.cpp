// Rows as lists of tokens and counts, and as cells that go from one rank to another.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "counts/rows.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::size_t slack = 16;  ///< of list_occupied()

/// Adds to a list, ascending from `begin` on, what its cells could not hold. Few of the carries have a cell that is 0, and is not listed.
void add_carries(std::span<const Carry> carries, Count unit, std::size_t begin, std::vector<Token>& token, std::vector<Count>& count) {
  std::vector<Carry> alone;
  std::size_t k = begin;
  for (const Carry& carry : carries) {
    const auto id = static_cast<Token>(carry.id);
    if (k < token.size() && token[k] < id) {
      // It stands there where all ids in between are listed, as frequent ones are; else before.
      const std::size_t last = std::min(k + static_cast<std::size_t>(id - token[k]), token.size());
      const auto from = token.begin() + static_cast<std::ptrdiff_t>(k), to = token.begin() + static_cast<std::ptrdiff_t>(last);
      k = last < token.size() && token[last] == id ? last : static_cast<std::size_t>(std::lower_bound(from, to, id) - token.begin());
    }
    if (k < token.size() && token[k] == id) {
      count[k] += Count{carry.times} * unit;
    } else {
      alone.push_back(carry);
    }
  }
  if (alone.empty()) return;
  // From the end, where there is room.
  std::size_t from = token.size(), to = from + alone.size();
  token.resize(to);
  count.resize(to);
  for (auto carry = alone.rbegin(); carry != alone.rend();) {
    --to;
    if (from > begin && token[from - 1] > static_cast<Token>(carry->id)) {
      --from;
      token[to] = token[from];
      count[to] = count[from];
    } else {
      token[to] = static_cast<Token>(carry->id);
      count[to] = Count{carry->times} * unit;
      ++carry;
    }
  }
}

}  // namespace

/// The cells of a row that has all of them.
template <class Id>
template <class Visit>
void Rows<Id>::with_cells(const Row& row, Visit&& visit) const {
  switch (row.form) {
    case Form::sparse:
      expects(false, "a row with all cells");
      return;
    case Form::narrow:
      return visit(cells<std::uint8_t>(row));
    case Form::middle:
      return visit(cells<std::uint16_t>(row));
    case Form::wide:
      return visit(cells<std::uint32_t>(row));
    case Form::full:
      return visit(cells<std::uint64_t>(row));
  }
}

template <class Id>
void Rows<Id>::append(Index position, std::vector<Token>& token, std::vector<Count>& count) const {
  const Row& row = rows_.at(static_cast<std::size_t>(position));
  const std::size_t before = token.size();
  if (row.form == Form::sparse) {
    token.insert(token.end(), ids(row), ids(row) + row.entries);
    count.insert(count.end(), cells<std::uint8_t>(row), cells<std::uint8_t>(row) + row.entries);
  } else {
    with_cells(row, [&](const auto* cells) {
      const std::size_t end = before + count_occupied(cells, tile_entries());
      token.resize(end + slack);
      count.resize(end + slack);
      list_occupied(cells, tile_entries(), token.data() + before, count.data() + before);
      token.resize(end);
      count.resize(end);
    });
  }
  add_carries(row.carries, carry_unit(row.form), before, token, count);
}

template <class Id>
Index Rows<Id>::nonzeros(Index position) const {
  const Row& row = rows_.at(static_cast<std::size_t>(position));
  std::size_t found = row.entries;
  if (row.form != Form::sparse) with_cells(row, [&](const auto* cells) { found = count_occupied(cells, tile_entries()); });
  return static_cast<Index>(found + carries_alone(row));
}

/// Carries of ids whose cells are 0.
template <class Id>
std::size_t Rows<Id>::carries_alone(const Row& row) const {
  std::size_t alone = 0;
  if (row.form == Form::sparse) {
    const std::span<const Id> listed(ids(row), row.entries);
    auto at = listed.begin();
    for (const Carry& carry : row.carries) {
      at = std::lower_bound(at, listed.end(), static_cast<Id>(carry.id));
      if (at == listed.end() || *at != static_cast<Id>(carry.id)) ++alone;
    }
  } else {
    with_cells(row, [&](const auto* cells) {
      for (const Carry& carry : row.carries) alone += cells[carry.id] == 0 ? 1 : 0;
    });
  }
  return alone;
}

/// To cells that carry; what they cannot hold goes to carries_.
template <class Id>
template <class Cell>
void Rows<Id>::add_to_cells(Row& row, Cell* cell, std::span<const Token> token, std::span<const Count> count) {
  const Count unit = carry_unit(row.form);
  for (std::size_t k = 0; k < token.size(); ++k) {
    const auto id = static_cast<std::size_t>(token[k]);
    const Count sum = cell[id] + count[k];
    cell[id] = static_cast<Cell>(sum % unit);
    if (sum >= unit) [[unlikely]]
      carries_.push_back({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(sum / unit)});
  }
  merge_carries(row);
}

template <class Id>
void Rows<Id>::add(Index position, std::span<const Token> token, std::span<const Count> count) {
  expects(token.size() == count.size(), "a count a token");
  Row& row = rows_.at(static_cast<std::size_t>(position));
  expect(row, std::accumulate(count.begin(), count.end(), Count{0}));
  const auto add = [&](auto* cell) {
    using Cell = std::remove_reference_t<decltype(*cell)>;
    for (std::size_t k = 0; k < token.size(); ++k) cell[static_cast<std::size_t>(token[k])] += static_cast<Cell>(count[k]);
  };
  switch (row.form) {
    case Form::sparse:
      load_sparse(row);
      add_to_cells(row, tile_, token, count);
      store_sparse(row);
      break;
    case Form::narrow:
      add_to_cells(row, cells<std::uint8_t>(row), token, count);
      break;
    case Form::middle:
      add_to_cells(row, cells<std::uint16_t>(row), token, count);
      break;
    case Form::wide:
      add(cells<std::uint32_t>(row));
      break;
    case Form::full:
      add(cells<std::uint64_t>(row));
      break;
  }
  keep_carries_few(row);
}

template <class Id>
RowCells Rows<Id>::row_cells(Index position) const {
  const Row& row = rows_.at(static_cast<std::size_t>(position));
  if (row.form != Form::narrow && row.form != Form::middle) return {};
  RowCells cells{row.form == Form::narrow ? 8 : 16,
                 {row.block.data, static_cast<std::size_t>(row.block.bytes)},
                 row.carries,
                 carry_unit(row.form),
                 row.total};
  for (const Carry& carry : row.carries) cells.cell_total -= Count{carry.times} * cells.carry_unit;
  return cells;
}

template <class Id>
void Rows<Id>::add_cells(Index position, int bits, Index first, std::span<const std::byte> cells, Count tokens) {
  expects((bits == 8 || bits == 16) && first >= 0 && first + std::ssize(cells) * 8 / bits <= tile_size_, "cells of a row");
  Row& row = rows_.at(static_cast<std::size_t>(position));
  expect(row, tokens);
  if (bits == 16) {
    // A tile of these could be too full for cells of 8 bits.
    if (row.form == Form::sparse || row.form == Form::narrow) change(row, Form::middle);
    std::memcpy(tile_ + first, cells.data(), cells.size());
  } else {
    if (row.form == Form::sparse) load_sparse(row);
    add_to_tile(tile_ + first, reinterpret_cast<const std::uint8_t*>(cells.data()), cells.size());
  }
  empty_tile(row);
  keep_carries_few(row);
}

template class Rows<std::uint16_t>;
template class Rows<Token>;

}  // namespace posgeom
