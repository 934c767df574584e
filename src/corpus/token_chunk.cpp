#include "corpus/token_chunk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index read_ahead_bytes = Index{8} << 20, first_tail_bytes = Index{1} << 16;

}  // namespace

template <class Id>
void IdChunk<Id>::seek(Index at, Index soft_end, Index stop) {
  at_ = at;
  soft_end_ = soft_end;
  stop_ = stop;
  chunk_.clear();
  taken_ = 0;
  tail_ = std::clamp(first_tail_bytes / file_->width, Index{1}, chunk_ids_);
  ids_->will_read(at, std::min(stop - at, read_ahead_bytes / file_->width));
}

template <class Id>
void IdChunk<Id>::load() {
  expects(at_ <= stop_, "ids before the end");
  Index count = std::min(chunk_ids_, stop_ - at_);
  if (at_ >= soft_end_) {
    count = std::min(count, tail_);
    tail_ = std::min(2 * tail_, chunk_ids_);
  } else {
    count = std::min(count, soft_end_ - at_);
  }
  chunk_.resize(static_cast<std::size_t>(count));
  taken_ = 0;
  if (count == 0) return;
  const Index ahead = at_ + read_ahead_bytes / file_->width;
  if (ahead < stop_) ids_->will_read(ahead, std::min(count, stop_ - ahead));
  if (file_->width == static_cast<int>(sizeof(Id))) {
    ids_->read(at_, count, reinterpret_cast<char*>(chunk_.data()));
  } else {
    stored_.resize(static_cast<std::size_t>(count * file_->width));
    ids_->read(at_, count, stored_.data());
    convert(stored_.data(), chunk_);
  }
}

template <class Id>
Id IdChunk<Id>::operator[](Index index) const {
  std::array<char, 8> stored{};
  ids_->read(index, 1, stored.data());
  Id id = 0;
  convert(stored.data(), {&id, 1});
  return id;
}

/// From ids of the file's width. What 32 bits cannot hold becomes an id that is neither a separator nor ignored, and will be refused.
template <class Id>
void IdChunk<Id>::convert(const char* stored, std::span<Id> ids) const {
  if (file_->width == static_cast<int>(sizeof(Id))) {
    std::memcpy(ids.data(), stored, ids.size_bytes());
    return;
  }
  Id beyond = std::numeric_limits<Id>::max();
  while (Index{beyond} == rule_->separator || std::binary_search(rule_->ignored.begin(), rule_->ignored.end(), Index{beyond})) --beyond;
  for (Id& id : ids) {
    std::uint64_t value = 0;
    if (file_->width == 1) {
      const auto byte = static_cast<unsigned char>(*stored);
      value = file_->is_signed && byte > 127 ? ~std::uint64_t{0} : byte;
    } else {
      std::memcpy(&value, stored, 8);
    }
    stored += file_->width;
    id = value > std::numeric_limits<Id>::max() ? beyond : static_cast<Id>(value);
  }
}

template class IdChunk<std::uint16_t>;
template class IdChunk<std::uint32_t>;

}  // namespace posgeom
