#include "counts/counting.hpp"

#include <fmt/format.h>

#include <array>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

double seconds_since(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
}

}  // namespace

Counting::Counting(const Communicator& comm, const Corpus& corpus, const CountOptions& options, const CountHooks& hooks,
                   const CountCheckpoint* resume)
    : comm_(comm),
      corpus_(corpus),
      options_(options),
      hooks_(hooks),
      resume_(resume),
      shares_(memory_shares(options, comm.size(), indexed_token_count(corpus))),
      message_(shares_.message),
      tables_(options, corpus.vocab_size, shares_, comm.rank(), comm.size()),
      sequencer_(options, indexed_token_count(corpus), tables_),
      reader_(corpus, read_options_for(options), comm.rank(), comm.size(), Sharing::runs, resume ? resume->done : UnitSet()),
      start_(Clock::now()),
      last_kept_(start_) {
  if (resume == nullptr) return;
  tables_.add(resume->counts.tables);
  kept_ = true;
}

CorpusCounts Counting::run() {
  message_ = all_reduce(comm_, message_, Reduction::minimum);
  make_room();
  check_growth();
  for (Round last = round(); !last.done; last = round()) {
    if (last.stop) stop();
    if (last.checkpoint) {
      finish_units(false);
      keep(true);
    }
  }
  collective(comm_, "counting", [&] { tables_.release_columns(); });
  hand_over(comm_, tables_, message_);
  CorpusCounts counts = numbers();
  collective(comm_, "compressing the counts", [&] {
    if (shares_.memory > 0) {
      const Index compressed = tables_.collected_bytes();
      if (compressed > shares_.memory) refuse_growth(compressed);
    }
    counts.tables = tables_.collect(true);
  });
  return counts;
}

/// Reads and counts one batch. A unit is done with its last batch; a rank's part with its last unit.
void Counting::step() {
  if (!reader_.next(batch_)) {
    ended_ = true;
    return;
  }
  sequencer_.add(batch_);
  look_at_memory();
  in_unit_ = !batch_.unit_ends;
  if (batch_.unit_ends) done_.add(batch_.unit);
}

/// Everybody counts for a while; then everybody knows how far all are, and whether somebody was told to stop.
Counting::Round Counting::round() {
  const Clock::time_point begin = Clock::now();
  collective(comm_, "counting", [&] {
    while (!ended_) {
      stop_seen_ = stop_seen_ || (hooks_.stop_requested && hooks_.stop_requested());
      if (stop_seen_) break;
      step();
      if (past_limit_ || seconds_since(begin) >= hooks_.round_seconds) break;
    }
  });
  const bool due = hooks_.keep && comm_.is_root() && seconds_since(last_kept_) >= hooks_.checkpoint_seconds;
  std::array<Index, 8> sums{stop_seen_ ? 1 : 0,   due ? 1 : 0,          ended_ ? 0 : 1,
                            past_limit_ ? 1 : 0,  has_grown() ? 1 : 0,  sequencer_.totals().tokens,
                            reader_.bytes_done(), reader_.bytes_total()};
  all_reduce(comm_, std::span<Index>(sums));
  tokens_ = sums[5];
  if (hooks_.progress) {
    hooks_.progress({.bytes_done = sums[6],
                     .bytes_total = sums[7],
                     .tokens = tokens_,
                     .tokens_before = resume_ != nullptr ? resume_->counts.token_count : 0,
                     .seconds = seconds_since(start_)});
  }
  if (sums[3] > 0) make_room();
  if (sums[3] + sums[4] > 0) check_growth();
  return {.stop = sums[0] > 0, .checkpoint = sums[1] > 0, .done = sums[2] == 0};
}

/// Reads to the end of the units in hand; false where that took too long after a stop.
bool Counting::finish_units(bool stopping) {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    bool late = false;
    collective(comm_, "counting", [&] {
      while (in_unit_ && !late) {
        step();
        if (past_limit_) break;
        late = in_unit_ && stopping && seconds_since(begin) >= hooks_.grace_seconds;
      }
    });
    std::array<Index, 3> sums{in_unit_ ? 1 : 0, late ? 1 : 0, past_limit_ ? 1 : 0};
    all_reduce(comm_, std::span<Index>(sums));
    if (sums[1] > 0) return false;
    if (sums[2] > 0) {
      make_room();
      check_growth();
    }
    if (sums[0] == 0) return true;
  }
}

CorpusCounts Counting::numbers() const {
  const DocumentTotals& mine = sequencer_.totals();
  std::array<Index, 3> sums{mine.documents, mine.empty_documents, mine.tokens};
  all_reduce(comm_, std::span<Index>(sums));
  CorpusCounts counts;
  counts.sequences = options_.sequences;
  counts.split = options_.noise.split;
  counts.vocab_size = corpus_.vocab_size;
  counts.document_count = sums[0];
  counts.empty_document_count = sums[1];
  counts.token_count = sums[2];
  counts.longest_document = all_reduce(comm_, mine.longest, Reduction::maximum);
  if (resume_ != nullptr) {
    counts.document_count += resume_->counts.document_count;
    counts.empty_document_count += resume_->counts.empty_document_count;
    counts.token_count += resume_->counts.token_count;
    counts.longest_document = std::max(counts.longest_document, resume_->counts.longest_document);
  }
  return counts;
}

UnitSet Counting::all_done() const {
  const std::vector<Index> mine = done_.to_triples();
  const std::vector<Index> triples = all_gather(comm_, std::span<const Index>(mine));
  UnitSet done = resume_ != nullptr ? resume_->done : UnitSet();
  for (std::size_t k = 0; k + 2 < triples.size(); k += 3) done.merge(UnitSet::from_triples(std::span(triples).subspan(k, 3)));
  return done;
}

/// The rows become the checkpoint's, and come back: never both whole, since they are what fills the memory.
void Counting::keep(bool go_on) {
  hand_over(comm_, tables_, message_);
  CountCheckpoint checkpoint;
  checkpoint.counts = numbers();
  checkpoint.done = all_done();
  collective(comm_, "compressing the counts", [&] { checkpoint.counts.tables = tables_.collect(!go_on); });
  hooks_.keep(checkpoint);
  kept_ = true;
  if (!go_on) return;
  collective(comm_, "taking the counts back", [&] { tables_.take_back(std::move(checkpoint.counts.tables)); });
  last_kept_ = Clock::now();
}

void Counting::stop() {
  std::string what = "and nothing of it is kept; start again to count from the beginning";
  if (hooks_.keep && finish_units(true)) {
    keep(false);
    const Index before = resume_ != nullptr ? resume_->counts.token_count : 0;
    what = fmt::format("after {} tokens; what was counted is kept: start again to go on",
                       before + all_reduce(comm_, sequencer_.totals().tokens));
  } else if (kept_) {
    what = "and what came after the last checkpoint is not kept; start again to go on from the checkpoint";
  }
  throw CollectiveError("counting was stopped by a signal, " + what, ErrorKind::stopped, 0);
}

}  // namespace posgeom
