#include "posgeom/geometry/noise.hpp"

#include <cmath>

#include "geometry/noise_split.hpp"
#include "noise_corpora.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/linalg/operations.hpp"
#include "reference.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using synthetic::first_positions;
using synthetic::grid;
using synthetic::whole;

TEST(Noise, PlantedComponentsAreFoundWhereTheNaiveRankSeesNoise) {
  const Index n = 24;
  const synthetic::SplitCorpus corpus =
      synthetic::split_corpus(synthetic::planted_rows(n, 20), synthetic::falling_totals(n, 12000, 3000), 5);
  const NoiseAnalysis found = analyse_noise(grid(), corpus.tables(), n, {}, {.block = 4});
  EXPECT_EQ(found.signal_rank, 3);
  EXPECT_EQ(classical_mds(grid(), square_root_distributions(corpus.all, n, {}), {}).spectrum.rank, n - 1);
  EXPECT_EQ(found.position_count(), n);
  EXPECT_EQ(found.rarefied_total, *std::ranges::min_element(corpus.half_a.position_total));
  EXPECT_GT(found.reliability, 0.99);
  EXPECT_GT(found.reliability_of_whole, found.reliability);
  EXPECT_EQ(found.signal_rank_order, -1);
  // The truth: the trace of the three components, from the exact distributions.
  std::vector<std::vector<Count>> exact;
  for (const auto& row : synthetic::planted_rows(n, 20)) {
    exact.emplace_back();
    for (const double p : row) exact.back().push_back(std::llround(1e9 * p));
  }
  const SquareRootDistributions truth = square_root_distributions(synthetic::counts_of(exact), n, {});
  EXPECT_NEAR(found.signal_trace, gram_trace(truth), 0.03 * gram_trace(truth));
  EXPECT_NEAR(found.denoised_sum, static_cast<double>(n) * gram_trace(truth), 0.03 * static_cast<double>(n) * gram_trace(truth));
  // The encoding: rows of V sqrt(Lambda), whose distances are near the true ones.
  ASSERT_EQ(found.signal_components, 3);
  ASSERT_EQ(std::ssize(found.signal_encoding), 3 * n);
  const Mds mds = classical_mds(grid(), truth, {});
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto column = std::span(found.signal_encoding).subspan(k * 24, 24);
    double norm = 0;
    double product = 0;
    for (std::size_t i = 0; i < 24; ++i) {
      norm += column[i] * column[i];
      sum += column[i] * column[i];
      product += column[i] * mds.encoding.at(static_cast<Index>(i), static_cast<Index>(k));
    }
    EXPECT_NEAR(norm, found.split_eigenvalues[k], 1e-12);
    EXPECT_GT(product, 0.9 * norm) << "the sign rule of the true solution, component " << k;
  }
  EXPECT_NEAR(sum, found.signal_trace, 1e-12);
  const NoiseAnalysis capped = analyse_noise(grid(), corpus.tables(), n, {}, {.replicates = 19, .components = 2, .block = 4});
  EXPECT_EQ(capped.signal_rank, 3);
  EXPECT_EQ(capped.signal_components, 2);
  EXPECT_EQ(std::ssize(capped.signal_encoding), 2 * n);
  // With H in [0, 1] everything is halved.
  const NoiseAnalysis half = analyse_noise(grid(), corpus.tables(), n, {.unit_range = true}, {.block = 4});
  EXPECT_EQ(half.signal_rank, 3);
  EXPECT_NEAR(half.threshold, found.threshold / 2, 1e-12);
  EXPECT_NEAR(half.signal_trace, found.signal_trace / 2, 1e-12);
  const std::vector<double> squared = whole(denoised_squared_distances(grid(), corpus.tables(), found, {}, {.block = 4}));
  double pairs = 0;
  Index negative = 0;
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      pairs += squared[i * 24 + j];
      negative += squared[i * 24 + j] < 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(pairs, found.denoised_sum, 1e-10 * pairs);
  EXPECT_EQ(negative, found.denoised_negative);
}

