#include "posgeom/pipeline/plan.hpp"

#include <gtest/gtest.h>

namespace posgeom {
namespace {

constexpr Index plenty = Index{1} << 44;

LengthPlan plan_for(Index n, Index v, int ranks, Index memory = plenty, Solver solver = Solver::automatic) {
  Config config;
  config.geometry.solver = solver;
  config.stress.choice = StressOptions::Dimensions::listed;
  config.stress.dims = {1, 64};
  config.stress.encodings = {{"mds", "", ""}};
  return plan_length(config, {v, 0}, n, ranks, memory);
}

bool crosses_a_limit(const LengthPlan& plan) {
  for (const StageNeed& need : plan.stages) {
    if (!need.limit.empty()) return true;
  }
  return false;
}

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
  // 131072 x 131072 nonzeros of 36 bytes while counts are read.
  const Index stored = Index{131072} * 131072;
  for (const std::size_t stage : {0U, 1U}) {
    EXPECT_GT(bytes(1, 1024, stage), 36 * stored);
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

}  // namespace
}  // namespace posgeom
