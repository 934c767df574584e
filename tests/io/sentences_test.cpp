#include "posgeom/io/sentences.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/known_files.hpp"

/// What the sentences say, in every case that they tell apart.
namespace posgeom {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += sentence + "\n";
  return all;
}

void expect_words(const std::vector<std::string>& sentences, const std::string& words) {
  EXPECT_NE(joined(sentences).find(words), std::string::npos) << "\"" << words << "\" is not in: " << joined(sentences);
}

void expect_none(const std::vector<std::string>& sentences, const std::string& words) {
  EXPECT_EQ(joined(sentences).find(words), std::string::npos) << "\"" << words << "\" is in: " << joined(sentences);
}

/// mds, smacof and linear at d = 1, 2, 4, 8.
StressFile plain_stress() {
  StressFile file;
  file.length = 12;
  file.table.dimensions = {1, 2, 4, 8};
  file.table.encoding_names = {"mds", "smacof", "linear"};
  for (auto* measure : measures_of(file.table)) measure->assign(12, 0.5);
  file.table.constant_baseline = 0.25;
  file.table.corpus_violation_rate = 0.1;
  return file;
}

NoiseAnalysis analysis_of_rank(Index rank) {
  NoiseAnalysis noise = known_noise();
  noise.signal_rank = rank;
  return noise;
}

GeometryFacts plain_facts(const NoiseAnalysis* noise) {
  return {.positions = 12, .rank = 9, .known_eigenvalues = 12, .components = 8, .fewest_tokens = 100, .most_tokens = 150, .noise = noise};
}

TEST(StressSentences, DimensionsBeyondTheSignalRank) {
  const NoiseAnalysis two = analysis_of_rank(2), none = analysis_of_rank(0), one = analysis_of_rank(1), eight = analysis_of_rank(8);
  const auto said = [](const NoiseAnalysis& noise, const StressFile& stress = plain_stress()) {
    const GeometryFacts facts = plain_facts(&noise);
    return stress_sentences(stress, &facts);
  };
  expect_words(said(two),
               "mds and smacof at d = 4, 8: only 2 components stand above sampling noise; what they gain beyond may be fitted noise");
  expect_words(said(one), "mds and smacof at d = 2, 4, 8: only 1 component stands above sampling noise");
  expect_words(said(none), "mds and smacof at d = 1, 2, 4, 8: no component stands above sampling noise");
  expect_none(said(eight), "fitted noise");
  StressFile stress = plain_stress();
  stress.table.encoding_names = {"mds", "alibi", "linear"};
  stress.table.raw[3] = nan;  // mds at d = 8 has no number
  expect_words(said(two, stress), "mds at d = 4: only 2 components stand above sampling noise; what it gains beyond may be fitted noise");
  stress.table.encoding_names = {"rope", "alibi", "linear"};
  expect_none(said(none, stress), "fitted noise");
  // Beyond the rank there is nothing, noise or not.
  GeometryFacts all = plain_facts(&eight);
  all.rank = 8;
  stress = plain_stress();
  stress.table.dimensions = {1, 2, 4, 16};
  expect_none(stress_sentences(stress, &all), "fitted noise");
  const GeometryFacts unknown = plain_facts(nullptr);
  expect_words(stress_sentences(plain_stress(), &unknown), "nothing was analysed of sampling noise");
}

TEST(StressSentences, TheMostImportantComesFirst) {
  const NoiseAnalysis noise = analysis_of_rank(2);
  const GeometryFacts facts = plain_facts(&noise);
  const std::vector<std::string> sentences = stress_sentences(plain_stress(), &facts);
  EXPECT_EQ(sentences.front().rfind("noise: 2 components stand above sampling noise", 0), 0U) << sentences.front();
  // Without the geometry nothing is said of noise, and the rest stays.
  const std::vector<std::string> alone = stress_sentences(plain_stress(), nullptr);
  EXPECT_EQ(alone.front().rfind("an encoding with all distances equal", 0), 0U) << alone.front();
  expect_none(alone, "sampling noise");
}

TEST(StressSentences, TheSignalEncodingAndTheDenoisedDistances) {
  const NoiseAnalysis noise = analysis_of_rank(2), none = analysis_of_rank(0);
  GeometryFacts facts = plain_facts(&noise);
  StressFile stress = plain_stress();
  stress.denoised.emplace();
  stress.denoised->constant_baseline = 0.75;
  stress.denoised->raw.assign(12, 0.5);
  stress.denoised->scaled = {0.5, 0.125, 0.25, 0.3, nan, nan, nan, nan, 0.6, 0.6, 0.6, 0.6};
  expect_words(stress_sentences(stress, &facts),
               "the least scaled stress is: mds 0.125 (d = 2), linear 0.6 (d = 1); 0.75 with all distances equal");
  expect_words(stress_sentences(stress, &facts),
               "mds: beyond d = 2 it fits sampling noise: the de-noised stress is least there (0.125), and 0.3 at d = 8");
  expect_none(stress_sentences(stress, &facts), "smacof: beyond");
  expect_none(stress_sentences(stress, &facts), "linear: beyond");
  stress.denoised->scaled[2] = stress.denoised->scaled[3] = 0.126;
  expect_none(stress_sentences(stress, &facts), "mds: beyond");
  expect_words(stress_sentences(stress, &facts),
               "the signal encoding (/noise/signal_encoding, 2 columns) is to be judged by de-noised stress");
  stress.table.encoding_names[1] = "signal";
  expect_words(stress_sentences(stress, &facts), "judge signal by its de-noised stress");
  expect_words(stress_sentences(stress, &facts), "at the 4 positions of the noise analysis");
  stress.table.encoding_names[1] = "smacof";
  facts.noise = &none;
  expect_none(stress_sentences(stress, &facts), "the signal encoding");
}

