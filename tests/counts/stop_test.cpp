#include <optional>

#include "counts/counting_support.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 19;

CountOptions options_with(Sequences sequences, bool noise) {
  CountOptions options = count_options(sequences, {3, 10});
  options.noise = {.split = noise, .shuffle = noise};
  return options;
}

/// Counts on `comm` until rank `stopping` has been asked `times` times whether to stop (never: -1), goes on from `kept`, and says what was
/// kept last. Returns the counts unless it was stopped.
std::optional<WholeCounts> count_until(const Communicator& comm, Corpus& corpus, const CountOptions& options, int stopping, int times,
                                       std::optional<Kept>& kept, double checkpoint_seconds = 1e9) {
  std::optional<CountCheckpoint> resume;
  if (kept) resume = kept->for_rank_of(comm);
  int asked = 0;
  const ReadOptions read = read_options_for(options);
  bool counting = !read.stream && !read.document_index;  // else the first round tells that the corpus has been indexed
  CountHooks hooks;
  hooks.round_seconds = 0;
  hooks.checkpoint_seconds = checkpoint_seconds;
  hooks.progress = [&](const CountStatus& status) { counting = !status.indexing; };
  hooks.stop_requested = [&] { return counting && comm.rank() == stopping && times >= 0 && ++asked > times; };
  hooks.keep = [&](const CountCheckpoint& checkpoint) { kept.emplace(comm, checkpoint); };
  try {
    return gather(comm, count_corpus(comm, corpus, options, hooks, resume ? &*resume : nullptr));
  } catch (const CollectiveError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::stopped) << error.what();
    EXPECT_EQ(error.rank(), 0);
    EXPECT_TRUE(times >= 0);
    expect_contains(error.what(), {"stopped by a signal", "start again"});
    return {};
  }
}

class Stopping : public testing::TestWithParam<Sequences> {
 protected:
  Folder folder_;
  Documents documents_ = some_documents(260, 50, vocab, 21);
};

TEST_P(Stopping, AtAnyMomentOnOneRankLosesNothing) {
  for (const bool noise : {false, true}) {
    Corpus corpus = open_documents(folder_, documents_, vocab, 60);
    const CountOptions options = options_with(GetParam(), noise);
    const WholeCounts expected = naive_count(documents_, options, vocab, naive_halves(std::ssize(documents_), options.noise));
    for (const int times : {0, 1, 2, 5, 11}) {
      for (const int stopping : {0, world().size() - 1}) {
        std::optional<Kept> kept;
        std::optional<WholeCounts> counts;
        int starts = 0;
        for (; !counts && starts < 60; ++starts) {
          // Stopped again and again, and at least one batch further each time; in the end left alone.
          counts = count_until(world(), corpus, options, stopping, starts < 4 ? times : -1, kept);
          EXPECT_TRUE(kept.has_value()) << "what was counted is kept";
        }
        EXPECT_GT(starts, 1);
        EXPECT_TRUE(counts == expected) << "noise " << noise << ", stopped after " << times << " by rank " << stopping;
      }
    }
  }
}

TEST_P(Stopping, ResumesWithAnotherRankCount) {
  const CountOptions options = options_with(GetParam(), true);
  const WholeCounts expected = naive_count(documents_, options, vocab, naive_halves(std::ssize(documents_), options.noise));
  Corpus corpus = open_documents(folder_, documents_, vocab, 60);
  std::optional<Kept> kept;
  EXPECT_FALSE(count_until(world(), corpus, options, world().size() - 1, 3, kept).has_value());
  EXPECT_TRUE(kept && kept->counts.tokens > 0 && kept->counts.tokens < expected.tokens) << "a part was counted";
  // Any number of the ranks goes on; the others look on.
  for (int ranks = 1; ranks < world().size(); ++ranks) {
    const Communicator some = world().split(world().rank() < ranks ? 0 : 1);
    if (world().rank() >= ranks) continue;
    std::optional<Kept> next = kept;
    const std::optional<WholeCounts> counts = count_until(some, corpus, options, -1, -1, next);
    EXPECT_TRUE(counts == expected) << ranks << " ranks";
  }
}

