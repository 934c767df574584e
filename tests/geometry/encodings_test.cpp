#include "posgeom/geometry/encodings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

std::vector<std::int32_t> first_positions(std::size_t count) {
  std::vector<std::int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

/// The kernel's distances are those of its coordinates.
void expect_consistent(const LagKernel& kernel, Index d) {
  const std::vector<std::int32_t> positions = first_positions(50);
  const std::vector<double> p = kernel.coordinates(positions, d);
  const std::vector<double> distances = kernel.distances(50, d);
  ASSERT_EQ(p.size() % 50, 0U);
  const std::size_t width = p.size() / 50;
  ASSERT_GT(width, 0U);
  EXPECT_EQ(distances[0], 0.0);
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t j = i; j < 50; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < width; ++k) sum += std::pow(p[i * width + k] - p[j * width + k], 2);
      EXPECT_NEAR(distances[j - i], std::sqrt(sum), 1e-13 * std::sqrt(static_cast<double>(d)));
    }
  }
}

TEST(LagKernels, DistancesAreThoseOfTheCoordinates) {
  for (const Index d : {2, 4, 6, 10, 128}) expect_consistent(sinusoidal_encoding(), d);
  for (const Index d : {2, 6, 8, 16, 64}) expect_consistent(rope_encoding(10000, 8), d == 6 ? 6 : d);
  expect_consistent(alibi_encoding(12, 64), 5);
  expect_consistent(linear_encoding(64), 3);
}

TEST(Sinusoidal, RowsHaveSquaredNormHalfD) {
  const std::vector<double> p = sinusoidal_encoding().coordinates(std::vector<std::int32_t>{0, 1, 77, 4095}, 64);
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 64; ++k) sum += p[i * 64 + k] * p[i * 64 + k];
    EXPECT_NEAR(sum, 32.0, 1e-13);
  }
  EXPECT_DOUBLE_EQ(p[64], std::sin(1.0));
  EXPECT_DOUBLE_EQ(p[65], std::cos(1.0));
  EXPECT_DOUBLE_EQ(p[64 + 2], std::sin(std::pow(10000.0, -2.0 / 64)));
}

TEST(Sinusoidal, OddDimensionsAreUndefined) {
  for (const double x : sinusoidal_encoding().distances(4, 7)) EXPECT_TRUE(std::isnan(x));
  EXPECT_TRUE(sinusoidal_encoding().coordinates(first_positions(3), 7).empty());
}

TEST(Rope, WithOneHeadIsSinusoidalToTheLastBit) {
  for (const Index d : {2, 10, 64, 768}) {
    EXPECT_EQ(rope_encoding(10000, d).distances(200, d), sinusoidal_encoding().distances(200, d));
    EXPECT_EQ(rope_encoding(10000, 2 * d).distances(200, d), sinusoidal_encoding().distances(200, d)) << "d < d_h uses d_h = d";
  }
}

TEST(Rope, TilesTheHeadDimension) {
  const std::vector<double> one = rope_encoding(500000, 8).distances(30, 8);
  const std::vector<double> three = rope_encoding(500000, 8).distances(30, 24);
  for (std::size_t l = 0; l < 30; ++l) EXPECT_NEAR(three[l], std::sqrt(3.0) * one[l], 1e-14 * three[l]);
  for (const Index d : {3, 7, 12, 20}) EXPECT_TRUE(std::isnan(rope_encoding(10000, 8).distances(3, d)[0])) << d;
  EXPECT_TRUE(std::isnan(rope_encoding(10000, 3).distances(3, 6)[0])) << "an odd head";
}

RopeScaling scaled(RopeScaling::Kind kind, double factor, Index original_length = 0) { return {kind, factor, original_length}; }

/// |p_i - p_j|^2 of cos/sin pairs that turn at `angles` per position, from the coordinates.
double pair_distance(const std::vector<double>& angles, double lag) {
  double sum = 0;
  for (const double w : angles) sum += std::pow(std::cos(lag * w) - 1, 2) + std::pow(std::sin(lag * w), 2);
  return std::sqrt(sum);
}

