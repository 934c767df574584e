#include "counts/rows.hpp"

#include <algorithm>
#include <cstring>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index line = 64;
constexpr std::size_t piece = 512;                  ///< ids that are counted between two groups of prefetches
constexpr std::size_t tile_capacity = 65535 - 255;  ///< ids: a sparse row's cells are in the tile before

Index rounded(Index bytes, Index unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

template <class Id>
Rows<Id>::Rows(Index length, Index vocab_size, const RowLimits& limits)
    : vocab_size_(vocab_size),
      limits_(limits),
      memory_(rounded(vocab_size, line), length * rounded(vocab_size, line)),
      rows_(static_cast<std::size_t>(length)),
      tile_size_(rounded(vocab_size, line)),
      tile_memory_(tile_size_ * static_cast<Index>(sizeof(std::uint16_t))),
      tile_(static_cast<std::uint16_t*>(tile_memory_.data())),
      found_id_(static_cast<std::size_t>(tile_size_ + 16)),
      found_(found_id_.size()) {}

/// Moves carries_, ids ascending, to the row's.
template <class Id>
void Rows<Id>::merge_carries(Row& row) {
  if (carries_.empty()) return;
  merged_.clear();
  auto old = row.carries.begin();
  for (const Carry& carried : carries_) {
    while (old != row.carries.end() && old->id < carried.id) merged_.push_back(*old++);
    merged_.push_back(carried);
    if (old != row.carries.end() && old->id == carried.id) merged_.back().times += (old++)->times;
  }
  merged_.insert(merged_.end(), old, row.carries.end());
  // No more room than it takes: what the list has room for is what bytes() tells.
  if (merged_.size() > row.carries.capacity()) row.carries = std::vector<Carry>();
  row.carries.assign(merged_.begin(), merged_.end());
  carries_.clear();
}

template <class Id>
void Rows<Id>::load_sparse(const Row& row) {
  for (std::size_t k = 0; k < row.entries; ++k) tile_[static_cast<std::size_t>(ids(row)[k])] = cells<std::uint8_t>(row)[k];
}

template <class Id>
void Rows<Id>::store_sparse(Row& row) {
  const std::size_t entries = find_occupied(tile_, tile_entries(), found_id_.data(), found_.data());
  if (static_cast<Index>(entries) > sparse_limit(vocab_size_)) {
    // The carries stay as they are: both forms count them in the same unit.
    memory_.release(row.block);
    row.block = memory_.allocate(cell_bytes(Form::narrow));
    std::memset(row.block.data, 0, static_cast<std::size_t>(row.block.bytes));
    row.form = Form::narrow;
    row.entries = row.room = 0;
    return empty_tile(row);
  }
  std::fill_n(tile_, tile_size_, std::uint16_t{0});
  const Index room = room_for(static_cast<Index>(entries));
  if (room != row.room) {
    memory_.release(row.block);
    if (room > 0) row.block = memory_.allocate(room * static_cast<Index>(1 + sizeof(Id)));
    row.room = static_cast<std::uint32_t>(room);
  }
  row.entries = static_cast<std::uint32_t>(entries);
  std::copy_n(found_id_.data(), entries, ids(row));
  auto* cell = cells<std::uint8_t>(row);
  for (std::size_t k = 0; k < entries; ++k) {
    cell[k] = static_cast<std::uint8_t>(found_[k]);
    if (found_[k] > 0xff) [[unlikely]]
      carries_.push_back({static_cast<std::uint32_t>(found_id_[k]), std::uint32_t{found_[k]} >> 8});
  }
  merge_carries(row);
}

/// Moves the tile into the row.
template <class Id>
void Rows<Id>::empty_tile(Row& row) {
  switch (row.form) {
    case Form::sparse:
      store_sparse(row);
      break;
    case Form::narrow:
      add_tile(cells<std::uint8_t>(row), tile_, tile_entries(), carries_);
      break;
    case Form::middle:
      add_tile(cells<std::uint16_t>(row), tile_, tile_entries(), carries_);
      break;
    case Form::wide:
      add_tile(cells<std::uint32_t>(row), tile_, tile_entries());
      break;
    case Form::full:
      add_tile(cells<std::uint64_t>(row), tile_, tile_entries());
      break;
  }
  merge_carries(row);
}

/// Into the tile. The row is far away, in memory: its lines come meanwhile.
template <class Id>
void Rows<Id>::count_part(const Row& row, std::span<const Id> ids) {
  const Index lines = row.form == Form::sparse ? 0 : row.block.bytes / line;
  Index fetched = 0;
  for (std::size_t begin = 0; begin < ids.size(); begin += piece) {
    const std::size_t end = std::min(begin + piece, ids.size());
    for (const Index until = lines * static_cast<Index>(end) / std::ssize(ids); fetched < until; ++fetched) {
      __builtin_prefetch(row.block.data + fetched * line, 1, 2);
    }
    count_ids(tile_, ids.subspan(begin, end - begin));
  }
}

template <class Id>
void Rows<Id>::count(Index position, std::span<const Id> ids) {
  Row& row = rows_[static_cast<std::size_t>(position)];
  for (; !ids.empty(); ids = ids.subspan(std::min(ids.size(), tile_capacity))) {
    const auto part = ids.first(std::min(ids.size(), tile_capacity));
    expect(row, std::ssize(part));
    if (row.form == Form::sparse) load_sparse(row);
    count_part(row, part);
    empty_tile(row);
    keep_carries_few(row);
  }
}

template <class Id>
void Rows<Id>::clear(Index position) {
  Row& row = rows_.at(static_cast<std::size_t>(position));
  memory_.release(row.block);
  row = {};
}

template class Rows<std::uint16_t>;
template class Rows<Token>;

}  // namespace posgeom