TEST_P(Stopping, CheckpointsAfterEveryRoundChangeNothing) {
  for (const bool noise : {false, true}) {
    Corpus corpus = open_documents(folder_, documents_, vocab, 200);
    CountOptions options = options_with(GetParam(), noise);
    options.chunk = noise ? 3 : 100;  // and so do messages of a row each
    const WholeCounts expected = naive_count(documents_, options, vocab, naive_halves(std::ssize(documents_), options.noise));
    std::optional<Kept> kept;
    EXPECT_TRUE(count_until(world(), corpus, options, -1, -1, kept, 0) == expected);
    // And the last of them is a point to go on from.
    EXPECT_TRUE(kept && kept->counts.tokens <= expected.tokens && !kept->done.empty());
    EXPECT_TRUE(count_until(world(), corpus, options, -1, -1, kept) == expected);
  }
}

TEST_P(Stopping, NothingIsCountedTwiceWhenAllUnitsAreDone) {
  Corpus corpus = open_documents(folder_, documents_, vocab, 60);
  const CountOptions options = options_with(GetParam(), true);
  CountCheckpoint all;
  all.counts = count_corpus(world(), corpus, options);
  DocumentReader reader(corpus, read_options_for(options), 0, 1);
  for (TokenBatch batch; reader.next(batch);) all.done.add(batch.unit);
  EXPECT_GT(all.done.size(), 1);
  EXPECT_TRUE(gather(world(), count_corpus(world(), corpus, options, {}, &all)) == gather(world(), all.counts));
}

INSTANTIATE_TEST_SUITE_P(Sequences, Stopping, testing::Values(Sequences::document, Sequences::chunk, Sequences::packed),
                         [](const auto& param) { return std::string(name_of(param.param)); });

class StopTexts : public Stopping {
 protected:
  std::string text(const CountHooks& hooks, const CountCheckpoint* resume = nullptr, Sequences sequences = Sequences::document) {
    Corpus corpus = open_documents(folder_, documents_, vocab, 1 << 20);
    return error_of([&] { count_corpus(world(), corpus, options_with(sequences, false), hooks, resume); });
  }
};

TEST_F(StopTexts, SayWhatIsKept) {
  CountHooks hooks;
  hooks.stop_requested = [] { return world().rank() == world().size() - 1; };
  expect_contains(text(hooks), {"stopped by a signal", "nothing of it is kept", "from the beginning"});
  std::optional<Kept> kept;
  hooks.keep = [&](const CountCheckpoint& checkpoint) { kept.emplace(world(), checkpoint); };
  expect_contains(text(hooks), {"stopped by a signal", " tokens; what was counted is kept", "start again to go on"});
  const CountCheckpoint resume = kept->for_rank_of(world());
  hooks.keep = {};
  expect_contains(text(hooks, &resume), {"last checkpoint", "go on from the checkpoint"});
}

TEST_F(StopTexts, IndexingStopsToo) {
  CountHooks hooks;
  hooks.stop_requested = [] { return true; };
  expect_contains(text(hooks, nullptr, Sequences::packed), {"stopped by a signal"});
}

TEST_F(StopTexts, AUnitThatTakesTooLongIsGivenUp) {
  // One unit of many batches, no patience, and a stop after the first batch.
  documents_ = some_documents(60000, 50, vocab, 22);
  int asked = 0;
  bool kept = false;
  CountHooks hooks;
  hooks.round_seconds = 0;
  hooks.grace_seconds = 0;
  hooks.stop_requested = [&] { return ++asked > 1; };
  hooks.keep = [&](const CountCheckpoint&) { kept = true; };
  expect_contains(text(hooks), {"stopped by a signal", "nothing of it is kept"});
  EXPECT_FALSE(kept);
}

TEST_F(StopTexts, AFailureToKeepIsTheRunsFailure) {
  CountHooks hooks;
  hooks.checkpoint_seconds = 0;
  hooks.keep = [&](const CountCheckpoint&) { collective(world(), "keeping", [] { throw Error("the disk is full"); }); };
  Corpus corpus = open_documents(folder_, documents_, vocab, 60);
  hooks.round_seconds = 0;
  expect_contains(error_of([&] { count_corpus(world(), corpus, options_with(Sequences::document, false), hooks); }), {"the disk is full"});
}

}  // namespace
}  // namespace posgeom
