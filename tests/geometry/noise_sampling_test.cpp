#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "geometry/noise_null.hpp"
#include "geometry/rarefy_sampling.hpp"
#include "noise_corpora.hpp"
#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "support/scale.hpp"

/// Random numbers have the distribution that they are said to have. Nothing here communicates: one rank is enough.
namespace posgeom {
namespace {

KeyedWords words_of(std::uint64_t stream) { return KeyedWords({.seed = 7, .first = stream, .purpose = Purpose::rarefy}); }

/// (chi^2 - degrees) / sqrt(2 degrees): near a standard normal. Cells expected less than 8 times are put together.
double excess(const std::map<Index, Index>& found, const std::map<Index, double>& probability, double draws) {
  double chi_squared = 0;
  double degrees = -1;
  double expected = 0;
  double seen = 0;
  const auto close = [&] {
    if (expected <= 0) return;
    chi_squared += (seen - expected) * (seen - expected) / expected;
    degrees += 1;
    expected = seen = 0;
  };
  for (const auto& [x, p] : probability) {
    expected += p * draws;
    const auto at = found.find(x);
    seen += at == found.end() ? 0.0 : static_cast<double>(at->second);
    if (expected >= 8) close();
  }
  close();
  return degrees < 1 ? 0 : (chi_squared - degrees) / std::sqrt(2 * degrees);
}

long double log_choose(Index n, Index k) {
  return std::lgamma(static_cast<long double>(n) + 1) - std::lgamma(static_cast<long double>(k) + 1) -
         std::lgamma(static_cast<long double>(n - k) + 1);
}

TEST(Sampling, ProbabilitiesAreThoseOfTheDefinitions) {
  if (!world().is_root()) return;
  for (const Index n : {1, 2, 7, 15, 16, 40, 1000}) {
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.95, 1 - 1e-6}) {
      for (Index x = 0; x <= n; x += std::max<Index>(1, n / 20)) {
        const auto expected =
            log_choose(n, x) + x * std::log(static_cast<long double>(p)) + (n - x) * std::log1p(-static_cast<long double>(p));
        EXPECT_NEAR(sampling::log_binomial(x, n, p, 1 - p), static_cast<double>(expected),
                    1e-11 * std::max(1.0, std::abs(static_cast<double>(expected))))
            << x << " of " << n << ", p = " << p;
      }
    }
  }
  for (const auto& [good, bad, draws] : std::vector<std::array<Index, 3>>{{9, 9, 9}, {20, 5, 18}, {1000, 3000, 700}, {12, 100000, 90000}}) {
    for (Index x = std::max<Index>(0, draws - bad); x <= std::min(good, draws); ++x) {
      const auto expected = log_choose(good, x) + log_choose(bad, draws - x) - log_choose(good + bad, draws);
      EXPECT_NEAR(sampling::log_hypergeometric(x, good, bad, draws), static_cast<double>(expected), 1e-9) << x;
    }
  }
  // A sum over the whole range is one, for numbers whose factorials differ by more than double precision holds.
  double sum = 0;
  for (Index x = 999'000'000 - 400'000; x <= 999'000'000 + 400'000; ++x) {
    sum += std::exp(sampling::log_hypergeometric(x, 999'000'000'000, 1'000'000'000, 1'000'000'000));
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Sampling, BinomialNumbersAreBinomial) {
  if (!world().is_root()) return;
  const int draws = testing_support::scaled(20000, 3000);
  // Trial by trial; outwards from the mode, wide, narrow and at the ends; rejection.
  std::uint64_t stream = 0;
  for (const auto& [n, p] : std::vector<std::pair<Index, double>>{{1, 0.3},
                                                                  {8, 0.9},
                                                                  {9, 0.01},
                                                                  {40, 0.5},
                                                                  {100000, 3e-5},
                                                                  {1000, 0.999},
                                                                  {9000, 0.4},
                                                                  {40000, 0.5},
                                                                  {1'000'000'000, 1e-4},
                                                                  {100'000'000'000, 0.25}}) {
    KeyedWords words = words_of(++stream);
    std::map<Index, Index> found;
    const double deviation = std::sqrt(static_cast<double>(n) * p * (1 - p));
    // Wide distributions in about 100 cells.
    const auto cell = static_cast<Index>(std::max(1.0, deviation / 10));
    double mean = 0;
    for (int k = 0; k < draws; ++k) {
      const Index x = sampling::binomial(words, n, p);
      ASSERT_TRUE(x >= 0 && x <= n);
      mean += static_cast<double>(x) / draws;
      ++found[x / cell];
    }
    EXPECT_NEAR(mean, static_cast<double>(n) * p, 5 * deviation / std::sqrt(draws)) << n << ", " << p;
    std::map<Index, double> probability;
    const auto low = std::max<Index>(0, static_cast<Index>(static_cast<double>(n) * p - 8 * deviation) - 10);
    const auto high = std::min<Index>(n, static_cast<Index>(static_cast<double>(n) * p + 8 * deviation) + 10);
    for (Index c = low / cell; c <= high / cell; ++c) {
      // A cell's probability by its middle (Simpson's rule where it is long).
      const Index begin = c * cell;
      const Index end = std::min(n, begin + cell - 1);
      double p_cell = 0;
      if (cell < 2000) {
        for (Index x = begin; x <= end; ++x) p_cell += std::exp(sampling::log_binomial(x, n, p, 1 - p));
      } else {
        const auto at = [&](double place) { return std::exp(sampling::log_binomial(static_cast<Index>(place), n, p, 1 - p)); };
        const auto b = static_cast<double>(begin);
        const auto w = static_cast<double>(cell);
        p_cell = w / 6 * (at(b - 0.5) + 4 * at(b + w / 2) + at(b + w));
      }
      probability[c] = p_cell;
    }
    EXPECT_LT(excess(found, probability, draws), 4) << n << ", " << p;
  }
}

TEST(Sampling, RejectionKeepsTheTails) {
  if (world().size() > 1) return;  // what one process takes long for is the same for more
  KeyedWords words = words_of(77);
  const int draws = testing_support::scaled(1'200'000, 20'000);
  const Index n = 40000;
  double probability = 0;
  for (Index x = 20400; x <= 21200; ++x) probability += 2 * std::exp(sampling::log_binomial(x, n, 0.5, 0.5));
  Index found = 0;
  for (int k = 0; k < draws; ++k) found += std::abs(sampling::binomial(words, n, 0.5) - 20000) >= 400 ? 1 : 0;
  const double expected = probability * draws;
  EXPECT_NEAR(static_cast<double>(found), expected, 4 * std::sqrt(expected) + 2);
}

TEST(Sampling, HypergeometricNumbersAreHypergeometric) {
  if (!world().is_root()) return;
  const int draws = testing_support::scaled(20000, 3000);
  std::uint64_t stream = 100;
  for (const auto& [good, bad, taken] : std::vector<std::array<Index, 3>>{{3, 5, 4},
                                                                          {5, 100, 80},
                                                                          {200, 100, 6},
                                                                          {20, 30, 25},
                                                                          {60, 12, 61},
                                                                          {5000, 1'000'000'000, 1'000'000},
                                                                          {400'000, 600'000, 100'000},
                                                                          {30'000, 10'000, 39'000},
                                                                          {100'000, 100'000, 100'000}}) {
    KeyedWords words = words_of(++stream);
    std::map<Index, Index> found;
    for (int k = 0; k < draws; ++k) ++found[sampling::hypergeometric(words, good, bad, taken)];
    EXPECT_GE(found.begin()->first, std::max<Index>(0, taken - bad));
    EXPECT_LE(found.rbegin()->first, std::min(good, taken));
    std::map<Index, double> probability;
    double p_sum = 0;
    for (Index x = std::max<Index>(0, taken - bad); x <= std::min(good, taken); ++x) {
      const double p = std::exp(sampling::log_hypergeometric(x, good, bad, taken));
      p_sum += p;
      if (p > 1e-12) probability[x] = p;
    }
    EXPECT_NEAR(p_sum, 1, 1e-9);
    EXPECT_LT(excess(found, probability, draws), 4) << good << ", " << bad << ", " << taken;
  }
}

TEST(Sampling, NothingAndEverything) {
  if (!world().is_root()) return;
  KeyedWords words = words_of(1);
  for (const Index n : {0, 1, 8, 9, 1'000'000}) {
    EXPECT_EQ(sampling::binomial(words, n, 0), 0);
    EXPECT_EQ(sampling::binomial(words, n, 1), n);
    EXPECT_EQ(sampling::hypergeometric(words, n, 100, 0), 0);
    EXPECT_EQ(sampling::hypergeometric(words, n, 100, n + 100), n);
    EXPECT_EQ(sampling::hypergeometric(words, 0, n, n), 0);
    EXPECT_EQ(sampling::hypergeometric(words, n, 0, n), n);
  }
}

TEST(NullRows, HaveMTokensInTheProportionsOfThePool) {
  if (!world().is_root()) return;
  // Types above and below the limit between binomials and single draws, and one row of each alone.
  for (const auto& [pool, total] : std::vector<std::pair<std::vector<Count>, Count>>{
           {{500, 300, 0, 100, 50, 20, 10, 7, 5, 3, 2, 1, 1, 1}, 60}, {{3, 2, 1}, 1000}, {{1, 1, 1, 1, 1, 1, 1, 1}, 3}, {{5}, 9}}) {
    noise::NullRows rows(pool, total);
    const int count = testing_support::scaled(20000, 3000);
    rows.draw(3, 5, 0, count);
    std::vector<Count> sorted(pool);
    std::erase(sorted, 0);
    std::ranges::sort(sorted, std::greater());
    ASSERT_EQ(rows.type_count(), std::ssize(sorted));
    double all = 0;
    for (const Count c : sorted) all += static_cast<double>(c);
    std::vector<double> mean(sorted.size(), 0);
    std::vector<double> square(sorted.size(), 0);
    for (int k = 0; k < count; k += 1) {
      const std::vector<Count> drawn = rows.counts_of(k);
      Count sum = 0;
      for (std::size_t t = 0; t < drawn.size(); ++t) {
        sum += drawn[t];
        mean[t] += static_cast<double>(drawn[t]) / count;
        square[t] += static_cast<double>(drawn[t]) * static_cast<double>(drawn[t]) / count;
      }
      ASSERT_EQ(sum, total);
    }
    for (std::size_t t = 0; t < sorted.size(); ++t) {
      const double p = static_cast<double>(sorted[t]) / all;
      const double variance = static_cast<double>(total) * p * (1 - p);
      EXPECT_NEAR(mean[t], static_cast<double>(total) * p, 5 * std::sqrt(variance / count) + 1e-12) << t;
      // The fourth central moment of a binomial number is at most variance + 3 variance^2.
      EXPECT_NEAR(square[t] - mean[t] * mean[t], variance, 5 * std::sqrt((variance + 2 * variance * variance) / count) + 1e-9) << t;
    }
  }
}

TEST(NullRows, OfOneStreamAreTheSameWhateverWasDrawnBefore) {
  if (!world().is_root()) return;
  const std::vector<Count> pool{900, 400, 200, 100, 50, 25, 12, 6, 3, 1, 1};
  noise::NullRows rows(pool, 77);
  rows.draw(3, 5, 0, 10);
  const std::vector<Count> seventh = rows.counts_of(7);
  rows.draw(3, 4, 0, 10);
  EXPECT_NE(rows.counts_of(7), seventh);
  rows.draw(3, 5, 7, 2);
  EXPECT_EQ(rows.counts_of(0), seventh);
  EXPECT_NE(rows.counts_of(1), seventh);
}

TEST(NullRows, LargestEigenvalueIsThatOfTheDenseMatrix) {
  if (!world().is_root()) return;
  std::vector<Count> pool;
  for (const double p : synthetic::zipf(400)) pool.push_back(static_cast<Count>(100000 * p));
  for (const Index m : {2, 3, 9, 40}) {
    for (const Count total : {3, 200, 20000}) {
      noise::NullRows a(pool, total);
      noise::NullRows b = a;
      a.draw(1, 0, 0, m);
      b.draw(1, 0, m, m);
      // J S_a and J S_b, dense.
      const auto dense = [&](const noise::NullRows& rows) {
        std::vector<double> s;
        for (Index k = 0; k < m; ++k) {
          for (const Count c : rows.counts_of(k)) s.push_back(std::sqrt(static_cast<double>(c) / static_cast<double>(total)));
        }
        const std::size_t types = pool.size();
        for (std::size_t t = 0; t < types; ++t) {
          double mean = 0;
          for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) mean += s[k * types + t] / static_cast<double>(m);
          for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) s[k * types + t] -= mean;
        }
        return s;
      };
      const std::vector<double> sa = dense(a);
      const std::vector<double> sb = dense(b);
      std::vector<double> matrix(static_cast<std::size_t>(m * m), 0.0);
      for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
        for (std::size_t j = 0; j < static_cast<std::size_t>(m); ++j) {
          double product = 0;
          for (std::size_t t = 0; t < pool.size(); ++t) product += sa[i * pool.size() + t] * sb[j * pool.size() + t];
          matrix[i * static_cast<std::size_t>(m) + j] += product / 2;
          matrix[j * static_cast<std::size_t>(m) + i] += product / 2;
        }
      }
      const double expected = std::max(0.0, dense_eigh(matrix, m).values.front());
      const double found = noise::largest_split_eigenvalue(a, b, words_of(5));
      EXPECT_LE(found, expected * (1 + 1e-4) + 1e-15) << "m = " << m << ", M = " << total;
      EXPECT_GE(found, expected * (1 - 1e-6)) << "m = " << m << ", M = " << total;
    }
  }
}

TEST(Lanczos, OperatorsWithKnownLargestEigenvalues) {
  if (!world().is_root()) return;
  const auto largest = [](Index n, auto apply) { return noise::largest_centred_eigenvalue(n, apply, words_of(9), 1e-6); };
  using Span = std::span<double>;
  using ConstSpan = std::span<const double>;
  EXPECT_EQ(largest(5, [](ConstSpan, Span y) { std::ranges::fill(y, 0.0); }), 0);
  for (const double c : {2.5, -3.0, 1e-200}) {
    const double found = largest(50, [c](ConstSpan x, Span y) {
      for (std::size_t k = 0; k < x.size(); ++k) y[k] = c * x[k];
    });
    EXPECT_NEAR(found, c, 1e-12 * std::abs(c));
  }
  // The circulant second difference: eigenvalues 2 - 2 cos(2 pi k / n), closely spaced at the upper end.
  for (const Index n : {2, 3, 20, 400}) {
    const auto size = static_cast<std::size_t>(n);
    const double found = largest(n, [size](ConstSpan x, Span y) {
      for (std::size_t k = 0; k < size; ++k) y[k] = 2 * x[k] - x[(k + 1) % size] - x[(k + size - 1) % size];
    });
    const double expected = 2 - 2 * std::cos(2 * std::numbers::pi * std::floor(static_cast<double>(n) / 2) / static_cast<double>(n));
    EXPECT_NEAR(found, expected, 1e-5 * expected) << n;
    EXPECT_GE(found, expected * (1 - 1e-12)) << n;
  }
}

}  // namespace
}  // namespace posgeom
