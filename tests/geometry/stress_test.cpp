#include "posgeom/geometry/stress.hpp"

#include <gtest/gtest.h>

#include "stress_fixture.hpp"
#include "support/world.hpp"

namespace posgeom {
namespace {

void expect_cell(const StressColumns& columns, std::size_t t, const reference::Stress& expected) {
  EXPECT_NEAR(columns.raw[t], static_cast<double>(expected.raw), 1e-12 * std::max(1.0, columns.raw[t]));
  EXPECT_NEAR(columns.scaled[t], static_cast<double>(expected.scaled), 1e-13);
  EXPECT_NEAR(columns.scale[t], static_cast<double>(expected.scale), 1e-13 * columns.scale[t]);
  EXPECT_EQ(columns.violation_rate[t], static_cast<double>(expected.violation_rate));
  EXPECT_NEAR(columns.min_separation[t], static_cast<double>(expected.min_separation), 1e-13);
  EXPECT_NEAR(columns.pearson[t], static_cast<double>(expected.pearson), 1e-12);
}

TEST(Stress, OfEveryFormIsItsDefinition) {
  const Index n = 53;
  for (const auto& [unreached, holes] : {std::pair{Unreached::drop, std::vector<std::size_t>{}},
                                         {Unreached::drop, {2, 3, 17, 40}},
                                         {Unreached::drop, {50, 51, 52}},
                                         {Unreached::uniform, {50, 51, 52}},
                                         {Unreached::zero, {0, 17, 52}}}) {
    const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(n, 40, 0.5, 31), holes);
    const HellingerOptions options{.unreached = unreached};
    std::vector<std::int32_t> positions;
    const reference::Matrix h = reference::distances(reference::square_roots(counts, n, options, positions));
    const SquareRootDistributions s = square_root_distributions(counts, n, options);
    const Coordinates x = random_coordinates(s.row_count(), 90, 1);
    const std::vector<std::int32_t> dimensions{2, 4, 6, 8, 64, 90};
    const std::vector<std::pair<std::string, LagKernel>> kernels{{"sinusoidal", sinusoidal_encoding()},
                                                                 {"rope", rope_encoding(10000, 8)},
                                                                 {"alibi", alibi_encoding(12, n)},
                                                                 {"linear", linear_encoding(n)}};
    std::vector<StressRequest> requests{request("file", x, {1, 2, 3, 50, 90})};
    for (const auto& [name, kernel] : kernels) requests.push_back(request(name, kernel, {2, 4, 6, 8, 64}));
    const std::vector<StressColumns> columns = sweep(world(), s, requests);
    ASSERT_EQ(columns.size(), requests.size());
    for (std::size_t t = 0; t < requests[0].dimensions.size(); ++t) {
      expect_cell(columns[0], t, reference::stress(positions, reference::distances(leading(x, requests[0].dimensions[t])), h));
    }
    for (std::size_t e = 1; e < requests.size(); ++e) {
      for (std::size_t t = 0; t < requests[e].dimensions.size(); ++t) {
        const reference::Matrix rows = rows_of(kernels[e - 1].second, positions, requests[e].dimensions[t]);
        expect_cell(columns[e], t, reference::stress(positions, reference::distances(rows), h));
      }
    }
  }
}

TEST(Stress, SummaryOfHellingerIsItsDefinition) {
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(45, 30, 0.5, 12), {5, 6, 44});
    std::vector<std::int32_t> positions;
    const reference::Matrix h = reference::distances(reference::square_roots(counts, 45, {.unreached = unreached}, positions));
    const SquareRootDistributions s = square_root_distributions(counts, 45, {.unreached = unreached});
    const HellingerSummary summary = summarize_hellinger(world(), s);
    reference::Real sum = 0, squared = 0, largest = 0, pairs = 0;
    for (std::size_t i = 0; i < h.size(); ++i) {
      for (std::size_t j = i + 1; j < h.size(); ++j) {
        pairs += 1;
        sum += h[i][j];
        squared += h[i][j] * h[i][j];
        largest = std::max(largest, h[i][j]);
      }
    }
    EXPECT_EQ(summary.pair_count, static_cast<Index>(pairs));
    EXPECT_NEAR(summary.sum, static_cast<double>(sum), 1e-13 * summary.sum);
    EXPECT_NEAR(summary.sum_squared, static_cast<double>(squared), 1e-13 * summary.sum_squared);
    EXPECT_NEAR(summary.mean, static_cast<double>(sum / pairs), 1e-14);
    EXPECT_NEAR(summary.largest, static_cast<double>(largest), 1e-14);
    EXPECT_NEAR(summary.constant_baseline, static_cast<double>(1 - sum * sum / pairs / squared), 1e-14);
    EXPECT_EQ(summary.corpus_violation_rate, reference::violations(positions, h).rate());
    // Fact 3.
    EXPECT_NEAR(summary.sum_squared, static_cast<double>(s.row_count()) * gram_trace(s), 1e-13 * summary.sum_squared);
  }
}

