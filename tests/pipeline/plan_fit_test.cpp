// Whether a stage fits, how many ranks are proposed, what would help, and what the estimates follow.
#include <gtest/gtest.h>

#include "pipeline/plan_parts.hpp"
#include "plan_cases.hpp"

namespace posgeom {
namespace {

using namespace plan_cases;

TEST(Plan, AMemoryLimitIsBesideTheProgramsOwn) {
  Config config;
  config.sequences = Sequences::packed;
  config.lengths = {4096};
  const CorpusEstimate corpus{.vocab_size = 50000, .token_count = Index{1} << 30};
  const Index limit = count_need(config, corpus, 64, plenty).limited * 7 / 8;
  const StageNeed need = count_need(config, corpus, 64, limit);  // rows are handed over earlier
  EXPECT_LE(need.limited, limit);
  EXPECT_EQ(need.bytes, need.limited + process_bytes);
  EXPECT_GT(need.bytes, limit);
  EXPECT_TRUE(fits(need, limit));
  const StageNeed embed = plan_for(4096, 5000, 2).stages[0];
  EXPECT_EQ(embed.bytes, embed.limited + process_bytes);
  EXPECT_TRUE(plan_for(4096, 5000, 2, std::max(embed.limited, plan_for(4096, 5000, 2).stages[1].limited)).fits);
  EXPECT_FALSE(plan_for(4096, 5000, 2, embed.limited - 1).fits);
}

TEST(Plan, WhatReadsAndWritesTheCountsIsLimitedToo) {
  Config config;
  config.noise = {};
  config.sequences = Sequences::packed;
  config.lengths = {4096};
  CorpusEstimate corpus{.vocab_size = 50000, .token_count = Index{1} << 30};
  const auto need = [&](Index memory) { return count_need(config, corpus, 64, memory); };
  const StageNeed plain = need(plenty);
  EXPECT_EQ(plain.bytes, plain.limited + process_bytes);
  corpus.compressed = true;
  const StageNeed with = need(plenty);
  EXPECT_EQ(with.limited, plain.limited + (Index{1} << 26));
  EXPECT_EQ(with.bytes, with.limited + process_bytes);
  // Where all of the memory is taken, it is read within what hand-overs leave.
  config.lengths = {4096, 131072};
  corpus.token_count = Index{1} << 38;
  const Index large = Index{4} << 30;
  EXPECT_EQ(count_need(config, corpus, 128, large).limited, large);
}

TEST(Plan, ASmallestMemoryIsFoundToTheMebibyte) {
  constexpr Index mib = Index{1} << 20;
  for (const Index wanted : {2, 3, 17, 1000, 123457}) {
    EXPECT_EQ(least_memory(mib, [&](Index bytes) { return bytes >= wanted * mib - 5; }), wanted * mib);
  }
  EXPECT_EQ(least_memory(mib, [](Index) { return false; }), 0);
}

TEST(Plan, RowsThatNoTokenReachesFillColumns) {
  Config config = some_config();
  CorpusEstimate corpus = some_corpus(512);
  corpus.whole_sample = true;
  config.positions.unreached = Unreached::zero;
  const RowsSize zero = size_of(config, corpus, 2048).whole;
  config.positions.unreached = Unreached::uniform;
  const RowsSize uniform = size_of(config, corpus, 2048).whole;
  EXPECT_EQ(uniform.rows, 2048);
  EXPECT_EQ(uniform.nonzeros - zero.nonzeros, zero.columns);  // one row more for all of them
  EXPECT_EQ(uniform.dense, (uniform.columns * 513 + 2047) / 2048);
  EXPECT_LT(zero.dense, uniform.dense / 10);
  EXPECT_GE(uniform.frequent, uniform.columns);
}

TEST(Plan, FewPositionsGetFewRanks) {
  EXPECT_EQ(enough_ranks(32), 1);
  EXPECT_EQ(enough_ranks(1024), 256);
  const LengthPlan small = plan_for(32, 5000, 64);
  EXPECT_TRUE(small.fits);
  EXPECT_EQ(small.proposed_ranks, 1);
  EXPECT_EQ(plan_for(256, 5000, 64).proposed_ranks, 16);
  EXPECT_EQ(plan_for(2048, 5000, 64).proposed_ranks, 64);
  // What does not fit gets the smallest count that does, whatever was planned.
  const LengthPlan large = plan_for(46500, 50000, 1);
  EXPECT_EQ(large.proposed_ranks, large.smallest_ranks);
  EXPECT_EQ(large.proposed.size(), 2U);
  // Replicates are dealt to the ranks: an hour is not saved at the cost of another.
  Config config = some_config();
  config.noise.split = true;
  config.noise_analysis.replicates = 10000;
  EXPECT_EQ(plan_length(config, some_corpus(32), 32, 64, plenty).proposed_ranks, 64);
}

TEST(Plan, DocumentsBoundTheTokensAtAPosition) {
  Config config = some_config();
  CorpusEstimate corpus{.vocab_size = 20000, .token_count = 2000000};
  const Index unbound = plan_of(config, corpus).stages[0].bytes;
  corpus.document_count = 100;
  EXPECT_LT(plan_of(config, corpus).stages[0].bytes, unbound);
  config.sequences = Sequences::packed;
  EXPECT_EQ(plan_of(config, corpus).stages[0].bytes, unbound);  // whose tokens all count
}

TEST(Plan, TheAdviceNamesWhatHelps) {
  Config config = some_config();
  const auto advice = [&](const CorpusEstimate& corpus, Index length, Index memory) {
    const LengthPlan plan = plan_length(config, corpus, length, 2, memory);
    EXPECT_EQ(plan.smallest_ranks, 0);
    return what_helps(config, corpus, plan, memory);
  };
  const auto expect = [](const std::string& found, const std::string& wanted) {
    EXPECT_NE(found.find(wanted), std::string::npos) << found;
  };
  config.geometry.solver = Solver::automatic;
  const CorpusEstimate sparse{.vocab_size = 30000, .token_count = 1000000};
  expect(advice({.vocab_size = 30000, .token_count = 0}, 8192, Index{1} << 28), "--tokens");
  config.geometry.solver = Solver::dual;
  expect(advice(sparse, 8192, Index{1} << 30), "with --solver auto it would fit");
  config.geometry.solver = Solver::automatic;
  config.noise.split = true;
  expect(advice({.vocab_size = 30000, .token_count = 40000000}, 8192, Index{2} << 30), "--noise none");
  config.noise = {};
  config.stress.dims = {8192};
  expect(advice(sparse, 8192, Index{1} << 30), "--dims");
  config.stress.dims = {1};
  expect(advice({.vocab_size = 30000, .token_count = 400000000}, 8192, Index{3} << 30), "--ranks-per-node");
  config.plan_ranks_per_node = 64;
  expect(advice({.vocab_size = 131072, .token_count = Index{1} << 40}, 131072, Index{1} << 30), "--memory");
}

TEST(Plan, AVocabularyTooLargeForTheDualProblemIsALimit) {
  const LengthPlan plan = plan_for(40000, 30000, 1, plenty, Solver::dual);
  EXPECT_FALSE(plan.fits);
  EXPECT_TRUE(crosses_a_limit(plan));
  EXPECT_TRUE(plan_for(40000, 15000, 1, plenty, Solver::dual).fits);
}

TEST(Plan, TheProcessGridIsTheOneAskedFor) {
  Config config = some_config();
  config.geometry.solver = Solver::pdsyevd;
  const auto bytes = [&] { return plan_length(config, {.vocab_size = 300, .token_count = 10000}, 8192, 12, plenty).stages[0].bytes; };
  const Index square = bytes();
  config.geometry.grid_rows = 1;
  config.geometry.grid_columns = 12;
  EXPECT_GT(bytes(), square);
}

TEST(Plan, TextIsTokenisedInAsManyPassesAsItIsRead) {
  Config config = some_config();
  CorpusEstimate corpus = some_corpus(2048);
  const auto seconds = [&](int ranks) { return count_need(config, corpus, ranks, plenty).seconds; };
  config.corpus.tokenizer = TokenizerKind::wordpiece;
  config.corpus.vocab = "vocab.txt";
  const double documents = seconds(1);
  EXPECT_LT(seconds(4), documents / 2);
  corpus.compressed = true;
  corpus.streams = 1;
  EXPECT_GT(seconds(1), documents);
  EXPECT_GT(seconds(4), 0.9 * documents);  // one rank reads it
  corpus.streams = 4;
  EXPECT_LT(seconds(4), documents / 2);
  config.sequences = Sequences::packed;
  EXPECT_GT(seconds(4), 1.5 * documents);  // one stream, tokenised twice
  corpus.text = corpus.compressed = false;
  EXPECT_LT(seconds(1), documents / 10);
}

TEST(Plan, KrylovsTimeIsItsOwn) {
  Config config = some_config();
  const CorpusEstimate corpus = some_corpus(2048);
  const auto seconds = [&](Solver solver, Index length) {
    config.geometry.solver = solver;
    return plan_length(config, corpus, length, 1, plenty).stages[0].seconds;
  };
  // In the order of the matrix it grows as the nonzeros do, and not as the cube.
  EXPECT_LT(seconds(Solver::krylov, 16384), 0.2 * seconds(Solver::pdsyevd, 16384));
  EXPECT_GT(seconds(Solver::krylov, 2048), 0.5);
}

TEST(Plan, HalvesAreAsSmallAsTheyAreRarefied) {
  Config config = some_config();
  config.noise.split = true;
  CorpusEstimate corpus = some_corpus(2048);
  const Index even = plan_of(config, corpus).stages[0].bytes;
  config.noise_analysis.rarefy = 50;
  EXPECT_LT(plan_of(config, corpus).stages[0].bytes, even);
  config.noise_analysis.rarefy = 0;
  corpus.position_total.assign(2048, 990);
  for (std::size_t i = 1024; i < 2048; ++i) corpus.position_total[i] = 10;  // as many as the last ones hold
  EXPECT_LT(plan_of(config, corpus).stages[0].bytes, even);
}

TEST(Plan, LaterTextBringsTypesThatTheSampleHasNot) {
  CorpusEstimate corpus = some_corpus(2048);
  const Index same = plan_of(some_config(), corpus).stages[0].bytes;
  corpus.early_unigram = corpus.unigram;
  for (Count& count : corpus.early_unigram) count /= 4;
  const Index grown = plan_of(some_config(), corpus).stages[0].bytes;
  EXPECT_GT(grown, same);
  EXPECT_LT(static_cast<double>(grown), 1.3 * static_cast<double>(same));
}

}  // namespace
}  // namespace posgeom
