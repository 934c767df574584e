#include "geometry/pair_ranks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "geometry/radix_sort.hpp"
#include "geometry/rank_boundaries.hpp"
#include "reference.hpp"
#include "support/world.hpp"

namespace posgeom {
namespace {

/// Numbers of many kinds, the same on every rank.
std::vector<double> numbers(std::size_t size, int kind, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values(size);
  for (std::size_t k = 0; k < size; ++k) {
    const double u = uniform(generator);
    switch (kind) {
      case 0:  // all different
        values[k] = u;
        break;
      case 1:  // one value only
        values[k] = 1.25;
        break;
      case 2:  // few values
        values[k] = std::floor(3 * u);
        break;
      case 3:  // most of them zero, of both signs
        values[k] = u < 0.8 ? (u < 0.4 ? -0.0 : 0.0) : u;
        break;
      case 4:  // dense about one point, with far outliers
        values[k] = u < 0.01 ? 1e300 * u : 1 + 1e-14 * std::floor(1000 * u);
        break;
      case 5:  // many orders of magnitude, subnormal numbers among them
        values[k] = std::exp2(-1074 + 2000 * u);
        break;
      default:  // ascending
        values[k] = static_cast<double>(k);
    }
  }
  return values;
}
constexpr int kinds = 7;

/// This rank's numbers in `pieces` pieces, some of them empty: number k belongs to rank k mod size.
struct Dealt {
  Dealt(const std::vector<double>& all, std::size_t piece_count) : pieces(piece_count) {
    for (std::size_t k = static_cast<std::size_t>(world().rank()); k < all.size(); k += static_cast<std::size_t>(world().size())) {
      place.push_back(k);
    }
    for (std::size_t k = 0; k < place.size(); ++k) pieces[k * (piece_count - 1) / place.size()].push_back(all[place[k]]);
  }
  PairRanks::Source source() const {
    return [this](Index piece) {
      buffer = pieces[static_cast<std::size_t>(piece)];
      return std::span<const double>(buffer);
    };
  }
  PairRanks ranks(Index window) const { return {world(), std::ssize(place), std::ssize(pieces), {.window_pairs = window}}; }
  std::vector<std::vector<double>> pieces;
  std::vector<std::size_t> place;
  mutable std::vector<double> buffer;
};

TEST(PairRanks, AreTheAverageRanks) {
  for (const std::size_t size : {0U, 1U, 2U, 5U, 60U, 3000U}) {
    for (int kind = 0; kind < kinds; ++kind) {
      const std::vector<double> all = numbers(size, kind, 3);
      const std::vector<Count> expected = reference::doubled_ranks(all);
      for (const Index window : {1, 3, 50, 1 << 22}) {
        if (window == 1 && size > 100) continue;
        const Dealt dealt(all, 4);
        std::vector<Count> found(dealt.place.size());
        const PairRanks ranks = dealt.ranks(window);
        EXPECT_EQ(ranks.total(), static_cast<Count>(size));
        const double variation = ranks.rank(dealt.source(), found).variation;
        for (std::size_t k = 0; k < found.size(); ++k)
          EXPECT_EQ(found[k], expected[dealt.place[k]]) << size << " " << kind << " " << window;
        double expected_variation = 0;
        for (const Count rank : expected) {
          expected_variation += std::pow(static_cast<double>(rank) - static_cast<double>(size) - 1, 2);
        }
        EXPECT_EQ(variation, expected_variation) << "integers below 2^53";
      }
    }
  }
}

TEST(PairRanks, CorrelationsAreTheDefinition) {
  for (const std::size_t size : {1U, 2U, 3U, 60U, 2000U}) {
    for (int kind = 0; kind < kinds; ++kind) {
      for (int other_kind = 0; other_kind < kinds; ++other_kind) {
        const std::vector<double> all = numbers(size, kind, 4);
        const std::vector<double> others = numbers(size, other_kind, 5);
        const double expected = reference::correlation_of_ranks(all, others);
        for (const Index window : {7, 1 << 22}) {
          if (window == 7 && (size > 100 || kind == other_kind)) continue;
          const Dealt dealt(all, 3);
          const Dealt dealt_others(others, 5);
          std::vector<Count> other_ranks(dealt_others.place.size());
          const double other_variation = dealt_others.ranks(window).rank(dealt_others.source(), other_ranks).variation;
          const double found = rank_correlation(dealt.ranks(window).correlate(dealt.source(), other_ranks), other_variation);
          EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) < 1e-14)
              << size << " " << kind << " " << other_kind << " " << window << ": " << found << ", expected " << expected;
        }
      }
    }
  }
}

TEST(PairRanks, OfOneOrderCorrelateExactly) {
  const std::vector<double> all = numbers(1000, 0, 6);
  std::vector<double> falling(all);
  for (double& value : falling) value = std::exp(-value);
  const Dealt up(all, 3);
  const Dealt down(falling, 3);
  std::vector<Count> ranks(up.place.size());
  const PairRanks pairs = up.ranks(100);
  const double variation = pairs.rank(up.source(), ranks).variation;
  EXPECT_EQ(rank_correlation(pairs.correlate(up.source(), ranks), variation), 1);
  EXPECT_EQ(rank_correlation(pairs.correlate(down.source(), ranks), variation), -1);
}

TEST(PairRanks, SumsDoNotWrap) {
  // Correlations of N numbers need N^3: beyond 64 bits from 3 million numbers on.
  const Index local = 4'000'000 / world().size();
  const PairRanks ranks(world(), local, 1, {});
  std::vector<double> values(static_cast<std::size_t>(local));
  std::iota(values.begin(), values.end(), static_cast<double>(local * world().rank()));
  const PairRanks::Source source = [&](Index) { return std::span<const double>(values); };
  std::vector<Count> found(values.size());
  const auto n = static_cast<double>(ranks.total());
  const PairRanks::Sums sums = ranks.rank(source, found);
  EXPECT_NEAR(sums.variation / (n * (n * n - 1) / 3), 1, 1e-15);
  EXPECT_EQ(found.front(), 2 * local * world().rank() + 2);
  EXPECT_EQ(rank_correlation(ranks.correlate(source, found), sums.variation), 1);
}

TEST(RankBoundaries, CutIntoBucketsOfBoundedSize) {
  for (int kind = 0; kind < kinds; ++kind) {
    for (const Index buckets : {2, 3, 16, 100}) {
      const std::vector<double> all = numbers(5000, kind, 7);
      const Dealt dealt(all, 2);
      const std::vector<RankBoundary> found = find_boundaries(world(), 5000, buckets, [&](auto visit) {
        for (const auto& piece : dealt.pieces) {
          for (const double value : piece) visit(key_of(value + 0.0));
        }
      });
      EXPECT_LT(std::ssize(found), buckets);
      Count below = 0;
      for (std::size_t b = 0; b <= found.size(); ++b) {
        const Count end = b < found.size() ? found[b].less : 5000;
        EXPECT_LE(end - below, 5000 / buckets + 5000 / (16 * buckets) + 2) << kind << " " << buckets;
        if (b == found.size()) break;
        const auto less = std::ranges::count_if(all, [&](double value) { return key_of(value + 0.0) < found[b].key; });
        const auto equal = std::ranges::count_if(all, [&](double value) { return key_of(value + 0.0) == found[b].key; });
        EXPECT_EQ(found[b].less, less);
        if (found[b].equal > 0) {
          EXPECT_EQ(found[b].equal, equal);
        }
        below = found[b].less + found[b].equal;
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
