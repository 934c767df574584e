#include <cmath>

#include "geometry/noise_split.hpp"
#include "noise_corpora.hpp"
#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "reference.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using synthetic::first_positions;
using synthetic::grid;
using synthetic::whole;

TEST(Rarefied, RowsOfExactlyMTokensOutOfThoseThatAreThere) {
  const PositionCounts counts = synthetic::drifting_counts(23, 50, 0.7, 5);
  const Count total = *std::ranges::min_element(counts.position_total);
  std::vector<std::int32_t> positions;
  for (std::int32_t i = 0; i < 20; i += 1) {
    if (i % 4 != 1) positions.push_back(i);
  }
  const PositionCounts drawn = rarefied(world(), counts, 20, positions, total, 3, RarefiedTable::half_a);
  ASSERT_EQ(drawn.length, 20);
  ASSERT_EQ(std::ssize(drawn.indptr), 21);
  for (Index i = 0; i < 20; ++i) {
    EXPECT_EQ(drawn.position_total[static_cast<std::size_t>(i)], i % 4 == 1 ? 0 : total);
    Count sum = 0;
    for (std::size_t e = 0; e < drawn.tokens_at(i).size(); ++e) {
      const Token token = drawn.tokens_at(i)[e];
      const auto tokens = counts.tokens_at(i);
      const auto at = std::ranges::find(tokens, token) - tokens.begin();
      ASSERT_LT(at, std::ssize(tokens));
      EXPECT_LE(drawn.counts_at(i)[e], counts.counts_at(i)[static_cast<std::size_t>(at)]);
      EXPECT_GT(drawn.counts_at(i)[e], 0);
      sum += drawn.counts_at(i)[e];
    }
    EXPECT_EQ(sum, i % 4 == 1 ? 0 : total);
  }
  // A row with just M tokens is kept whole.
  const auto least = std::ranges::min_element(counts.position_total) - counts.position_total.begin();
  const std::vector<std::int32_t> alone{static_cast<std::int32_t>(least)};
  const PositionCounts kept = rarefied(world(), counts, 23, alone, total, 3, RarefiedTable::half_a);
  EXPECT_TRUE(std::ranges::equal(kept.counts_at(least), counts.counts_at(least)));
  // One rank alone draws the same; other positions, halves and seeds draw others.
  const Communicator self = Communicator::self();
  const PositionCounts again = rarefied(self, counts, 20, positions, total, 3, RarefiedTable::half_a);
  EXPECT_EQ(again.token, drawn.token);
  EXPECT_EQ(again.count, drawn.count);
  const std::vector<std::int32_t> two{0, 10};
  const PositionCounts fewer = rarefied(self, counts, 20, two, total, 3, RarefiedTable::half_a);
  EXPECT_TRUE(std::ranges::equal(fewer.counts_at(10), drawn.counts_at(10)));
  EXPECT_NE(rarefied(self, counts, 20, positions, total, 4, RarefiedTable::half_a).count, drawn.count);
  EXPECT_NE(rarefied(self, counts, 20, positions, total, 3, RarefiedTable::half_b).count, drawn.count);
}

TEST(Rarefied, KeepsTheProportions) {
  if (!world().is_root()) return;
  const Communicator self = Communicator::self();
  const PositionCounts counts = synthetic::counts_of({{4, 1, 0, 60, 300, 20, 9, 6}});
  const std::vector<std::int32_t> first{0};
  const int draws = testing_support::scaled(4000, 500);
  std::vector<double> mean(8, 0);
  for (int k = 0; k < draws; ++k) {
    const PositionCounts drawn = rarefied(self, counts, 1, first, 100, static_cast<std::uint64_t>(k), RarefiedTable::half_a);
    for (std::size_t e = 0; e < drawn.token.size(); ++e)
      mean[static_cast<std::size_t>(drawn.token[e])] += static_cast<double>(drawn.count[e]) / draws;
  }
  for (std::size_t e = 0; e < counts.token.size(); ++e) {
    const auto all = static_cast<double>(counts.position_total[0]);
    const double p = static_cast<double>(counts.count[e]) / all;
    const double deviation = std::sqrt(100 * p * (1 - p) * (all - 100) / (all - 1));
    EXPECT_NEAR(mean[static_cast<std::size_t>(counts.token[e])], 100 * p, 5 * deviation / std::sqrt(draws)) << counts.token[e];
  }
}