TEST(Stress, OfThreeDisjointDistributionsOnTheGivenCoordinates) {
  // Fact 5: classical MDS minimises strain, not stress.
  const SquareRootDistributions s = square_root_distributions(synthetic::three_disjoint(), 3, {});
  const double r = std::sqrt(2.0);
  const Coordinates mds{.rows = 3, .columns = 1, .stored = 1, .values = {-1 / r, 0, 1 / r}};
  const Coordinates better{.rows = 3, .columns = 1, .stored = 1, .values = {-2 * r / 3, 0, 2 * r / 3}};
  const auto columns = sweep(world(), s, {request("mds", mds, {1}), request("better", better, {1})});
  EXPECT_NEAR(columns[0].raw[0], 1.0 / 6, 1e-15);
  EXPECT_NEAR(columns[1].raw[0], 1.0 / 9, 1e-15);
  EXPECT_TRUE(std::isnan(columns[0].pearson[0])) << "H is constant";
  EXPECT_NEAR(summarize_hellinger(world(), s).constant_baseline, 0, 1e-15);
}

TEST(Stress, OfMdsFallsToRoundingAtTheRank) {
  // Fact 2, for both solvers; and raw(1) = scaled + (1 - alpha*)^2 sum D^2 / sum H^2 on the way there.
  for (const Solver solver : {Solver::pdsyevd, Solver::dual}) {
    const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(60, 20, 0.8, 4), 60, {});
    const Mds mds = classical_mds(ProcessGrid::nearest_square(world()), s, {.solver = solver});
    const auto r = static_cast<std::int32_t>(mds.spectrum.rank);
    const StressColumns columns = sweep(world(), s, {request("mds", mds_encoding(mds.encoding, r), {1, 2, 5, r - 1, r, r + 1, 500})})[0];
    for (std::size_t t = 1; t < 5; ++t) EXPECT_LT(columns.raw[t], columns.raw[t - 1]);
    EXPECT_GT(columns.raw[3], 1e-8);
    for (std::size_t t = 4; t < 7; ++t) {
      EXPECT_LT(columns.raw[t], 1e-26);
      EXPECT_LT(columns.scaled[t], 1e-26);
      EXPECT_NEAR(columns.scale[t], 1, 1e-13);
      EXPECT_NEAR(columns.pearson[t], 1, 1e-13);
      EXPECT_EQ(columns.violation_rate[t], summarize_hellinger(world(), s).corpus_violation_rate);
    }
  }
}

TEST(Stress, ASweepOverAllDimensionsIsEachDimensionAlone) {
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(37, 30, 0.5, 9), 37, {});
  const Coordinates x = random_coordinates(37, 80, 2);
  std::vector<std::int32_t> all(80);
  std::iota(all.begin(), all.end(), 1);
  const StressColumns together = sweep(world(), s, {request("x", x, all)})[0];
  for (const std::int32_t d : {1, 2, 63, 64, 65, 80}) {
    const StressColumns alone = sweep(world(), s, {request("x", x, {d})})[0];
    const auto t = static_cast<std::size_t>(d - 1);
    EXPECT_NEAR(together.raw[t], alone.raw[0], 1e-13 * alone.raw[0]);
    EXPECT_EQ(together.violation_rate[t], alone.violation_rate[0]);
    EXPECT_NEAR(together.pearson[t], alone.pearson[0], 1e-13);
  }
}

TEST(Stress, EveryDimensionOverManyTilesIsItsDefinition) {
  // More rows than a tile, with incomplete groups and vectors at its ends, and more dimensions than are summed at a time.
  for (const Index m : {95, 257, 331}) {
    const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(m, 30, 0.5, 9), m, {});
    constexpr Index dimensions = 100;
    const Coordinates x = random_coordinates(m, dimensions, 2);
    std::vector<std::int32_t> all(dimensions);
    std::iota(all.begin(), all.end(), 1);
    const StressColumns columns = stress_sweep(world(), s, summarize_hellinger(world(), s), {request("x", x, all)}, {},
                                               {.violation_rate = false, .spearman = false})[0];

    HellingerRows rows(s);
    std::vector<double> h(static_cast<std::size_t>(m * m));
    for (Index first = 0; first < m; first += HellingerRows::row_block)
      rows.compute(first, std::min(HellingerRows::row_block, m - first), std::span(h).subspan(static_cast<std::size_t>(first * m)));
    std::vector<long double> squared(h.size());
    for (Index d = 1; d <= dimensions; ++d) {
      long double residual = 0, of_h = 0, least = std::numeric_limits<double>::infinity();
      for (Index i = 0; i < m; ++i) {
        for (Index j = i + 1; j < m; ++j) {
          const auto at = static_cast<std::size_t>(i * m + j);
          const long double difference =
              x.values[static_cast<std::size_t>(i + (d - 1) * m)] - x.values[static_cast<std::size_t>(j + (d - 1) * m)];
          squared[at] += difference * difference;
          const long double distance = std::sqrt(squared[at]);
          residual += (distance - h[at]) * (distance - h[at]);
          of_h += static_cast<long double>(h[at]) * h[at];
          least = std::min(least, distance);
        }
      }
      const auto t = static_cast<std::size_t>(d - 1);
      const auto expected = static_cast<double>(residual / of_h);
      EXPECT_NEAR(columns.raw[t], expected, 1e-12 * expected) << m << ' ' << d;
      EXPECT_NEAR(columns.min_separation[t], static_cast<double>(least), 1e-12) << m << ' ' << d;
    }
  }
}

