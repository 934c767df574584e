#include <algorithm>
#include <cmath>
#include <functional>

#include "noise_corpora.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/rarefy.hpp"

/// Every undefined case of the noise analysis has its defined answer, and what cannot be is refused.
namespace posgeom {
namespace {

using synthetic::counts_of;
using synthetic::grid;

void expect_error(const std::function<void()>& action, const std::vector<std::string>& parts, ErrorKind kind = ErrorKind::run) {
  std::string text;
  try {
    action();
  } catch (const Error& error) {
    text = error.what();
    EXPECT_EQ(error.kind(), kind) << text;
  }
  EXPECT_FALSE(text.empty()) << "nothing was thrown";
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += sentence + "\n";
  return all;
}

void expect_words(const NoiseAnalysis& analysis, const std::vector<std::string>& parts) {
  const std::string all = joined(noise_sentences(analysis));
  for (const std::string& part : parts) EXPECT_NE(all.find(part), std::string::npos) << "\"" << part << "\" is not in: " << all;
}

TEST(NoiseUndefined, DefaultTotalIsTheSmallestAboveOnePercent) {
  EXPECT_EQ(default_rarefied_total({}), 0);
  EXPECT_EQ(default_rarefied_total({0, 0}), 0);
  EXPECT_EQ(default_rarefied_total({0, 7, 0}), 7);
  EXPECT_EQ(default_rarefied_total({1000, 500, 11, 10, 9, 0}), 10);
  EXPECT_EQ(default_rarefied_total({3, 2, 1}), 1);
  EXPECT_EQ(default_rarefied_total({Count{1} << 40, (Count{1} << 40) / 100 + 1, (Count{1} << 40) / 100 - 1}), (Count{1} << 40) / 100 + 1);
}

TEST(NoiseUndefined, PositionsBelowTheTotalLeave) {
  // Smaller halves: 300, 100, 30, 2, 40 of fewer than min_count, 0.
  const PositionCounts all = counts_of({{400, 300}, {100, 100}, {40, 30}, {200, 2}, {80, 5}, {0, 0}});
  const PositionCounts half_a = counts_of({{200, 100}, {50, 50}, {20, 10}, {199, 1}, {40, 0}, {0, 0}});
  const NoiseTables tables{.corpus = &all, .half_a = &half_a};
  const HellingerOptions hellinger{.unreached = Unreached::uniform, .min_count = 50};
  const NoiseAnalysis by_rule = analyse_noise(grid(), tables, 6, hellinger, {.replicates = 19});
  EXPECT_EQ(by_rule.rarefied_total, 30);
  EXPECT_EQ(by_rule.position, (std::vector<std::int32_t>{0, 1, 2, 4}));
  EXPECT_EQ(by_rule.reached, 5);
  expect_words(by_rule, {"4 of 6 positions hold at least M = 30 tokens in each half and take part; 1 holds fewer; 1 is not reached"});
  const NoiseAnalysis given = analyse_noise(grid(), tables, 6, {.min_count = 86}, {.replicates = 19, .rarefy = 2});
  EXPECT_EQ(given.rarefied_total, 2);
  EXPECT_EQ(given.position, (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(given.reached, 3);
  // Only positions below the length.
  EXPECT_EQ(analyse_noise(grid(), tables, 2, {}, {.replicates = 19}).position, (std::vector<std::int32_t>{0, 1}));
}

TEST(NoiseUndefined, NoPositionHoldsTheTotal) {
  const PositionCounts all = counts_of({{40, 30}, {20, 10}});
  const PositionCounts half_a = counts_of({{20, 10}, {10, 10}});
  NoiseTables tables{.corpus = &all, .half_a = &half_a, .shuffled = &all, .shuffled_half_a = &half_a};
  const auto check = [](const NoiseAnalysis& found) {
    EXPECT_TRUE(found.split);
    EXPECT_TRUE(found.position.empty());
    EXPECT_TRUE(found.split_eigenvalues.empty());
    EXPECT_EQ(found.null_largest.size(), 19U);
    EXPECT_TRUE(std::ranges::all_of(found.null_largest, [](double x) { return std::isnan(x); }));
    EXPECT_TRUE(std::isnan(found.threshold));
    EXPECT_TRUE(std::isnan(found.reliability));
    EXPECT_TRUE(std::isnan(found.denoised_sum));
    EXPECT_EQ(found.signal_rank, 0);
    EXPECT_EQ(found.signal_trace, 0);
    EXPECT_EQ(found.signal_components, 0);
    EXPECT_EQ(found.signal_rank_order, 0);
    EXPECT_TRUE(std::isnan(found.shuffled_split_largest));
    EXPECT_NEAR(found.shuffled_share, 1, 1e-12);
  };
  const NoiseAnalysis found = analyse_noise(grid(), tables, 2, {}, {.replicates = 19, .rarefy = 50});
  check(found);
  expect_words(found, {"none of 2 positions holds M = 50 tokens in both halves: nothing can be said about sampling noise"});
  // Half a is empty, and so is half b.
  const PositionCounts nothing = counts_of({{0, 0}, {0, 0}});
  for (const PositionCounts* half : {&nothing, &all}) {
    tables.half_a = tables.shuffled_half_a = half;
    const NoiseAnalysis empty = analyse_noise(grid(), tables, 2, {}, {.replicates = 19});
    check(empty);
    EXPECT_EQ(empty.rarefied_total, 0);
    expect_words(empty, {"none of 2 positions has tokens in both halves: nothing can be said"});
  }
}

TEST(NoiseUndefined, OnePositionAndTwo) {
  const PositionCounts all = counts_of({{40, 30}, {20, 50}, {1, 1}});
  const PositionCounts half_a = counts_of({{20, 15}, {10, 30}, {1, 0}});
  const NoiseTables tables{.corpus = &all, .half_a = &half_a, .shuffled = &all, .shuffled_half_a = &half_a};
  const NoiseAnalysis one = analyse_noise(grid(), tables, 1, {}, {.replicates = 19});
  EXPECT_EQ(one.position_count(), 1);
  EXPECT_EQ(one.split_eigenvalues, std::vector<double>{0});
  EXPECT_EQ(one.null_largest, std::vector<double>(19, 0.0));
  EXPECT_EQ(one.threshold, 0);
  EXPECT_EQ(one.signal_rank, 0);
  EXPECT_EQ(one.signal_rank_order, 0);
  EXPECT_EQ(one.denoised_sum, 0);
  EXPECT_TRUE(std::isnan(one.reliability));
  EXPECT_TRUE(std::isnan(one.shuffled_violation_rate));
  EXPECT_TRUE(std::isnan(one.shuffled_share));
  expect_words(one, {"1 of 1 positions holds at least M = 35", "one position alone has no distances"});
  const NoiseAnalysis two = analyse_noise(grid(), tables, 2, {}, {.replicates = 19});
  EXPECT_EQ(two.split_eigenvalues.size(), 2U);
  EXPECT_TRUE(std::isnan(two.reliability)) << "one pair has no correlation";
  EXPECT_TRUE(std::ranges::all_of(two.null_largest, [](double x) { return x >= 0; }));
}

TEST(NoiseUndefined, OneTypeOrEqualPositionsAreNoSignal) {
  const PositionCounts one_type = counts_of({{40}, {60}, {80}, {100}});
  const PositionCounts half = counts_of({{20}, {30}, {40}, {50}});
  const NoiseAnalysis found = analyse_noise(grid(), {.corpus = &one_type, .half_a = &half}, 4, {}, {.replicates = 19});
  EXPECT_EQ(found.threshold, 0);
  EXPECT_EQ(found.signal_rank, 0) << found.split_eigenvalues.front();
  EXPECT_EQ(found.signal_trace, 0);
  EXPECT_TRUE(std::isnan(found.reliability));
  expect_words(found, {"no component stands above sampling noise", "indistinguishable from draws of one common distribution"});
  // Nothing is left out by rarefaction, so that all rows are equal: less noise than any draws have.
  const PositionCounts equal = counts_of({{20, 30, 70}, {20, 30, 70}, {20, 30, 70}, {20, 30, 70}, {20, 30, 70}});
  const PositionCounts its_half = counts_of({{10, 15, 35}, {10, 15, 35}, {10, 15, 35}, {10, 15, 35}, {10, 15, 35}});
  const NoiseAnalysis none = analyse_noise(grid(), {.corpus = &equal, .half_a = &its_half}, 5, {}, {.replicates = 19});
  EXPECT_EQ(none.rarefied_total, 60);
  EXPECT_EQ(none.signal_rank, 0);
  EXPECT_GT(none.threshold, 0);
}

TEST(NoiseUndefined, WithoutHalvesOrWithoutAShuffledCorpus) {
  const synthetic::SplitCorpus corpus = synthetic::common_corpus(6, 30, 2);
  const NoiseAnalysis only_shuffle = analyse_noise(grid(), {.corpus = &corpus.all, .shuffled = &corpus.all}, 6, {}, {.replicates = 19});
  EXPECT_FALSE(only_shuffle.split);
  EXPECT_TRUE(only_shuffle.shuffle);
  EXPECT_EQ(only_shuffle.signal_rank, -1);
  EXPECT_EQ(only_shuffle.signal_rank_order, -1);
  EXPECT_TRUE(std::isnan(only_shuffle.threshold));
  EXPECT_TRUE(std::isnan(only_shuffle.signal_trace));
  EXPECT_TRUE(only_shuffle.null_largest.empty());
  EXPECT_EQ(only_shuffle.shuffled_eigenvalues.size(), 6U);
  EXPECT_EQ(noise_sentences(only_shuffle).size(), 1U);
  expect_words(only_shuffle, {"keeps 100 % of the sum of squared distances: rank 5"});
  const NoiseTables without_halves{.corpus = &corpus.all, .half_a = &corpus.half_a, .shuffled = &corpus.all};
  EXPECT_EQ(analyse_noise(grid(), without_halves, 6, {}, {.replicates = 19}).signal_rank_order, -1);
  const NoiseAnalysis only_split = analyse_noise(grid(), corpus.tables(), 6, {}, {.replicates = 19});
  EXPECT_FALSE(only_split.shuffle);
  EXPECT_TRUE(only_split.shuffled_eigenvalues.empty());
  EXPECT_TRUE(std::isnan(only_split.shuffled_trace));
  EXPECT_EQ(only_split.shuffled_rank, -1);
}

TEST(NoiseWords, SayWhatStandsAndWhatDoesNot) {
  NoiseAnalysis n;
  n.length = 64;
  n.reached = 60;
  n.split = true;
  n.position = std::vector<std::int32_t>(23);
  n.rarefied_total = 1200;
  n.null_largest.assign(99, 0.0);
  n.threshold = 0.05;
  n.alpha = 0.05;
  n.signal_rank = 3;
  n.signal_trace = 2.5;
  n.signal_rank_order = 1;
  n.shuffled_split_largest = 0.7;
  n.split_eigenvalues = {1.5, 0.6};
  expect_words(
      n, {"23 of 64 positions hold at least M = 1200 tokens in each half and take part; 37 hold fewer; 4 are not reached",
          "3 components stand above sampling noise (M = 1200 tokens a half at 23 positions; threshold 0.05, at most 5 % false alarms by 99 "
          "replicates), with a trace of 2.5",
          "1 component stands above what the tokens show without their order (largest eigenvalue 0.7 of the shuffled corpus's halves)"});
  EXPECT_EQ(joined(noise_sentences(n)).find("indistinguishable"), std::string::npos);
  EXPECT_EQ(joined(noise_sentences(n)).find("every other time"), std::string::npos);
  n.split_eigenvalues = {1.3, 0.6};
  expect_words(n, {"of the shuffled corpus's halves); one alone, and by less than twice: where order plays no part, that happens about "
                   "every other time"});
  expect_words(n, {"; the other 2 above sampling noise are no larger than order-free text shows"});
  n.signal_rank_order = 0;
  expect_words(n, {"no component stands above what the tokens show", "the order of the tokens is indistinguishable from shuffled text"});
}

TEST(NoiseRefusal, TablesThatAreNotOfOneCorpus) {
  const PositionCounts all = counts_of({{40, 30, 0}, {20, 50, 9}});
  const auto analyse = [&](const PositionCounts& half_a, const PositionCounts* shuffled = nullptr,
                           const PositionCounts* their_half = nullptr) {
    const NoiseTables tables{.corpus = &all, .half_a = &half_a, .shuffled = shuffled, .shuffled_half_a = their_half};
    analyse_noise(grid(), tables, 2, {}, {.replicates = 19});
  };
  const PositionCounts half = counts_of({{20, 15, 0}, {10, 25, 9}});
  expect_error(
      [&] {
        analyse(counts_of({{20, 15, 0}, {10, 51, 0}}));
      },
      {"half a of the corpus holds token 1 at position 1 51 times, expected at most the 50 times", "count it again"});
  expect_error([&] { analyse(counts_of({{20, 15, 4}, {10, 1, 0}})); }, {"token 2 at position 0 4 times, expected at most the 0 times"});
  const PositionCounts only_last = counts_of({{0, 0, 5}, {1, 1, 1}});
  const NoiseTables unknown{.corpus = &only_last, .half_a = &half};
  expect_error([&] { analyse_noise(grid(), unknown, 2, {}, {.replicates = 19}); }, {"token 0 at position 0 20 times"});
  expect_error([&] { analyse(counts_of({{20, 15, 0}})); }, {"half a of the corpus has 1 positions and V = 3, expected at least 2"});
  expect_error([&] { analyse(counts_of({{20, 15}, {10, 1}})); }, {"V = 2", "V = 3"});
  const PositionCounts fewer = counts_of({{40, 30, 0}, {20, 50, 8}});
  expect_error([&] { analyse(half, &fewer); }, {"the shuffled corpus holds 78 tokens at position 1, the corpus 79"});
  const PositionCounts shorter = counts_of({{40, 30, 0}});
  expect_error([&] { analyse(half, &shorter); }, {"the shuffled corpus holds 0 tokens at position 0, the corpus 70"});
  const PositionCounts more = counts_of({{41, 29, 0}, {20, 50, 9}});
  const PositionCounts too_many = counts_of({{20, 30, 0}, {10, 25, 9}});
  expect_error([&] { analyse(half, &more, &too_many); }, {"half a of the shuffled corpus holds token 1 at position 0 30 times"});
}

TEST(NoiseUndefined, TheShuffledHalvesLimitTheTotalToo) {
  // As where packed sequences, which mix documents of both halves, are shuffled: the halves' tokens change their positions.
  const PositionCounts all = counts_of({{40, 30, 0}, {20, 50, 9}});
  const PositionCounts half = counts_of({{20, 15, 0}, {10, 25, 9}});
  const PositionCounts unlike = counts_of({{20, 5, 0}, {10, 25, 9}});
  const NoiseTables tables{.corpus = &all, .half_a = &half, .shuffled = &all, .shuffled_half_a = &unlike};
  const NoiseAnalysis analysis = analyse_noise(grid(), tables, 2, {}, {.replicates = 19});
  EXPECT_EQ(analysis.rarefied_total, 25);
  EXPECT_EQ(analysis.position, (std::vector<std::int32_t>{0, 1}));
  EXPECT_GE(analysis.signal_rank_order, 0);
  const NoiseAnalysis given = analyse_noise(grid(), tables, 2, {}, {.replicates = 19, .rarefy = 30});
  EXPECT_EQ(given.position, (std::vector<std::int32_t>{1}));
  const NoiseTables real{.corpus = &all, .half_a = &half};
  EXPECT_EQ(analyse_noise(grid(), real, 2, {}, {.replicates = 19}).rarefied_total, 35);
}

TEST(NoiseRefusal, OptionsThatCannotBe) {
  const synthetic::SplitCorpus corpus = synthetic::common_corpus(4, 30, 2);
  const auto with = [&](const NoiseAnalysisOptions& options) {
    return [&corpus, options] { analyse_noise(grid(), corpus.tables(), 4, {}, options); };
  };
  expect_error(with({.replicates = 18}), {"--replicates 18", "--alpha 0.05", "at least 19"}, ErrorKind::usage);
  expect_error(with({.alpha = 0.001}), {"--replicates 99", "at least 999"}, ErrorKind::usage);
  expect_error(with({.replicates = 0}), {"--replicates: found 0"}, ErrorKind::usage);
  expect_error(with({.alpha = 0}), {"--alpha: found 0, expected a rate between 0 and 1"}, ErrorKind::usage);
  expect_error(with({.alpha = 1}), {"--alpha: found 1"}, ErrorKind::usage);
  expect_error(with({.alpha = std::nan("")}), {"--alpha: found nan"}, ErrorKind::usage);
  expect_error(with({.rarefy = -3}), {"--rarefy: found -3"}, ErrorKind::usage);
}

}  // namespace
}  // namespace posgeom