void expect_rope(double base, Index head, const RopeScaling& scaling, const std::vector<double>& angles) {
  const std::vector<double> distances = rope_encoding(base, head, scaling).distances(300, head);
  for (std::size_t lag = 0; lag < 300; lag += 7)
    EXPECT_NEAR(distances[lag], pair_distance(angles, static_cast<double>(lag)), 1e-11) << name_of(scaling);
  expect_consistent(rope_encoding(base, head, scaling), 2 * head);
}

TEST(RopeScaling, LinearDividesThePositions) {
  for (const double base : {10000.0, 500000.0}) {
    const std::vector<double> plain = rope_encoding(base, 16).distances(400, 32);
    const std::vector<double> divided = rope_encoding(base, 16, scaled(RopeScaling::Kind::linear, 4)).distances(400, 32);
    for (std::size_t lag = 0; lag < 100; ++lag) EXPECT_NEAR(divided[4 * lag], plain[lag], 1e-12);
  }
}

TEST(RopeScaling, NtkKeepsTheFirstFrequencyAndDividesTheLast) {
  const RopeScaling ntk = scaled(RopeScaling::Kind::ntk, 8);
  for (const Index head : {4, 8, 64, 128}) {
    const std::vector<double> plain = rope_frequencies(10000, head, {});
    const std::vector<double> changed = rope_frequencies(10000, head, ntk);
    EXPECT_EQ(changed.front(), 1.0);
    EXPECT_NEAR(changed.back(), plain.back() / 8, 1e-14);
    EXPECT_EQ(changed, rope_frequencies(10000 * std::pow(8.0, static_cast<double>(head) / static_cast<double>(head - 2)), head, {}));
  }
  EXPECT_EQ(rope_frequencies(10000, 2, ntk), (std::vector<double>{1}));
  std::vector<double> angles;
  for (int k = 0; k < 4; ++k) angles.push_back(1 / std::pow(10000 * std::pow(8, 8.0 / 6), k / 4.0));
  expect_rope(10000, 8, ntk, angles);
}

/// Values of the authors' own formula for head 16, base 10000, L = 2048, F = 4: 8 frequencies, the ramp from k = 2 to 6.
TEST(RopeScaling, YarnIsThatOfItsAuthors) {
  const RopeScaling yarn = scaled(RopeScaling::Kind::yarn, 4, 2048);
  // 16 ln(2048 / (64 pi)) / (2 ln 10000) = 2.0156, 16 ln(2048 / (2 pi)) / (2 ln 10000) = 5.0259
  const std::vector<double> ramp{0, 0, 0, 0.25, 0.5, 0.75, 1, 1};
  std::vector<double> angles;
  for (std::size_t k = 0; k < 8; ++k) {
    const double w = 1 / std::pow(10000.0, static_cast<double>(k) / 8);
    angles.push_back(w / 4 * ramp[k] + w * (1 - ramp[k]));
  }
  const std::vector<double> found = rope_frequencies(10000, 16, yarn);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(found[k], angles[k], 1e-15) << k;
  expect_rope(10000, 16, yarn, angles);
  // Llama 2 extended 16 times: head 128, L = 4096: the ramp from 20 to 46.
  const std::vector<double> llama = rope_frequencies(10000, 128, scaled(RopeScaling::Kind::yarn, 16, 4096));
  const std::vector<double> plain = rope_frequencies(10000, 128, {});
  EXPECT_EQ(llama[20], plain[20]);
  EXPECT_NEAR(llama[33] / plain[33], 0.5 + 0.5 / 16, 1e-14);
  EXPECT_LT(llama[21], plain[21]);
  EXPECT_GT(llama[45], plain[45] / 16);
  EXPECT_NEAR(llama[46], plain[46] / 16, 1e-18);
  // A context so short that no wave turns even once within it: all are divided.
  const std::vector<double> all = rope_frequencies(10000, 8, scaled(RopeScaling::Kind::yarn, 2, 3));
  EXPECT_NEAR(all[1], 0.5 * rope_frequencies(10000, 8, {})[1], 1e-15);
}

