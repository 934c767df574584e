#include "counts/columns.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index stage_bytes = Index{1} << 18;  ///< well within L2
constexpr Index most_runs = 1024;

Index ids_of_column(Index length, Index buffer_bytes, Index column_limit, Index line) {
  Index lines = std::min(buffer_bytes / std::max(length, Index{1}) / 64, column_limit / line);
  // An odd number of lines: a power of two would put all columns into the same few sets of the caches.
  if (lines % 2 == 0) --lines;
  return std::max(lines, Index{1}) * line;
}

/// Ids from one waiting sequence to the next: whole lines, so that none is split, and an odd number of them, so that the lines of many
/// sequences do not fall into the same few sets of the cache.
constexpr Index stage_stride(Index size, Index line) { return ((size + line - 1) / line | 1) * line; }

/// A line to where it will not be looked at soon: past the caches, and without reading what was there.
inline void stream_line(void* to, const void* from) {
#if defined(__SSE2__)
  for (int part = 0; part < 4; ++part) {
    _mm_stream_si128(static_cast<__m128i*>(to) + part, _mm_loadu_si128(static_cast<const __m128i*>(from) + part));
  }
#else
  std::memcpy(to, from, 64);
#endif
}

}  // namespace

template <class Id>
Columns<Id>::Columns(Index length, Index buffer_bytes, Index column_limit)
    : length_(length),
      capacity_(ids_of_column(length, buffer_bytes, column_limit, line_ids<Id>)),
      fill_(static_cast<std::size_t>(length)),
      stretch_fill_(static_cast<std::size_t>(length / line_ids<Id>)) {
  constexpr Index line = line_ids<Id>;
  const Index groups =
      std::clamp(stage_bytes / static_cast<Index>(sizeof(Id)) / std::max(length * line, Index{1}), Index{1}, most_runs / line);
  stage_capacity_ = groups * line * stage_stride(length, line);
  runs_.reserve(static_cast<std::size_t>(most_runs));
  open();
}

template <class Id>
void Columns<Id>::open() {
  constexpr Index line = line_ids<Id>, size = sizeof(Id);
  buffer_ = HugeBuffer(length_ * capacity_ * size);
  heads_ = HugeBuffer(length_ * 2 * line * size);
  stretches_ = HugeBuffer(std::ssize(stretch_fill_) * line * line * size);
  // A line beyond the last run: transposed blocks reach over the ends of their sequences.
  stage_buffer_ = HugeBuffer((stage_capacity_ + line) * size);
  staged_ = static_cast<Id*>(stage_buffer_.data());
}

template <class Id>
void Columns<Id>::release() {
  for (HugeBuffer* buffer : {&buffer_, &heads_, &stretches_, &stage_buffer_}) *buffer = HugeBuffer();
  staged_ = nullptr;
}

template <class Id>
void Columns<Id>::drain(Index position, const Sink& sink) {
  constexpr std::uint32_t line = line_ids<Id>;
  auto& fill = fill_[static_cast<std::size_t>(position)];
  if (fill == 0) return;
  const std::uint32_t pending = fill % line;
  std::copy_n(head(position), pending, column(position) + (fill - pending));
  sink(position, {column(position), fill});
  fill = 0;
}

/// `ids` is a line, of which `count` ids count.
template <class Id>
void Columns<Id>::append(Index position, const Id* ids, std::uint32_t count, const Sink& sink) {
  constexpr std::uint32_t line = line_ids<Id>;
  auto& fill = fill_[static_cast<std::size_t>(position)];
  if (fill + count > static_cast<std::uint32_t>(capacity_)) drain(position, sink);
  const std::uint32_t pending = fill % line;
  if (pending == 0 && count == line) {
    stream_line(column(position) + fill, ids);
  } else {
    Id* waiting = head(position);
    std::memcpy(waiting + pending, ids, line * sizeof(Id));
    if (pending + count >= line) {
      stream_line(column(position) + (fill - pending), waiting);
      std::memcpy(waiting, waiting + line, line * sizeof(Id));
    }
  }
  fill += count;
}