TEST(StressSentences, WeightedStress) {
  StressFile stress = plain_stress();
  expect_none(stress_sentences(stress, nullptr), "weigh");
  stress.weighted = {.weights = "tokens", .smacof = {0.125, nan, 0.0625, nan}, .mds = {0.25, nan, 0.5, nan}};
  expect_words(
      stress_sentences(stress, nullptr),
      "smacof weighs pairs by tokens (--smacof-weights): its weighted raw stress is 0.125 at d = 1 (mds 0.25), 0.0625 at d = 4 (mds "
      "0.5); the tables weigh nothing");
}

TEST(StressSentences, CellsWithoutANumber) {
  StressFile stress = plain_stress();
  expect_none(stress_sentences(stress, nullptr), "nan");
  stress.table.encoding_names = {"mds", "sinusoidal", "rope"};
  stress.table.raw[3] = nan;                        // mds, d = 8
  stress.table.raw[4] = stress.table.raw[8] = nan;  // d = 1
  stress.table.raw[11] = nan;                       // rope, d = 8
  GeometryFacts facts = plain_facts(nullptr);
  facts.components = 4;
  expect_words(stress_sentences(stress, &facts), "mds at d = 8 (--components keeps 4 columns)");
  expect_words(stress_sentences(stress, &facts), "sinusoidal, rope at d = 1 (odd d)");
  expect_words(stress_sentences(stress, &facts), "rope at d = 8 (no multiple of --rope-head-dim)");
  facts.components = 8;
  expect_words(stress_sentences(stress, &facts), "mds at d = 8 (not among the --encodings of the run that added that d)");
}

TEST(GeometrySentences, UnequalTotals) {
  const NoiseAnalysis noise = known_noise();
  GeometryFacts facts = plain_facts(&noise);
  EXPECT_TRUE(geometry_sentences(facts).empty());
  facts.most_tokens = 199;
  EXPECT_TRUE(geometry_sentences(facts).empty());
  facts.most_tokens = 200;
  expect_words(geometry_sentences(facts), "positions hold 100 to 200 tokens (2 times as many)");
  expect_words(geometry_sentences(facts), "--rarefy-geometry M or auto");
  expect_words(geometry_sentences(facts), "grow towards the thinly counted positions");
  facts.fewest_tokens = facts.most_tokens = -1;  // a file of an earlier version
  EXPECT_TRUE(geometry_sentences(facts).empty());
}

TEST(GeometrySentences, WhatKrylovDoesNotFind) {
  const NoiseAnalysis noise = known_noise();
  GeometryFacts facts = plain_facts(&noise);
  facts.positions = 64;
  facts.rank = -1;
  facts.known_eigenvalues = 1;
  expect_words(geometry_sentences(facts), "krylov found 1 leading eigenvalue of 64: the rank, entropy rank");
  expect_words(geometry_sentences(facts), "flat bulk of sampling noise");
  facts.known_eigenvalues = 24;
  expect_words(geometry_sentences(facts), "krylov found 24 leading eigenvalues of 64");
  expect_none(geometry_sentences(facts), "flat bulk");
}

TEST(GeometrySentences, OnePosition) {
  const NoiseAnalysis noise = known_noise();
  GeometryFacts facts = plain_facts(&noise);
  facts.positions = 1;
  EXPECT_EQ(geometry_sentences(facts),
            (std::vector<std::string>{"one position alone has no distances: there is nothing to embed or to score"}));
  expect_none(stress_sentences(plain_stress(), &facts), "triples");
}

TEST(SweepSentences, SignalRanksStandWithTheirM) {
  Sweep sweep;
  sweep.lengths = {8, 16, 32};
  sweep.signal_rank = {2, -1, 3};
  sweep.rarefied_total = {500, -1, 40};
  sweep.noise_positions = {8, -1, 1};
  expect_words(sweep_sentences(sweep),
               "signal rank: 2 at n = 8 (M = 500, 8 positions), 3 at n = 32 (M = 40, 1 position); not comparable, since M differs");
  sweep.rarefied_total = {40, -1, 40};
  expect_none(sweep_sentences(sweep), "not comparable");
  sweep.signal_rank = {-1, -1, -1};
  EXPECT_TRUE(sweep_sentences(sweep).empty());
}

TEST(BootstrapSentences, SayWhichIntervalToQuote) {
  GeometryBootstrap b;
  EXPECT_TRUE(bootstrap_sentences(2, 0.2, b).empty());
  for (int r = 0; r < 39; ++r) {
    b.rank.push_back(3);
    b.trace.push_back(2.5 + r / 100.0);
    b.violation_rate.push_back(0.25);
  }
  expect_words(bootstrap_sentences(2, 0.2, b),
               "bootstrap, 39 replicates, 95 % intervals: trace 2, basic 1.12 to 1.5 (percentile 2.5 to 2.88)");
  expect_words(bootstrap_sentences(2, 0.2, b), "quote the basic intervals");
}

}  // namespace
}  // namespace posgeom
