#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "counts/huge_buffer.hpp"
#include "counts/transpose.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// One buffer of ids a position. Sequences wait until there are enough of them to be transposed by whole cache lines; of runs that begin
/// within a sequence, each stretch of as many positions as a line has ids waits by itself.
template <class Id>
class Columns {
 public:
  /// Counts a column: of `position`.
  using Sink = std::function<void(Index position, std::span<const Id> ids)>;

  /// At most `column_limit` ids a column, and `buffer_bytes` in all columns, as long as that is a cache line a column.
  Columns(Index length, Index buffer_bytes, Index column_limit);

  /// One id a position from `position` on. Columns that are full go to `sink`.
  template <class Source>
  void add(Index position, std::span<const Source> ids, const Sink& sink);
  /// ids.size() / length sequences from position 0 on, one after the other: what add() does, without a copy for most of them.
  template <class Source>
  void add_sequences(Index length, std::span<const Source> ids, const Sink& sink);
  /// ids[p] for each position p of `positions`: for sequences whose tokens go to different tables.
  template <class Source>
  void add_at(std::span<const std::uint32_t> positions, std::span<const Source> ids, const Sink& sink);
  /// Everything that waits goes to `sink`, positions ascending.
  void flush(const Sink& sink);
  /// Gives the memory back until something is added again; after flush().
  void release();
  Index bytes() const;

 private:
  struct Run {
    const Id* begin;
    Index size;
  };

  void open();
  template <class Source>
  void add_within(Index position, std::span<const Source> ids, const Sink& sink);
  template <class Source>
  void append_stretch(Index stretch, const Source* ids, const Sink& sink);
  void empty_stretch(Index stretch, const Sink& sink);
  void empty_stage(const Sink& sink);
  void append_group(std::span<const Run> runs, const Sink& sink);
  void append(Index position, const Id* ids, std::uint32_t count, const Sink& sink);
  void append_one(Index position, Id id, const Sink& sink);
  Id* head(Index position) { return static_cast<Id*>(heads_.data()) + position * 2 * line_ids<Id>; }
  Id* waiting(Index stretch) { return static_cast<Id*>(stretches_.data()) + stretch * line_ids<Id> * line_ids<Id>; }
  Id* column(Index position) { return static_cast<Id*>(buffer_.data()) + position * capacity_; }
  void drain(Index position, const Sink& sink);

  Index length_;
  Index capacity_ = 0;  ///< ids of a column, a multiple of a line
  HugeBuffer buffer_;
  HugeBuffer heads_;                 ///< [length][2 lines] what does not fill a line yet; the second line is for what reaches over it
  std::vector<std::uint32_t> fill_;  ///< [length] ids in each column, those in its head included
  HugeBuffer stretches_;             ///< [length / line][line runs][line positions] what waits of runs that begin within a sequence
  std::vector<std::uint8_t> stretch_fill_;  ///< [length / line] runs in each
  HugeBuffer stage_buffer_;
  Id* staged_ = nullptr;  ///< ids of the runs that wait; all begin at position 0
  Index stage_capacity_ = 0;
  Index stage_size_ = 0;
  std::vector<Run> runs_;
};

}  // namespace posgeom
