#include <cmath>

#include "noise_corpora.hpp"

namespace posgeom {
namespace {

/// The smallest number that a binomial variable exceeds with a probability of at most `exceeded`.
int binomial_quantile(int trials, double rate, double exceeded) {
  double term = std::pow(1 - rate, trials);
  double sum = term;
  int k = 0;
  for (; 1 - sum > exceeded; ++k) {
    term *= rate / (1 - rate) * static_cast<double>(trials - k) / static_cast<double>(k + 1);
    sum += term;
  }
  return k;
}

/// In how many corpora a component stands above sampling noise, and above the shuffled corpus.
struct Alarms {
  int noise = 0;
  int order = 0;
};

/// **Collective.** Corpora whose positions share one distribution, with text-like, unequal totals. They are dealt to the ranks, which work
/// alone.
Alarms alarms_of_stationary_corpora(int corpora) {
  const Index n = 16;
  const Communicator self = Communicator::self();
  const ProcessGrid alone = ProcessGrid::nearest_square(self);
  Alarms alarms;
  for (int k = world().rank(); k < corpora; k += world().size()) {
    const auto seed = static_cast<unsigned>(50000 + 2 * k);
    const synthetic::SplitCorpus corpus = synthetic::common_corpus(n, 500, seed);
    // What shuffling makes of such a corpus has the same law: another draw.
    const synthetic::SplitCorpus shuffled = synthetic::common_corpus(n, 500, seed + 1);
    NoiseTables tables = corpus.tables();
    tables.shuffled = &shuffled.all;
    tables.shuffled_half_a = &shuffled.half_a;
    const NoiseAnalysis found = analyse_noise(alone, tables, n, {}, {.replicates = 39, .alpha = 0.05, .seed = seed});
    alarms.noise += found.signal_rank > 0 ? 1 : 0;
    alarms.order += found.signal_rank_order > 0 ? 1 : 0;
  }
  for (int* count : {&alarms.noise, &alarms.order}) *count = all_reduce(world(), *count);
  return alarms;
}

TEST(NoiseRate, FalseAlarmsOfTwoHundredStationaryCorporaAreThoseOfTheNominalRate) {
  const int corpora = 200;
  EXPECT_EQ(binomial_quantile(corpora, 0.05, 1e-3), 21);
  const Alarms alarms = alarms_of_stationary_corpora(corpora);
  // With 39 replicates the threshold is the 38th: exceeded by an exchangeable draw in exactly 5 %.
  EXPECT_LE(alarms.noise, binomial_quantile(corpora, 0.05, 1e-3));
  EXPECT_GE(alarms.noise, corpora - binomial_quantile(corpora, 0.95, 1e-3));
  // The largest eigenvalue of one shuffled corpus is exceeded by another draw of the same law every other time: signal_rank_order has no
  // rate of its own, which is why only components above sampling noise count there too (noise_sentences()).
  EXPECT_LE(alarms.order, binomial_quantile(corpora, 0.5, 1e-3));
  EXPECT_GE(alarms.order, corpora - binomial_quantile(corpora, 0.5, 1e-3));
}

}  // namespace
}  // namespace posgeom