TEST(RopeScaling, AFactorOfOneChangesNothing) {
  const std::vector<double> plain = rope_frequencies(500000, 64, {});
  for (const auto kind : {RopeScaling::Kind::linear, RopeScaling::Kind::ntk, RopeScaling::Kind::yarn}) {
    const std::vector<double> found = rope_frequencies(500000, 64, scaled(kind, 1, 2048));
    for (std::size_t k = 0; k < plain.size(); ++k) EXPECT_NEAR(found[k], plain[k], 1e-15 * plain[k]);
  }
  EXPECT_NEAR(plain.back(), std::pow(500000.0, -62.0 / 64), 1e-18);
  EXPECT_EQ(name_of(scaled(RopeScaling::Kind::linear, 2.5)), "linear:2.5");
  EXPECT_EQ(name_of(RopeScaling{}), "none");
}

/// The first lag of each bucket, from n^2 >= 64 2^t in integers.
TEST(T5, BucketsOfLags) {
  const std::vector<double> distances = t5_encoding().distances(1000, 5);
  for (Index lag = 0; lag < 1000; ++lag) {
    Index bucket = lag;
    if (lag >= 8) {
      for (bucket = 8; bucket < 15 && lag * lag >= Index{128} << (bucket - 8);) ++bucket;
    }
    EXPECT_DOUBLE_EQ(distances[static_cast<std::size_t>(lag)], static_cast<double>(bucket) / 15) << lag;
  }
  EXPECT_DOUBLE_EQ(distances[7] * 15, 7);
  EXPECT_DOUBLE_EQ(distances[11] * 15, 8);
  EXPECT_DOUBLE_EQ(distances[12] * 15, 9);
  EXPECT_DOUBLE_EQ(distances[16] * 15, 10);
  EXPECT_DOUBLE_EQ(distances[127] * 15, 15);
  EXPECT_DOUBLE_EQ(distances[999], 1);
}

/// |f(i) - f(j)| of features whose products are a kernel k: k_ii + k_jj - 2 k_ij, for the kernel made positive by a constant.
TEST(Kerple, DistancesAreThoseOfTheKernelsFeatures) {
  constexpr double constant = 1000;
  const auto check = [&](const LagKernel& kernel, auto bias) {
    EXPECT_TRUE(kernel.same_at_every_d);
    EXPECT_TRUE(kernel.coordinates(first_positions(3), 4).empty());
    const std::vector<double> distances = kernel.distances(200, 1);
    for (std::size_t lag = 0; lag < 200; ++lag) {
      const double squared = 2 * (constant + bias(0.0)) - 2 * (constant + bias(static_cast<double>(lag)));
      EXPECT_NEAR(distances[lag] * distances[lag], squared, 1e-10);
    }
  };
  check(kerple_log_encoding(), [](double lag) { return -std::log(1 + lag); });
  check(kerple_log_encoding(0.5, 3), [](double lag) { return -0.5 * std::log(1 + 3 * lag); });
  check(kerple_power_encoding(), [](double lag) { return -lag; });
  check(kerple_power_encoding(2, 0.7), [](double lag) { return -2 * std::pow(lag, 0.7); });
}

TEST(Fire, IsTheInputOfItsNetwork) {
  const LagKernel kernel = fire_encoding(512);
  EXPECT_TRUE(kernel.same_at_every_d);
  const std::vector<double> distances = kernel.distances(512, 3);
  EXPECT_EQ(distances[0], 0);
  for (const std::size_t lag : {1U, 10U, 100U, 511U})
    EXPECT_NEAR(distances[lag], std::log(1 + 0.1 * static_cast<double>(lag)) / std::log(1 + 0.1 * 512), 1e-14);
  EXPECT_LT(distances[511], 1);
}

TEST(Alibi, SlopesArePowersOfTwo) {
  const LagKernel kernel = alibi_encoding(8, 16);
  EXPECT_TRUE(kernel.same_at_every_d);
  const std::vector<double> p = kernel.coordinates(std::vector<std::int32_t>{4}, 99);
  ASSERT_EQ(p.size(), 8U);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_DOUBLE_EQ(p[k], 0.25 * std::pow(0.5, static_cast<double>(k + 1)));
  EXPECT_DOUBLE_EQ(linear_encoding(16).distances(5, 1)[4], 0.25);
}

