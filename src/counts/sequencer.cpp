#include "counts/sequencer.hpp"

#include <algorithm>

#include "posgeom/error.hpp"
#include "posgeom/philox.hpp"

namespace posgeom {
namespace {

template <class Id>
std::span<const Id> part(std::span<const Id> ids, Index begin, Index end) {
  return ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

/// Calls visit(number, position, begin, end) for each stretch [begin, end) of `size` tokens, the first of which is token `first` of a
/// document or stream, that lies in one window of `length`: its number, and the position of the stretch in it.
template <class Visit>
void for_each_window(Index first, Index size, Index length, Visit&& visit) {
  for (Index begin = 0; begin < size;) {
    const Index number = (first + begin) / length, position = (first + begin) % length;
    const Index end = std::min(size, begin + length - position);
    visit(number, position, begin, end);
    begin = end;
  }
}

}  // namespace

Sequencer::Sequencer(const CountOptions& options, Index stream_tokens, CountTables& tables)
    : options_(options), stream_tokens_(stream_tokens) {
  expects(options.sequences != Sequences::packed || stream_tokens >= 0, "a corpus that is indexed for a stream");
  for (CountTables::Entry& entry : tables.entries()) {
    if (entry.kind.shuffled) {
      shuffled_.push_back({entry.kind.length, Shuffler(entry, options.noise.seed)});
    } else if (entry.kind.replicate >= 0) {
      resampled_.push_back(&entry);
    } else {
      real_.push_back(&entry);
    }
  }
}

Index Sequencer::bytes() const {
  Index sum = 0;
  for (const Shuffled& shuffled : shuffled_) sum += shuffled.shuffler.bytes();
  return sum;
}

Index Sequencer::stream_end(Index length) const { return options_.drop_last_block ? stream_tokens_ / length * length : stream_tokens_; }

int Sequencer::half(const Piece& piece) const {
  const NoiseOptions& noise = options_.noise;
  if (!noise.split) return 0;
  if (noise.split_by == SplitBy::column) return half_of(noise.seed, piece.group);
  return half_of(noise.seed, static_cast<std::uint64_t>(piece.document / (noise.split_by == SplitBy::block ? noise.block : 1)));
}

void Sequencer::count_document(const Piece& piece, Index own_end) {
  const Index size = std::max(Index{0}, std::min(piece.end, own_end) - piece.begin);
  // A piece without tokens may be the beginning of a document whose first tokens were all ignored; its first token comes later then. What
  // follows a unit has tokens, so an empty document between the two is the unit's.
  const bool empty = piece.size() == 0 && piece.begin <= own_end;
  if (piece.position == 0 && (size > 0 || (empty && piece.ends))) {
    ++totals_.documents;
    if (piece.size() == 0) ++totals_.empty_documents;
  }
  totals_.tokens += size;
  if (size > 0) totals_.longest = std::max(totals_.longest, piece.position + size);
}

void Sequencer::add(const TokenBatch& batch) {
  expects(batch.narrow.empty() || batch.wide.empty(), "ids of one width in a batch");
  if (batch.narrow.empty()) {
    add(batch, std::span<const Token>(batch.wide));
  } else {
    add(batch, std::span<const std::uint16_t>(batch.narrow));
  }
}

template <class Id>
void Sequencer::add(const TokenBatch& batch, std::span<const Id> ids) {
  const Index own = batch.own_tokens;
  for (const Piece& piece : batch.pieces) count_document(piece, own);
  if (options_.sequences != Sequences::packed) {
    for (const Piece& piece : batch.pieces) {
      const auto tokens = part(ids, piece.begin, piece.end);
      if (options_.sequences == Sequences::document) {
        add_document(piece, tokens, half(piece));
      } else {
        add_windows(piece, tokens, half(piece));
      }
    }
    return;
  }
  expects(batch.stream_position >= 0, "a batch of a stream");
  const auto add_run = [&](Index begin, Index end, int run_half) {
    if (begin < end) add_stream(batch.stream_position + begin, std::max(Index{0}, own - begin), part(ids, begin, end), run_half);
  };
  // Documents of the same half one after the other are one run; without halves the whole batch is.
  Index begin = 0;
  int run_half = 0;
  if (options_.noise.split) {
    for (const Piece& piece : batch.pieces) {
      if (piece.size() == 0) continue;
      const int next = half(piece);
      if (next == run_half) continue;
      add_run(begin, piece.begin, run_half);
      begin = piece.begin;
      run_half = next;
    }
  }
  add_run(begin, batch.token_count(), run_half);
  if (batch.unit_ends) end_stream_unit(batch);
}

template <class Id>
void Sequencer::add_document(const Piece& piece, std::span<const Id> ids, int half) {
  const auto below = [&](Index length) { return part(ids, 0, std::clamp(length - piece.position, Index{0}, piece.size())); };
  const auto table = static_cast<std::size_t>(half);
  for (CountTables::Entry* entry : real_) {
    const auto run = below(entry->kind.length);
    if (!run.empty()) entry->halves[table].add(piece.position, run);
  }
  if (!resampled_.empty()) {
    const Index length = resampled_.front()->kind.length;
    add_resampled(length, piece.document, piece.position, below(length));
  }
  for (auto& [length, shuffler] : shuffled_) {
    if (piece.position == 0) shuffler.begin(piece.document);
    if (!shuffler.open()) continue;
    shuffler.append(below(length), half);
    if (piece.ends || piece.position + piece.size() >= length) shuffler.end();
  }
}

template <class Id>
void Sequencer::add_resampled(Index length, Index unit, Index position, std::span<const Id> ids) {
  if (ids.empty()) return;
  for (CountTables::Entry* entry : resampled_) {
    if (entry->kind.length != length) continue;
    const Index weight = bootstrap_weight(options_.resampling.seed, entry->kind.replicate, unit);
    for (Index time = 0; time < weight; ++time) entry->halves[0].add(position, ids);
  }
}

template <class Id>
void Sequencer::add_windows(const Piece& piece, std::span<const Id> ids, int half) {
  const auto table = static_cast<std::size_t>(half);
  for (CountTables::Entry* entry : real_) {
    count_windows(entry->halves[table], entry->kind.length, piece.position, ids);
  }
  for (CountTables::Entry* entry : resampled_) {
    const Index weight = bootstrap_weight(options_.resampling.seed, entry->kind.replicate, piece.document);
    for (Index time = 0; time < weight; ++time) count_windows(entry->halves[0], entry->kind.length, piece.position, ids);
  }
  for (auto& [length, shuffler] : shuffled_) {
    const Index n = length;
    Shuffler& sequence = shuffler;
    for_each_window(piece.position, piece.size(), n, [&](Index window, Index position, Index begin, Index end) {
      if (position == 0) sequence.begin(piece.document, window);
      sequence.append(part(ids, begin, end), half);
      if (position + end - begin == n) sequence.end();
    });
    if (piece.ends && sequence.open()) sequence.end();
  }
}

/// Tokens of a document or stream, the first of which is its token `first`: whole windows together, since that is faster.
template <class Id>
void Sequencer::count_windows(PositionTable& table, Index length, Index first, std::span<const Id> ids) {
  const Index size = std::ssize(ids), position = first % length;
  const Index begin = position == 0 ? 0 : std::min(size, length - position);
  const Index end = begin + (size - begin) / length * length;
  if (begin > 0) table.add(position, part(ids, 0, begin));
  if (begin < end) table.add_sequences(length, part(ids, begin, end));
  if (end < size) table.add(0, part(ids, end, size));
}

/// Tokens from `position` of the stream on, the first `own` of which are this unit's.
template <class Id>
void Sequencer::add_stream(Index position, Index own, std::span<const Id> ids, int half) {
  const auto table = static_cast<std::size_t>(half);
  const Index size = std::ssize(ids);
  for (CountTables::Entry* entry : real_) {
    const Index counted = std::min({size, own, stream_end(entry->kind.length) - position});
    if (counted > 0) count_windows(entry->halves[table], entry->kind.length, position, part(ids, 0, counted));
  }
  for (const Index n : resampled_.empty() ? std::vector<Index>() : options_.lengths) {
    const Index counted = std::max(Index{0}, std::min({size, own, stream_end(n) - position}));
    for_each_window(position, counted, n,
                    [&](Index block, Index at, Index begin, Index end) { add_resampled(n, block, at, part(ids, begin, end)); });
  }
  for (auto& [length, shuffler] : shuffled_) {
    const Index n = length;
    Shuffler& sequence = shuffler;
    for_each_window(position, std::min(size, stream_end(n) - position), n, [&](Index block, Index at, Index begin, Index end) {
      if (at == 0 && begin < own) sequence.begin(block);  // one that begins beyond `own` is another unit's, as is one that began before
      if (!sequence.open()) return;
      sequence.append(part(ids, begin, end), half);
      if (at + end - begin == n) sequence.end();
    });
  }
}

void Sequencer::end_stream_unit(const TokenBatch& batch) {
  for (auto& [length, shuffler] : shuffled_) {
    if (!shuffler.open()) continue;
    expects(batch.stream_position + batch.token_count() >= stream_end(length), "tokens after the unit's end to complete its sequences");
    shuffler.end();
  }
}

}  // namespace posgeom