TEST(SplitGram, IsTheDefinitionAndItsDistancesAreProductsOfDifferences) {
  const Index n = 13;
  const synthetic::SplitCorpus corpus = synthetic::split_corpus(synthetic::planted_rows(n, 20), synthetic::falling_totals(n, 300, 40), 3);
  for (const bool unit_range : {false, true}) {
    const HellingerOptions options{.unit_range = unit_range};
    const noise::Halves halves = noise::halves_of(corpus.half_a, corpus.half_b, first_positions(n), options);
    const DistributedMatrix b = noise::split_gram(grid(), halves, 3);
    const std::vector<double> found = whole(b);
    const std::vector<double> squared = whole(noise::squared_distances(b));
    std::vector<std::int32_t> positions;
    reference::Matrix a_rows = reference::square_roots(corpus.half_a, n, options, positions);
    reference::Matrix b_rows = reference::square_roots(corpus.half_b, n, options, positions);
    const auto dot = [](const auto& x, const auto& y) {
      reference::Real sum = 0;
      for (std::size_t v = 0; v < x.size(); ++v) sum += x[v] * y[v];
      return sum;
    };
    const auto minus = [](auto x, const auto& y) {
      for (std::size_t v = 0; v < x.size(); ++v) x[v] -= y[v];
      return x;
    };
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> direct;
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < size; ++i) {
        direct.push_back(static_cast<double>(dot(minus(a_rows[i], a_rows[j]), minus(b_rows[i], b_rows[j]))));
      }
    }
    for (reference::Matrix* rows : {&a_rows, &b_rows}) {
      std::vector<reference::Real> mean(rows->front().size(), 0);
      for (const auto& row : *rows) {
        for (std::size_t v = 0; v < row.size(); ++v) mean[v] += row[v] / static_cast<reference::Real>(n);
      }
      for (auto& row : *rows) row = minus(row, mean);
    }
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < size; ++i) {
        const auto expected = static_cast<double>((dot(a_rows[i], b_rows[j]) + dot(a_rows[j], b_rows[i])) / 2);
        EXPECT_NEAR(found[i + j * size], expected, 1e-14);
        EXPECT_NEAR(squared[i + j * size], direct[i + j * size], 1e-13);
      }
      EXPECT_EQ(squared[j + j * size], 0);
    }
  }
}

TEST(SplitPairs, TheDualProblemGivesTheEigenpairsOfTheDenseOne) {
  // Few types and many positions; with a type that no row of half b has, and rows that are equal.
  for (const Index types : {1, 2, 4, 5}) {
    const Index n = 43;
    std::vector<synthetic::Distribution> rows;
    for (Index i = 0; i < n; ++i) {
      rows.emplace_back();
      for (Index v = 0; v < types; ++v) rows.back().push_back(2 + std::sin(0.2 * static_cast<double>(i * (v + 1))));
    }
    const synthetic::SplitCorpus corpus = synthetic::split_corpus(rows, std::vector<Count>(43, 60), 3);
    const noise::Halves halves = noise::halves_of(corpus.half_a, corpus.half_b, first_positions(n), {});
    const DistributedMatrix b = noise::split_gram(grid(), halves, 4);
    const noise::SplitPairs chosen = noise::split_pairs(grid(), halves, b, 3);
    const noise::SplitPairs dual = noise::dual_split_pairs(halves, 3);
    const Eigenpairs dense = eigh(b, {Solver::automatic, 3});
    const double unit = std::max(1e-15, dense.values.front());
    ASSERT_EQ(std::ssize(dual.values), n);
    for (std::size_t j = 0; j < 43; ++j) EXPECT_NEAR(dual.values[j], dense.values[j], 1e-12 * unit) << types << " types, " << j;
    EXPECT_EQ(chosen.values, dual.values);
    EXPECT_EQ(chosen.vectors, dual.vectors);
    // B u = lambda u, u'u = 1, where lambda stands out.
    const std::vector<double> matrix = whole(b);
    for (std::size_t j = 0; j < 3 && dual.values[j] > 1e-6; ++j) {
      const auto u = std::span(dual.vectors).subspan(j * 43, 43);
      double norm = 0;
      for (std::size_t i = 0; i < 43; ++i) {
        double product = 0;
        for (std::size_t k = 0; k < 43; ++k) product += matrix[i + k * 43] * u[k];
        EXPECT_NEAR(product, dual.values[j] * u[i], 1e-12 * unit);
        norm += u[i] * u[i];
      }
      EXPECT_NEAR(norm, 1, 1e-9);
    }
  }
}

TEST(SplitGram, NoiseAveragesToZero) {
  const Index n = 10;
  const int seeds = testing_support::scaled(200, 40);
  const std::vector<synthetic::Distribution> rows(static_cast<std::size_t>(n), synthetic::zipf(60));
  const std::vector<Count> totals(static_cast<std::size_t>(n), 100);
  const Communicator self = Communicator::self();
  const ProcessGrid alone = ProcessGrid::nearest_square(self);
  double trace_sum = 0;
  double trace_squares = 0;
  double off_sum = 0;
  double off_squares = 0;
  double naive_trace = 0;
  for (int seed = 0; seed < seeds && world().is_root(); ++seed) {
    const synthetic::SplitCorpus corpus = synthetic::split_corpus(rows, totals, static_cast<unsigned>(seed));
    const noise::Halves halves = noise::halves_of(corpus.half_a, corpus.half_b, first_positions(n), {});
    const std::vector<double> b = whole(noise::split_gram(alone, halves, n));
    double trace_now = 0;
    double off_now = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      trace_now += b[i * 11];
      for (std::size_t j = 0; j < i; ++j) off_now += b[i * 10 + j] / 45;
    }
    trace_sum += trace_now / seeds;
    trace_squares += trace_now * trace_now / seeds;
    off_sum += off_now / seeds;
    off_squares += off_now * off_now / seeds;
    naive_trace += gram_trace(halves.a) / seeds;
  }
  if (!world().is_root()) return;
  EXPECT_LT(std::abs(trace_sum), 4 * std::sqrt(trace_squares / seeds)) << "standard error " << std::sqrt(trace_squares / seeds);
  EXPECT_LT(std::abs(off_sum), 4 * std::sqrt(off_squares / seeds));
  EXPECT_GT(naive_trace, 20 * std::abs(trace_sum));
}

}  // namespace
}  // namespace posgeom
