#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "counts/rows.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index line = 64;

Index rounded(Index bytes, Index unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

template <class Id>
Index Rows<Id>::room_for(Index entries) {
  const auto size = static_cast<std::uint64_t>(entries);
  return rounded(entries, std::max(line, static_cast<Index>(std::bit_floor(size) / 16)));
}

template <class Id>
typename Rows<Id>::Form Rows<Id>::next(Form form, Count total, const RowLimits& limits) {
  if (form == Form::sparse) return Form::narrow;
  if (form == Form::narrow && total <= limits.middle) return Form::middle;
  return total <= limits.wide && form != Form::wide ? Form::wide : Form::full;
}

template <class Id>
Count Rows<Id>::carry_unit(Form form) {
  return form == Form::middle ? Count{1} << 16 : Count{1} << 8;
}

template <class Id>
Index Rows<Id>::cell_bytes(Form form) const {
  const Index width = form == Form::full ? 8 : form == Form::wide ? 4 : form == Form::middle ? 2 : 1;
  return rounded(vocab_size_, line) * width;  // as many cells as the tile has
}

template <class Id>
template <class Visit>
void Rows<Id>::for_each(const Row& row, Visit&& visit) const {
  auto carried = row.carries.begin();
  const Count unit = carry_unit(row.form);
  const auto with_carry = [&](std::size_t id, Count count) {
    // A sparse row has no cell where it would be 0.
    for (; carried != row.carries.end() && carried->id < id; ++carried) visit(std::size_t{carried->id}, Count{carried->times} * unit);
    if (carried != row.carries.end() && carried->id == id) count += Count{(carried++)->times} * unit;
    if (count > 0) visit(id, count);
  };
  const auto all = [&](const auto* cells) {
    for (std::size_t id = 0; id < static_cast<std::size_t>(vocab_size_); ++id) with_carry(id, static_cast<Count>(cells[id]));
  };
  switch (row.form) {
    case Form::sparse:
      for (std::size_t k = 0; k < row.entries; ++k) with_carry(static_cast<std::size_t>(ids(row)[k]), cells<std::uint8_t>(row)[k]);
      with_carry(static_cast<std::size_t>(vocab_size_), 0);
      return;
    case Form::narrow:
      return all(cells<std::uint8_t>(row));
    case Form::middle:
      return all(cells<std::uint16_t>(row));
    case Form::wide:
      return all(cells<std::uint32_t>(row));
    case Form::full:
      return all(cells<std::uint64_t>(row));
  }
}

/// Adds to a row that is not sparse.
template <class Id>
void Rows<Id>::store(Row& row, std::size_t id, Count count) {
  const auto carrying = [&](auto* cells) {
    const Count sum = cells[id] + count;
    cells[id] = static_cast<std::remove_reference_t<decltype(*cells)>>(sum % carry_unit(row.form));
    carry(row, id, sum / carry_unit(row.form));
  };
  switch (row.form) {
    case Form::sparse:
      expects(false, "a row with all cells");
      return;
    case Form::narrow:
      return carrying(cells<std::uint8_t>(row));
    case Form::middle:
      return carrying(cells<std::uint16_t>(row));
    case Form::wide:
      cells<std::uint32_t>(row)[id] += static_cast<std::uint32_t>(count);
      return;
    case Form::full:
      cells<std::uint64_t>(row)[id] += static_cast<std::uint64_t>(count);
      return;
  }
}

template <class Id>
void Rows<Id>::change(Row& row, Form form) {
  Row changed;
  changed.form = form;
  changed.total = row.total;
  changed.block = memory_.allocate(cell_bytes(form));
  std::memset(changed.block.data, 0, static_cast<std::size_t>(changed.block.bytes));
  for_each(row, [&](std::size_t id, Count count) { store(changed, id, count); });
  memory_.release(row.block);
  row = std::move(changed);
}

/// Before `tokens` are added: a form that holds them however they are distributed.
template <class Id>
void Rows<Id>::expect(Row& row, Count tokens) {
  row.total += tokens;
  const auto limit = [&] {
    if (row.form == Form::full) return row.total;
    return row.form == Form::wide ? limits_.wide : row.form == Form::middle ? limits_.middle : limits_.narrow;
  };
  while (row.total > limit()) change(row, next(row.form, row.total, limits_));
}

/// After something was added: carries that take more memory than wider cells would give way to these.
template <class Id>
void Rows<Id>::keep_carries_few(Row& row) {
  while (std::ssize(row.carries) * static_cast<Index>(sizeof(Carry)) > vocab_size_ * (row.form == Form::middle ? 2 : 1)) {
    change(row, next(row.form, row.total, limits_));
  }
}

template <class Id>
void Rows<Id>::carry(Row& row, std::size_t id, Count times) {
  if (times == 0) return;
  auto& carries = row.carries;
  auto place = std::lower_bound(carries.begin(), carries.end(), id, [](const Carry& carried, std::size_t key) { return carried.id < key; });
  if (place == carries.end() || place->id != id) {
    const auto offset = place - carries.begin();
    // Small steps: what the list has room for is what it takes.
    if (carries.size() == carries.capacity()) carries.reserve(carries.size() + carries.size() / 8 + 8);
    place = carries.insert(carries.begin() + offset, {static_cast<std::uint32_t>(id), 0});
  }
  place->times += static_cast<std::uint32_t>(times);
}

template <class Id>
Index Rows<Id>::bytes() const {
  std::size_t bytes = rows_.capacity() * sizeof(Row) + static_cast<std::size_t>(tile_memory_.bytes()) + found_id_.capacity() * sizeof(Id) +
                      found_.capacity() * sizeof(std::uint16_t) + (carries_.capacity() + merged_.capacity()) * sizeof(Carry);
  for (const Row& row : rows_) bytes += row.carries.capacity() * sizeof(Carry);
  return memory_.bytes() + static_cast<Index>(bytes);
}

template <class Id>
Index Rows<Id>::bytes(Index first, Index count) const {
  Index bytes = 0;
  for (Index position = first; position < first + count; ++position) {
    const Row& row = rows_.at(static_cast<std::size_t>(position));
    bytes += row.block.bytes + static_cast<Index>(sizeof(Row) + row.carries.capacity() * sizeof(Carry));
  }
  return bytes;
}

template <class Id>
Index Rows<Id>::bytes_of(Index vocab_size, Index nonzeros, Index carried, Index carried_far, Count tokens) {
  constexpr Index entry = sizeof(Carry);
  Index bytes = sizeof(Row);
  if (carried * entry <= vocab_size) {
    const bool sparse = nonzeros <= sparse_limit(vocab_size);
    bytes += carried * entry + (sparse ? room_for(nonzeros) * static_cast<Index>(1 + sizeof(Id)) : rounded(vocab_size, line));
  } else if (carried_far * entry <= 2 * vocab_size) {
    bytes += carried_far * entry + 2 * rounded(vocab_size, line);
  } else {
    bytes += rounded(vocab_size, line) * (tokens > RowLimits{}.wide ? 8 : 4);
  }
  return bytes;
}

template class Rows<std::uint16_t>;
template class Rows<Token>;

}  // namespace posgeom