TEST(Noise, ACommonDistributionWithUnequalTotalsIsNoSignalAtTheNominalRate) {
  const Index n = 16;
  const int seeds = testing_support::scaled(60, 10);
  int alarms = 0;
  const Communicator self = Communicator::self();
  const ProcessGrid alone = ProcessGrid::nearest_square(self);
  // Seeds are dealt to the ranks, which work alone.
  for (int seed = world().rank(); seed < seeds; seed += world().size()) {
    const synthetic::SplitCorpus corpus = synthetic::common_corpus(n, 300, static_cast<unsigned>(1000 + seed));
    const NoiseAnalysis found = analyse_noise(alone, corpus.tables(), n, {}, {.replicates = 19, .seed = static_cast<std::uint64_t>(seed)});
    alarms += found.signal_rank > 0 ? 1 : 0;
  }
  alarms = all_reduce(world(), alarms);
  // Binomial with 60 trials of 5 %: 9 or more have a probability of 0.4 %.
  EXPECT_LE(alarms, testing_support::scaled(8, 3));
}

TEST(Noise, UnequalTotalsAloneLookLikeStructureWithoutRarefaction) {
  const Index n = 32;
  const synthetic::SplitCorpus corpus = synthetic::split_corpus(std::vector<synthetic::Distribution>(32, synthetic::zipf(3000)),
                                                                synthetic::falling_totals(n, 30000, 300), 11);
  const NoiseAnalysis found = analyse_noise(grid(), corpus.tables(), n, {}, {.replicates = 19, .block = 8});
  const noise::Halves halves = noise::halves_of(corpus.half_a, corpus.half_b, first_positions(n), {});
  const double naive = eigh(noise::split_gram(grid(), halves, 8), {Solver::automatic, 1}).values.front();
  EXPECT_EQ(found.signal_rank, 0);
  EXPECT_GT(naive, 4 * found.split_eigenvalues.front());
  EXPECT_GT(naive, 4 * found.threshold);
}

TEST(Noise, ReplicatesDoNotDependOnTheRankCount) {
  const Index n = 12;
  const synthetic::SplitCorpus corpus = synthetic::split_corpus(synthetic::planted_rows(n, 20), synthetic::falling_totals(n, 900, 200), 3);
  const synthetic::SplitCorpus other = synthetic::common_corpus(n, 60, 4);
  NoiseTables tables = corpus.tables();
  tables.shuffled = &corpus.all;
  tables.shuffled_half_a = &corpus.half_b;
  const NoiseAnalysisOptions options{.replicates = 23, .alpha = 0.1, .block = 2};
  const NoiseAnalysis together = analyse_noise(grid(), tables, n, {}, options);
  const Communicator self = Communicator::self();
  const NoiseAnalysis alone = analyse_noise(ProcessGrid::nearest_square(self), tables, n, {}, options);
  EXPECT_EQ(together.null_largest, alone.null_largest);
  EXPECT_EQ(together.threshold, alone.threshold);
  EXPECT_EQ(together.position, alone.position);
  EXPECT_EQ(together.signal_rank, alone.signal_rank);
  EXPECT_EQ(together.signal_rank_order, alone.signal_rank_order);
  EXPECT_EQ(together.shuffled_rank, alone.shuffled_rank);
  EXPECT_EQ(together.denoised_negative, alone.denoised_negative);
  const double unit = alone.split_eigenvalues.front();
  for (std::size_t k = 0; k < alone.split_eigenvalues.size(); ++k)
    EXPECT_NEAR(together.split_eigenvalues[k], alone.split_eigenvalues[k], 1e-14 * unit);
  ASSERT_EQ(together.signal_encoding.size(), alone.signal_encoding.size());
  for (std::size_t k = 0; k < alone.signal_encoding.size(); ++k) EXPECT_NEAR(together.signal_encoding[k], alone.signal_encoding[k], 1e-11);
  EXPECT_NEAR(together.reliability, alone.reliability, 1e-12);
  EXPECT_NEAR(together.shuffled_violation_rate, alone.shuffled_violation_rate, 1e-15);
  EXPECT_NEAR(together.shuffled_split_largest, alone.shuffled_split_largest, 1e-14);
  EXPECT_NE(analyse_noise(grid(), tables, n, {}, {.replicates = 23, .alpha = 0.1, .seed = 2, .block = 2}).null_largest,
            together.null_largest);
}