TEST(Stress, PearsonOfAlmostConstantDistancesKeepsItsDigits) {
  // A simplex with a ripple: D varies by 1e-6 about sqrt 2; sums of D^2 alone would keep four digits of its variance.
  const Index m = 20;
  const PositionCounts counts = synthetic::drifting_counts(m, 10, 0.7, 3);
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(counts, m, {}, positions));
  Coordinates x = random_coordinates(m, m, 5);
  for (double& value : x.values) value *= 1e-6;
  for (Index i = 0; i < m; ++i) x.values[static_cast<std::size_t>(i * (m + 1))] += 1;
  const StressColumns columns =
      sweep(world(), square_root_distributions(counts, m, {}), {request("x", x, {static_cast<std::int32_t>(m)})})[0];
  const auto expected = static_cast<double>(reference::stress(positions, reference::distances(leading(x, m)), h).pearson);
  EXPECT_NEAR(columns.pearson[0], expected, 1e-8);
}

TEST(Stress, ScaledStressOfANearlyPerfectFitKeepsItsDigits) {
  const Index m = 20;
  const PositionCounts counts = synthetic::drifting_counts(m, 10, 0.7, 3);
  const SquareRootDistributions s = square_root_distributions(counts, m, {});
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(counts, m, {}, positions));
  Coordinates x{.rows = m,
                .columns = s.column_count,
                .stored = s.column_count,
                .values = std::vector<double>(static_cast<std::size_t>(m * s.column_count))};
  for (Index i = 0; i < m; ++i) {
    for (Index e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_end[static_cast<std::size_t>(i)]; ++e) {
      // S itself but for a ripple: scaled stress is about 1e-14, where 1 - (...) has two digits.
      x.values[static_cast<std::size_t>(i + s.column[static_cast<std::size_t>(e)] * m)] =
          s.value[static_cast<std::size_t>(e)] * (1 + 1e-7 * std::sin(static_cast<double>(e)));
    }
  }
  const Index columns = x.columns;
  const StressColumns stress = sweep(world(), s, {request("x", x, {static_cast<std::int32_t>(columns)})})[0];
  // The definition in a form without cancellation, sum (alpha* D - H)^2 / sum H^2.
  const reference::Matrix d = reference::distances(leading(x, columns));
  reference::Real dd = 0, dh = 0, hh = 0, expected = 0;
  const auto over_pairs = [&](auto add) {
    for (std::size_t i = 0; i < d.size(); ++i) {
      for (std::size_t j = i + 1; j < d.size(); ++j) add(d[i][j], h[i][j]);
    }
  };
  over_pairs([&](reference::Real a, reference::Real b) {
    dd += a * a;
    dh += a * b;
    hh += b * b;
  });
  over_pairs([&](reference::Real a, reference::Real b) { expected += (dh / dd * a - b) * (dh / dd * a - b) / hh; });
  EXPECT_LT(expected, 1e-13L);
  EXPECT_NEAR(stress.scaled[0], static_cast<double>(expected), 1e-5 * static_cast<double>(expected));
}

TEST(Stress, ProgressIsCalledEquallyOftenOnEveryRank) {
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(50, 10, 0.5, 9), 50, {});
  Index calls = 0, last = 0, all = 0;
  stress_sweep(world(), s, summarize_hellinger(world(), s), {request("x", random_coordinates(50, 3, 2), {1, 3})},
               [&](Index done, Index total) {
                 ++calls;
                 last = done;
                 all = total;
               });
  EXPECT_EQ(last, all);
  EXPECT_EQ(calls, all);
  EXPECT_EQ(all_reduce(world(), calls, Reduction::minimum), all_reduce(world(), calls, Reduction::maximum));
}

}  // namespace
}  // namespace posgeom
