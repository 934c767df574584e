#include "counts/row_memory.hpp"

#include <algorithm>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index huge_page = Index{1} << 21;
constexpr Index rows_of_slab = 16;  ///< what is left at a slab's end is then a small part of it

Index rounded(Index bytes, Index unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

RowMemory::RowMemory(Index row_bytes, Index table_bytes)
    : slab_bytes_(table_bytes < huge_page ? rounded(std::max(table_bytes, Index{1}), 4096) : rounded(row_bytes * rows_of_slab, huge_page)) {
}

void RowMemory::add_gap(std::byte* data, Index bytes) {
  gaps_.emplace(data, bytes);
  by_size_.emplace(bytes, data);
}

void RowMemory::remove_gap(std::byte* data, Index bytes) {
  gaps_.erase(data);
  by_size_.erase({bytes, data});
}

void RowMemory::add_slab(Index bytes) {
  HugeBuffer memory(bytes);
  auto* begin = static_cast<std::byte*>(memory.data());
  bytes_ += memory.bytes();
  add_gap(begin, memory.bytes());
  slabs_.emplace(begin, std::move(memory));
  ++empty_slabs_;
}

RowMemory::Block RowMemory::allocate(Index bytes) {
  expects(bytes > 0 && bytes % 64 == 0, "a block of whole cache lines");
  auto gap = by_size_.lower_bound({bytes, nullptr});
  if (gap == by_size_.end()) {
    add_slab(std::max(slab_bytes_, bytes));
    gap = by_size_.lower_bound({bytes, nullptr});
  }
  const auto [size, data] = *gap;
  const auto slab = slabs_.find(data);
  if (slab != slabs_.end() && slab->second.bytes() == size) --empty_slabs_;
  remove_gap(data, size);
  if (size > bytes) add_gap(data + bytes, size - bytes);
  return {data, bytes};
}

void RowMemory::release(Block& block) {
  if (block.data == nullptr) return;
  auto [data, bytes] = std::exchange(block, {});
  const auto slab = std::prev(slabs_.upper_bound(data));
  const std::byte* end = slab->first + slab->second.bytes();
  // Slabs may happen to touch; gaps end with them.
  if (const auto after = gaps_.find(data + bytes); after != gaps_.end() && after->first != end) {
    const Index more = after->second;
    remove_gap(data + bytes, more);
    bytes += more;
  }
  if (const auto next = gaps_.lower_bound(data); next != gaps_.begin()) {
    const auto [before, size] = *std::prev(next);
    if (before + size == data && before >= slab->first) {
      remove_gap(before, size);
      data = before;
      bytes += size;
    }
  }
  if (bytes < slab->second.bytes() || empty_slabs_ == 0) {
    if (bytes == slab->second.bytes()) ++empty_slabs_;
    add_gap(data, bytes);
    return;
  }
  bytes_ -= bytes;
  slabs_.erase(slab);
}

}  // namespace posgeom