TEST(Noise, TheShuffleNullTakesOrderAway) {
  // Shuffled: every position has the mixture; the totals stay.
  const Index n = 16;
  const auto rows = synthetic::planted_rows(n, 40);
  synthetic::Distribution mixture(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t v = 0; v < row.size(); ++v) mixture[v] += row[v];
  }
  const std::vector<Count> totals = synthetic::falling_totals(n, 6000, 2000);
  const synthetic::SplitCorpus corpus = synthetic::split_corpus(rows, totals, 8);
  const synthetic::SplitCorpus shuffled =
      synthetic::split_corpus(std::vector<synthetic::Distribution>(static_cast<std::size_t>(n), mixture), totals, 9);
  NoiseTables tables = corpus.tables();
  tables.shuffled = &shuffled.all;
  tables.shuffled_half_a = &shuffled.half_a;
  int calls = 0;
  Index last = 0;
  const NoiseAnalysis found = analyse_noise(grid(), tables, n, {}, {}, [&](Index done, Index total) {
    ++calls;
    EXPECT_GT(done, last);
    EXPECT_EQ(total, 99);
    last = done;
  });
  EXPECT_EQ(calls, (99 + world().size() - 1) / world().size());
  EXPECT_EQ(last, 99);
  EXPECT_EQ(found.signal_rank, 3);
  EXPECT_EQ(found.signal_rank_order, 3);
  const SquareRootDistributions s = square_root_distributions(shuffled.all, n, {});
  const HellingerSummary summary = summarize_hellinger(world(), s);
  const HellingerSummary real = summarize_hellinger(world(), square_root_distributions(corpus.all, n, {}));
  EXPECT_NEAR(found.shuffled_trace, gram_trace(s), 1e-14);
  EXPECT_EQ(found.shuffled_sum_hellinger_squared, summary.sum_squared);
  EXPECT_NEAR(found.shuffled_share, summary.sum_squared / real.sum_squared, 1e-10);
  EXPECT_EQ(found.shuffled_violation_rate, summary.corpus_violation_rate);
  EXPECT_EQ(found.shuffled_rank, n - 1);
  ASSERT_EQ(std::ssize(found.shuffled_eigenvalues), n);
  // The corpus itself in the place of its shuffled self: order shows nothing.
  tables.shuffled = &corpus.all;
  tables.shuffled_half_a = &corpus.half_a;
  const NoiseAnalysis same = analyse_noise(grid(), tables, n, {}, {});
  EXPECT_EQ(same.signal_rank, 3);
  EXPECT_LE(same.signal_rank_order, 1);
  EXPECT_NEAR(same.shuffled_share, 1, 1e-12);
}

TEST(Noise, ThresholdIsTheOrderStatisticOfTheRate) {
  EXPECT_EQ(threshold_rank(99, 0.05), 95);
  EXPECT_EQ(threshold_rank(19, 0.05), 19);
  EXPECT_EQ(threshold_rank(20, 0.05), 20);
  EXPECT_EQ(threshold_rank(199, 0.01), 198);
  EXPECT_EQ(threshold_rank(999, 0.001), 999);
  EXPECT_EQ(threshold_rank(9, 0.5), 5);
  const synthetic::SplitCorpus corpus = synthetic::common_corpus(8, 50, 4);
  const NoiseAnalysis found = analyse_noise(grid(), corpus.tables(), 8, {}, {.replicates = 29, .alpha = 0.1});
  ASSERT_EQ(found.null_largest.size(), 29U);
  EXPECT_EQ(std::ranges::count_if(found.null_largest, [&](double x) { return x > found.threshold; }), 2);
  EXPECT_EQ(std::ranges::count(found.null_largest, found.threshold), 1);
  const auto above = std::ranges::count_if(found.split_eigenvalues, [&](double x) { return x > found.threshold; });
  EXPECT_EQ(found.signal_rank, above);
}

}  // namespace
}  // namespace posgeom
