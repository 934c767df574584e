#include <gtest/gtest.h>

#include <ctime>

#include "plan_cases.hpp"

namespace posgeom {
namespace {

using namespace plan_cases;

TEST(Plan, NamesThe32BitLimitBeforeAnythingIsAllocated) {
  EXPECT_FALSE(crosses_a_limit(plan_for(32000, 50000, 1, plenty, Solver::pdsyevd)));
  EXPECT_TRUE(crosses_a_limit(plan_for(33000, 50000, 1, plenty, Solver::pdsyevd)));
  EXPECT_FALSE(crosses_a_limit(plan_for(46000, 50000, 1)));  // a solver without pdsyevd's workspace
  EXPECT_TRUE(crosses_a_limit(plan_for(46500, 50000, 1)));
  EXPECT_TRUE(crosses_a_limit(plan_for(200000, 300000, 4)));
  EXPECT_FALSE(crosses_a_limit(plan_for(131072, 131072, 1024)));
}

TEST(Plan, NamesTheSmallestRankCount) {
  const LengthPlan plan = plan_for(46500, 50000, 1);
  EXPECT_FALSE(plan.fits);
  ASSERT_GT(plan.smallest_ranks, 1);
  EXPECT_TRUE(plan_for(46500, 50000, static_cast<int>(plan.smallest_ranks)).fits);
  EXPECT_FALSE(plan_for(46500, 50000, static_cast<int>(plan.smallest_ranks) - 1).fits);
}

TEST(Plan, MemoryOf64BitProductsDoesNotWrap) {
  const LengthPlan plan = plan_for(131072, 131072, 1);
  for (const StageNeed& need : plan.stages) EXPECT_GT(need.bytes, 0) << need.stage;
  EXPECT_GT(plan.stages[0].bytes, Index{131072} * 131072 * 8);
}

TEST(Plan, SmallVocabulariesTakeTheDualProblem) {
  EXPECT_EQ(plan_for(7682, 17, 1).solver, Solver::dual);
  EXPECT_NE(plan_for(128, 30522, 1).solver, Solver::dual);
  EXPECT_NE(plan_for(40000, 30522, 1).solver, Solver::dual);
  EXPECT_LT(plan_for(7682, 17, 1).stages[0].bytes, Index{1} << 28);
}

TEST(Plan, RanksOfANodeShareWhatItHoldsOnce) {
  Config config;
  config.geometry.solver = Solver::pdsyevd;
  config.stress.choice = StressOptions::Dimensions::listed;
  config.stress.dims = {1, 64};
  config.stress.encodings = {{"mds", "", ""}};
  const auto bytes = [&](int ranks_per_node, int ranks, std::size_t stage) {
    config.plan_ranks_per_node = ranks_per_node;
    return plan_length(config, {131072, Index{1} << 40}, 131072, ranks, plenty).stages[stage].bytes;
  };
  // 131072 x 131072 nonzeros of 32 bytes while counts are read.
  const Index stored = Index{131072} * 131072;
  for (const std::size_t stage : {0U, 1U}) {
    EXPECT_GT(bytes(1, 1024, stage), 32 * stored);
    EXPECT_LT(bytes(64, 1024, stage), stored);
    EXPECT_EQ(bytes(64, 1, stage), bytes(1, 1, stage));  // nobody to share with
  }
}

TEST(Plan, TooLittleMemoryDoesNotFit) {
  EXPECT_FALSE(plan_for(4096, 50000, 2, Index{1} << 28).fits);
  EXPECT_TRUE(plan_for(4096, 5000, 2, Index{1} << 33).fits);
}

Index counting(Index n, Index v, Index tokens, int ranks, Index memory = plenty, bool split = false) {
  Config config;
  config.sequences = Sequences::packed;
  config.lengths = {n};
  config.noise.split = split;
  CorpusEstimate corpus;
  corpus.vocab_size = v;
  corpus.token_count = tokens;
  return count_need(config, corpus, ranks, memory).bytes;
}

TEST(Plan, CountingTableIsSharedByTheRanks) {
  constexpr Index memory = Index{8} << 30;
  const Index one = counting(16384, 131072, 0, 1, memory), sixteen = counting(16384, 131072, 0, 16, memory);
  EXPECT_GT(one, Index{16384} * 131072 * 4);
  EXPECT_LT(sixteen, one / 2);
  EXPECT_GT(sixteen, Index{16384} * 131072 * 4 / 16);
}

TEST(Plan, CountingFewTokensTakesLittle) {
  EXPECT_LT(counting(16384, 131072, 1000000, 2), counting(16384, 131072, 0, 2) / 4);
  EXPECT_GT(counting(1024, 50000, 100000000, 1, plenty, true), counting(1024, 50000, 100000000, 1));
}

TEST(Plan, TheNoiseAnalysisTakesMore) {
  const CorpusEstimate corpus = some_corpus(2048);
  Config config = some_config();
  const LengthPlan none = plan_of(config, corpus);
  config.noise.split = true;
  const LengthPlan split = plan_of(config, corpus);
  config.noise.shuffle = true;
  const LengthPlan both = plan_of(config, corpus);
  EXPECT_GT(split.stages[0].bytes, none.stages[0].bytes);
  EXPECT_GT(both.stages[0].bytes, split.stages[0].bytes);
  EXPECT_GT(split.stages[0].seconds, 2 * none.stages[0].seconds);
  EXPECT_GT(both.stages[0].seconds, split.stages[0].seconds);
  // Against the shuffled corpus there is one more MDS, and no more noise analysis.
  EXPECT_GT(both.stages[1].bytes, none.stages[1].bytes);
  EXPECT_GT(both.stages[1].seconds, none.stages[1].seconds);
  EXPECT_LT(both.stages[1].seconds, none.stages[1].seconds + 2 * none.stages[0].seconds);
}

TEST(Plan, SmacofAndStoredEncodingsTakeMore) {
  const CorpusEstimate corpus = some_corpus(2048);
  Config config = some_config();
  config.stress.dims = {1, 256};
  config.stress.smacof_iterations = 1000;
  const StageNeed plain = plan_of(config, corpus).stages[1];
  Config with = config;
  with.stress.encodings = {{"mds", "", ""}, {"smacof", "", ""}};
  const StageNeed smacof = plan_of(with, corpus).stages[1];
  EXPECT_GT(smacof.bytes, plain.bytes + Index{2048} * 256 * 8);
  EXPECT_GT(smacof.seconds, 4 * plain.seconds);
  config.stress.write_encodings = true;
  EXPECT_GE(plan_of(config, corpus).stages[1].bytes, plain.bytes + Index{2048} * 256 * 8);
}

TEST(Plan, TheBootstrapIsAStageOfItsOwn) {
  const CorpusEstimate corpus = some_corpus(2048);
  Config config = some_config();
  EXPECT_EQ(plan_of(config, corpus).stages.size(), 2U);
  config.bootstrap.replicates = 20;
  const LengthPlan plan = plan_of(config, corpus);
  ASSERT_EQ(plan.stages.size(), 3U);
  EXPECT_EQ(plan.stages[2].stage, "bootstrap");
  EXPECT_GT(plan.stages[2].bytes, plan.stages[0].bytes);
  EXPECT_GT(plan.stages[2].seconds, 20 * 0.5 * plan.stages[0].seconds);
}

TEST(Plan, KrylovTakesLessThanTheMatrix) {
  Config config = some_config();
  config.geometry.solver = Solver::krylov;
  config.geometry.leading_only = true;
  CorpusEstimate corpus = some_corpus(16384);
  const auto bytes = [&] { return plan_length(config, corpus, 16384, 1, plenty).stages[0].bytes; };
  const Index krylov = bytes();
  config.geometry.solver = Solver::lapack;
  EXPECT_LT(krylov, bytes() / 2);
}

TEST(Plan, DocumentsShorterThanTheLengthTakeLess) {
  Config config = some_config();
  const StageNeed all = plan_of(config, some_corpus(2048)).stages[0];
  CorpusEstimate shorter = some_corpus(512);
  const LengthPlan most = plan_of(config, shorter);
  EXPECT_LT(most.stages[0].bytes, all.bytes);
  EXPECT_EQ(most.rows, 2048);  // the sample may have missed longer ones
  shorter.whole_sample = true;
  const LengthPlan known = plan_of(config, shorter);
  EXPECT_EQ(known.rows, 512);
  EXPECT_LE(known.stages[0].bytes, most.stages[0].bytes);  // as many entries, in fewer rows
  EXPECT_LT(known.stages[0].seconds, most.stages[0].seconds);
  config.positions.unreached = Unreached::uniform;
  EXPECT_EQ(plan_of(config, shorter).rows, 2048);
}

TEST(Plan, ALargeJobIsPlannedInASecond) {
  Config config = some_config();
  config.geometry.solver = Solver::automatic;
  config.lengths = {131072};
  config.noise = {};
  config.noise.split = config.noise.shuffle = true;
  config.bootstrap.replicates = 39;
  config.stress.encodings = {{"mds", "", ""}, {"smacof", "", ""}};
  CorpusEstimate corpus;
  corpus.vocab_size = 131072;
  corpus.token_count = Index{1} << 40;
  for (Index k = 1; k <= corpus.vocab_size; ++k) corpus.unigram.push_back(4194304 / k + 1);
  const std::clock_t start = std::clock();
  const LengthPlan plan = plan_length(config, corpus, 131072, 1024, plenty);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 2);
  EXPECT_FALSE(crosses_a_limit(plan));
  for (const StageNeed& need : plan.stages) EXPECT_GT(need.bytes, Index{131072} * 131072 * 8 / 1024) << need.stage;
}

}  // namespace
}  // namespace posgeom