template <class Id>
void Columns<Id>::append_one(Index position, Id id, const Sink& sink) {
  constexpr std::uint32_t line = line_ids<Id>;
  auto& fill = fill_[static_cast<std::size_t>(position)];
  if (fill == static_cast<std::uint32_t>(capacity_)) drain(position, sink);
  Id* waiting = head(position);
  waiting[fill % line] = id;
  if (++fill % line == 0) stream_line(column(position) + (fill - line), waiting);
}

template <class Id>
template <class Source>
void Columns<Id>::add(Index position, std::span<const Source> ids, const Sink& sink) {
  const Index size = std::ssize(ids);
  expects(position >= 0 && position + size <= length_, "a run of ids within the positions");
  if (size == 0) return;
  if (staged_ == nullptr) open();
  if (position == 0) {
    if (stage_size_ + stage_stride(size, line_ids<Id>) > stage_capacity_ || std::ssize(runs_) == most_runs) empty_stage(sink);
    if constexpr (std::is_same_v<Source, Id>) {
      std::memcpy(staged_ + stage_size_, ids.data(), ids.size_bytes());
    } else {
      std::transform(ids.begin(), ids.end(), staged_ + stage_size_, [](Source id) { return static_cast<Id>(id); });
    }
    runs_.push_back({staged_ + stage_size_, size});
    stage_size_ += stage_stride(size, line_ids<Id>);
    return;
  }
  add_within(position, ids, sink);
}

template <class Id>
template <class Source>
void Columns<Id>::add_within(Index position, std::span<const Source> ids, const Sink& sink) {
  constexpr Index line = line_ids<Id>;
  const Index end = position + std::ssize(ids);
  const Source* next = ids.data();
  while (position < end) {
    if (position % line == 0 && position + line <= end) {
      append_stretch(position / line, next, sink);
      position += line;
      next += line;
    } else {
      append_one(position++, static_cast<Id>(*next++), sink);
    }
  }
}

template <class Id>
template <class Source>
void Columns<Id>::add_at(std::span<const std::uint32_t> positions, std::span<const Source> ids, const Sink& sink) {
  expects(positions.empty() || positions.back() < ids.size(), "an id for each position");
  expects(std::ssize(ids) <= length_, "ids within the positions");
  if (staged_ == nullptr) open();
  for (const std::uint32_t position : positions) append_one(Index{position}, static_cast<Id>(ids[position]), sink);
}

template <class Id>
template <class Source>
void Columns<Id>::append_stretch(Index stretch, const Source* ids, const Sink& sink) {
  constexpr Index line = line_ids<Id>;
  auto& fill = stretch_fill_[static_cast<std::size_t>(stretch)];
  std::transform(ids, ids + line, waiting(stretch) + fill * line, [](Source id) { return static_cast<Id>(id); });
  if (++fill == line) empty_stretch(stretch, sink);
}

template <class Id>
void Columns<Id>::empty_stretch(Index stretch, const Sink& sink) {
  constexpr Index line = line_ids<Id>;
  auto& fill = stretch_fill_[static_cast<std::size_t>(stretch)];
  alignas(64) Id tile[line * line];
  const Id* sequences[line];
  for (Index s = 0; s < line; ++s) sequences[s] = waiting(stretch) + s * line;
  transpose(sequences, 0, tile);
  for (Index k = 0; k < line; ++k) append(stretch * line + k, tile + k * line, fill, sink);
  fill = 0;
}

template <class Id>
template <class Source>
void Columns<Id>::add_sequences(Index length, std::span<const Source> ids, const Sink& sink) {
  expects(length > 0 && length <= length_ && std::ssize(ids) % length == 0, "whole sequences within the positions");
  if (staged_ == nullptr) open();
  constexpr Index line = line_ids<Id>;
  Index begin = 0;
  if constexpr (std::is_same_v<Source, Id>) {
    // A transposed block may reach over the end of the last sequence, but not of what can be read.
    const Index end = std::ssize(ids) - (length + line - 1) / line * line + length;
    Run group[line];
    for (; begin + line * length <= end; begin += line * length) {
      for (Index s = 0; s < line; ++s) group[s] = {ids.data() + begin + s * length, length};
      append_group(group, sink);
    }
  }
  for (; begin < std::ssize(ids); begin += length) {
    add(0, ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)), sink);
  }
}

