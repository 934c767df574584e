#include <fmt/format.h>

#include "counts/counting.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Rounded up, to a part in a hundred or so.
std::string to_text(Index bytes) {
  const bool large = bytes >= Index{100} << 20U;
  const unsigned shift = large ? 20 : 10;
  return fmt::format("{} {}", (bytes + (Index{1} << shift) - 1) >> shift, large ? "MiB" : "KiB");
}

}  // namespace

Index Counting::message_bytes() const { return 2 * message_ * static_cast<Index>(sizeof(std::uint64_t)); }

Index Counting::held_bytes() const { return tables_.bytes() + sequencer_.bytes() + message_bytes(); }

/// Some room is left below the limit, for what comes between two looks: each token adds a few bytes at most.
void Counting::look_at_memory() {
  if (shares_.memory == 0) return;
  Index positions = 0;
  for (const Index length : options_.lengths) positions += length;
  const Index tokens = sequencer_.totals().tokens;
  if (looked_at_ >= 0 && tokens - looked_at_ < positions) return;
  looked_at_ = tokens;
  past_limit_ = held_bytes() > shares_.memory - shares_.memory / 16;
}

/// Whether compressed rows, at most sixteen times as large as others, could be too large where they were not at the last look.
bool Counting::has_grown() const {
  if (shares_.memory == 0) return false;
  const Index held = tables_.bytes();
  return held > shares_.memory / 16 && held > checked_bytes_ + checked_bytes_ / 2;
}

/// **Collective.** Every rank keeps the rows that it owns.
void Counting::make_room() {
  if (comm_.size() > 1) hand_over(comm_, tables_, message_);
  past_limit_ = false;
}

/// **Collective.** What is held must fit, now and when it is compressed in the end: known early, not after hours.
void Counting::check_growth() {
  collective(comm_, "counting", [&] {
    if (shares_.memory == 0) return;
    if (held_bytes() > shares_.memory) refuse_growth(held_bytes());
    if (!has_grown()) return;
    checked_bytes_ = tables_.bytes();
    const Index compressed = tables_.collected_bytes();
    if (compressed > shares_.memory) refuse_growth(compressed);
  });
}

void Counting::refuse_growth(Index needed) const {
  const int ranks = comm_.size();
  const Index tokens = std::max(indexed_token_count(corpus_), Index{0});
  // What each of `p` ranks needs, whatever the corpus holds: with the room that is left between two looks, and with memory that is taken in
  // blocks.
  const auto need = [&](int p, Index memory) {
    CountOptions options = options_;
    options.memory_bytes = memory;
    const Index messages = 2 * memory_shares(options, p, tokens).message * static_cast<Index>(sizeof(std::uint64_t));
    const Index blocks = std::ssize(tables_.entries()) * (tables_.split() ? 2 : 1) * (Index{4} << 20U);
    return (std::max(count_memory(options, corpus_.vocab_size, tokens, {}, p), p == ranks ? needed : 0) + messages + blocks) / 15 * 16;
  };
  Index memory = needed;
  while (need(ranks, memory) > memory) memory = std::max(need(ranks, memory), memory + memory / 8);
  std::string advice = fmt::format("--memory {} would do for any corpus", to_text(memory));
  constexpr int most_ranks = 1 << 20;
  for (int more = ranks + 1; more <= most_ranks; more += (more + 7) / 8) {
    if (need(more, shares_.memory) > shares_.memory) continue;
    advice += fmt::format(", or {} ranks with this --memory", more);
    break;
  }
  throw Error(
      fmt::format("counting needs more memory than --memory allows a rank: rank {} of {} needs {} after {} of the corpus's tokens, "
                  "found --memory {}; {}",
                  comm_.rank(), ranks, to_text(needed), tokens_ + (resume_ != nullptr ? resume_->counts.token_count : 0),
                  to_text(shares_.memory), advice));
}

}  // namespace posgeom
