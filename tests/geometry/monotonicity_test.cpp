#include "posgeom/geometry/monotonicity.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>

#include "posgeom/types.hpp"

namespace posgeom {
namespace {

/// The definition, for one anchor.
ViolationCount brute_force(const std::vector<std::int32_t>& position, const std::vector<double>& d, std::size_t i, double tie) {
  ViolationCount count;
  for (std::size_t j = 0; j < d.size(); ++j) {
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (j == i || k == i || std::abs(position[i] - position[j]) >= std::abs(position[i] - position[k])) continue;
      ++count.comparisons;
      if (d[j] > d[k] + tie) ++count.violations;
    }
  }
  return count;
}

TEST(ViolationCounter, CountsWhatTheDefinitionCounts) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::size_t m : {1, 2, 3, 4, 9, 17, 40, 100}) {
    for (const bool gaps : {false, true}) {
      std::vector<std::int32_t> position;
      std::int32_t next = gaps ? 3 : 0;
      for (std::size_t i = 0; i < m; ++i, ++next) {
        if (gaps && uniform(generator) < 0.4) ++next;
        position.push_back(next);
      }
      ViolationCounter counter(position);
      for (const int levels : {0, 2, 5, 1}) {  // 0: all different; else few levels, so that many are tied
        std::vector<double> d(m);
        for (double& x : d) x = levels == 0 ? uniform(generator) : std::floor(levels * uniform(generator));
        for (std::size_t k = 0; k + 1 < m; k += 3) d[k] = d[k + 1] + 1e-10;  // ties within the tolerance
        for (const double tie : {0.0, 1e-9, 0.3}) {
          for (std::size_t i = 0; i < m; ++i) {
            const ViolationCount found = counter.count(d, static_cast<Index>(i), tie);
            const ViolationCount expected = brute_force(position, d, i, tie);
            EXPECT_EQ(found.violations, expected.violations) << m << " " << gaps << " " << levels << " " << tie << " " << i;
            EXPECT_EQ(found.comparisons, expected.comparisons);
          }
        }
      }
    }
  }
}

TEST(InversionCounter, LongSequencesAreCountedExactly) {
  // Long enough for the radix sort and for several blocks of the bit set; negative numbers, zeros of both signs, one value only.
  std::mt19937 generator(8);
  std::normal_distribution<double> normal;
  detail::InversionCounter counter(3000);
  for (const std::size_t size : {3000, 1, 1024, 513, 2048}) {
    for (const int kind : {0, 1, 2}) {
      std::vector<double> values(size);
      for (double& x : values) x = kind == 0 ? normal(generator) : kind == 1 ? std::round(normal(generator)) : 1.5;
      for (const double tie : {0.0, 1e-3}) {
        Count expected = 0;
        for (std::size_t b = 0; b < size; ++b) {
          for (std::size_t a = 0; a < b; ++a) expected += values[a] > values[b] + tie ? 1 : 0;
        }
        EXPECT_EQ(counter.count(values, tie), expected) << size << " " << kind << " " << tie;
      }
    }
  }
}

TEST(ViolationCounter, RowsAtOneLagAreNotCompared) {
  // The anchor in the middle: lags 1, 1. Nothing to compare, whichever is the larger.
  ViolationCounter counter(std::vector<std::int32_t>{0, 1, 2});
  EXPECT_EQ(counter.count(std::vector<double>{5, 0, 1}, 1, 0).comparisons, 0);
  EXPECT_EQ(counter.count(std::vector<double>{1, 0, 5}, 1, 0).violations, 0);
  EXPECT_TRUE(std::isnan(ViolationCount{}.rate()));
}

TEST(CountLagViolations, IsTheCounterOverAllAnchors) {
  std::mt19937 generator(6);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::size_t m : {1, 2, 3, 4, 5, 6, 7, 8, 33, 64, 101}) {
    std::vector<std::int32_t> position(m);
    std::iota(position.begin(), position.end(), 0);
    ViolationCounter counter(position);
    for (const int levels : {0, 1, 3}) {
      std::vector<double> lag_distances(m, 0.0);
      for (std::size_t l = 1; l < m; ++l) lag_distances[l] = levels == 0 ? uniform(generator) : std::floor(levels * uniform(generator));
      for (const double tie : {0.0, 0.2}) {
        ViolationCount expected;
        for (std::size_t i = 0; i < m; ++i) {
          std::vector<double> d(m);
          for (std::size_t j = 0; j < m; ++j) d[j] = lag_distances[i > j ? i - j : j - i];
          expected += counter.count(d, static_cast<Index>(i), tie);
        }
        const ViolationCount found = count_lag_violations(lag_distances, tie);
        EXPECT_EQ(found.violations, expected.violations) << m << " " << levels << " " << tie;
        EXPECT_EQ(found.comparisons, expected.comparisons) << m;
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