template <class Id>
void Columns<Id>::empty_stage(const Sink& sink) {
  // Longest first: the sequences that reach a position are then the first ones of their group.
  const auto longer = [](const Run& a, const Run& b) { return a.size > b.size; };
  if (!std::is_sorted(runs_.begin(), runs_.end(), longer)) std::stable_sort(runs_.begin(), runs_.end(), longer);
  constexpr auto line = static_cast<std::size_t>(line_ids<Id>);
  for (std::size_t begin = 0; begin < runs_.size(); begin += line) {
    append_group(std::span(runs_).subspan(begin, std::min(line, runs_.size() - begin)), sink);
  }
  runs_.clear();
  stage_size_ = 0;
}

template <class Id>
void Columns<Id>::append_group(std::span<const Run> runs, const Sink& sink) {
  constexpr Index line = line_ids<Id>;
  alignas(64) Id tile[line * line];
  const Id* sequences[line];
  Index reach = std::ssize(runs);  // sequences that reach the position
  for (Index begin = 0; begin < runs.front().size; begin += line) {
    for (Index s = 0; s < line; ++s) {
      const bool reaches = s < std::ssize(runs) && runs[static_cast<std::size_t>(s)].size > begin;
      // Any memory will do where a sequence has ended: what is read there is beyond `reach`.
      sequences[s] = reaches ? runs[static_cast<std::size_t>(s)].begin + begin : staged_;
    }
    transpose(sequences, 0, tile);
    const Index end = std::min(begin + line, runs.front().size);
    for (Index position = begin; position < end; ++position) {
      while (runs[static_cast<std::size_t>(reach - 1)].size <= position) --reach;
      append(position, tile + (position - begin) * line, static_cast<std::uint32_t>(reach), sink);
    }
  }
}

template <class Id>
void Columns<Id>::flush(const Sink& sink) {
  if (!runs_.empty()) empty_stage(sink);
  for (Index stretch = 0; stretch < std::ssize(stretch_fill_); ++stretch) {
    if (stretch_fill_[static_cast<std::size_t>(stretch)] > 0) empty_stretch(stretch, sink);
  }
  for (Index position = 0; position < length_; ++position) drain(position, sink);
}

template <class Id>
Index Columns<Id>::bytes() const {
  return buffer_.bytes() + heads_.bytes() + stretches_.bytes() + stage_buffer_.bytes() +
         static_cast<Index>(fill_.capacity() * sizeof(std::uint32_t) + stretch_fill_.capacity() + runs_.capacity() * sizeof(Run));
}

template class Columns<std::uint16_t>;
template class Columns<Token>;
template void Columns<std::uint16_t>::add(Index, std::span<const std::uint16_t>, const Sink&);
template void Columns<std::uint16_t>::add(Index, std::span<const Token>, const Sink&);
template void Columns<Token>::add(Index, std::span<const std::uint16_t>, const Sink&);
template void Columns<Token>::add(Index, std::span<const Token>, const Sink&);

template void Columns<std::uint16_t>::add_at(std::span<const std::uint32_t>, std::span<const Token>, const Sink&);
template void Columns<Token>::add_at(std::span<const std::uint32_t>, std::span<const Token>, const Sink&);

template void Columns<std::uint16_t>::add_sequences(Index, std::span<const std::uint16_t>, const Sink&);
template void Columns<std::uint16_t>::add_sequences(Index, std::span<const Token>, const Sink&);
template void Columns<Token>::add_sequences(Index, std::span<const std::uint16_t>, const Sink&);
template void Columns<Token>::add_sequences(Index, std::span<const Token>, const Sink&);

}  // namespace posgeom