TEST(Random, EntriesDependOnSeedPositionAndComponentAlone) {
  const Coordinates all = random_encoding(RandomKind::normal, 9, first_positions(20), 12);
  const Coordinates some = random_encoding(RandomKind::normal, 9, std::vector<std::int32_t>{3, 17}, 5);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(some.values[2 * k], all.values[20 * k + 3]);
    EXPECT_EQ(some.values[2 * k + 1], all.values[20 * k + 17]);
  }
  EXPECT_NE(random_encoding(RandomKind::normal, 10, first_positions(1), 1).values,
            random_encoding(RandomKind::normal, 9, first_positions(1), 1).values);
  EXPECT_NE(random_encoding(RandomKind::normal, 9 + (std::uint64_t{1} << 40), first_positions(1), 1).values,
            random_encoding(RandomKind::normal, 9, first_positions(1), 1).values)
      << "all 64 bits of the seed count";
}

TEST(Random, ValuesAreStable) {
  const Coordinates uniform = random_encoding(RandomKind::uniform, 1, first_positions(2), 2);
  const Coordinates normal = random_encoding(RandomKind::normal, 1, first_positions(2), 2);
  const Coordinates bert = random_encoding(RandomKind::bert, 1, first_positions(2), 2);
  const std::vector<double> uniform_expected = {0.7805183498467418, 0.3439965508613565, 0.02538976473287513, 0.939151695608673};
  const std::vector<double> normal_expected = {-0.41389779454431663, -0.8811635428517571, 0.751355221149513, 0.2035289091080003};
  EXPECT_EQ(uniform.values, uniform_expected);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(normal.values[k], normal_expected[k], 1e-14);
    EXPECT_DOUBLE_EQ(bert.values[k], 0.02 * normal.values[k]);
  }
}

TEST(Random, MomentsAreThoseOfTheDistribution) {
  const std::vector<std::int32_t> positions = first_positions(300);
  for (const auto& [kind, variance, fourth] : {std::tuple{RandomKind::normal, 1.0, 3.0}, std::tuple{RandomKind::uniform, 1.0 / 3, 9.0 / 5},
                                               std::tuple{RandomKind::bert, 0.0004, 3.0}}) {
    const std::vector<double> x = random_encoding(kind, 3, positions, 300).values;
    double sum = 0, sum2 = 0, sum4 = 0;
    for (const double v : x) {
      sum += v;
      sum2 += v * v;
      sum4 += v * v * v * v;
    }
    const auto n = static_cast<double>(x.size());
    EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(sum2 / n, variance, 0.03 * variance);
    EXPECT_NEAR(sum4 / n / (variance * variance), fourth, 0.1 * fourth);
  }
}

TEST(Random, NamesGoThereAndBack) {
  for (const RandomKind kind : {RandomKind::normal, RandomKind::uniform, RandomKind::bert})
    EXPECT_EQ(random_kind_named(name_of(kind)), kind);
  EXPECT_THROW(random_kind_named("gauss"), Error);
}

TEST(FileEncoding, TakesRowsAtTheTruePositions) {
  const std::vector<double> matrix{0, 1, 10, 11, 20, 21, 30, 31};
  const Coordinates x = file_encoding("table", matrix, 4, 2, std::vector<std::int32_t>{1, 3});
  EXPECT_EQ(x.columns, 2);
  EXPECT_FALSE(x.zero_beyond);
  EXPECT_EQ(x.values, (std::vector<double>{10, 30, 11, 31}));
  try {
    file_encoding("table", matrix, 4, 2, std::vector<std::int32_t>{1, 4});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("table"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("4 rows"), std::string::npos);
  }
  EXPECT_THROW(file_encoding("table", std::vector<double>{0, NAN}, 1, 2, std::vector<std::int32_t>{0}), Error);
}

TEST(MdsEncoding, IsZeroBeyondItsRankOnlyWhereTheRankIsStored) {
  Encoding encoding{.rows = 2, .components = 3, .stored = 1, .values = {1, -1}};
  EXPECT_TRUE(mds_encoding(encoding, 1).zero_beyond);
  EXPECT_FALSE(mds_encoding(encoding, 2).zero_beyond);
  EXPECT_TRUE(mds_encoding(encoding, 1).flag_not_unique);
}

}  // namespace
}  // namespace posgeom
