#include <gtest/gtest.h>

#include "stress_fixture.hpp"
#include "support/world.hpp"

/// Every undefined case has its defined answer (StressTable).
namespace posgeom {
namespace {

void expect_all_nan(const StressColumns& columns, std::size_t t) {
  for (const auto* column : measures_of(columns)) EXPECT_TRUE(std::isnan((*column)[t]));
}

TEST(Undefined, EncodingsBeyondTheirDimensionsAreNaN) {
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(12, 10, 0.7, 3), 12, {});
  const auto columns = sweep(world(), s,
                             {request("file", random_coordinates(12, 4, 1), {2, 4, 5, 9}),
                              request("sinusoidal", sinusoidal_encoding(), {3, 4}), request("rope", rope_encoding(10000, 4), {4, 6, 8})});
  EXPECT_FALSE(std::isnan(columns[0].raw[1]));
  expect_all_nan(columns[0], 2);
  expect_all_nan(columns[0], 3);
  expect_all_nan(columns[1], 0);
  EXPECT_FALSE(std::isnan(columns[1].raw[1]));
  EXPECT_FALSE(std::isnan(columns[2].raw[0]));
  expect_all_nan(columns[2], 1);
  EXPECT_FALSE(std::isnan(columns[2].raw[2]));
}

TEST(Undefined, MdsBeyondTheRankIsZeroAndBeyondTheStoredComponentsNaN) {
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(12, 5, 0.9, 3), 12, {});
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const Mds whole = classical_mds(grid, s, {});
  const auto r = static_cast<std::int32_t>(whole.spectrum.rank);
  ASSERT_EQ(r, 5);
  const Mds part = classical_mds(grid, s, {.components = 3});
  const auto columns = sweep(world(), s,
                             {request("whole", mds_encoding(whole.encoding, r), {3, r, r + 1, 100}),
                              request("part", mds_encoding(part.encoding, r), {3, 4, 100})});
  EXPECT_EQ(columns[0].raw[1], columns[0].raw[2]);
  EXPECT_EQ(columns[0].raw[1], columns[0].raw[3]);
  EXPECT_EQ(columns[1].raw[0], columns[0].raw[0]);
  expect_all_nan(columns[1], 1);
  expect_all_nan(columns[1], 2);
}

TEST(Undefined, AllPositionsIdentical) {
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of({{1, 2}, {2, 4}, {3, 6}, {5, 10}}), 4, {});
  const HellingerSummary summary = summarize_hellinger(world(), s);
  EXPECT_EQ(summary.sum_squared, 0);
  EXPECT_EQ(summary.corpus_violation_rate, 0);
  EXPECT_TRUE(std::isnan(summary.constant_baseline));
  const Mds mds = classical_mds(ProcessGrid::nearest_square(world()), s, {});
  const auto columns = sweep(world(), s,
                             {request("mds", mds_encoding(mds.encoding, 0), {1, 4}), request("x", random_coordinates(4, 2, 1), {2}),
                              request("linear", linear_encoding(4), {1})});
  for (const std::size_t t : {0U, 1U}) {
    EXPECT_EQ(columns[0].raw[t], 0);
    EXPECT_TRUE(std::isnan(columns[0].scaled[t]));
    EXPECT_TRUE(std::isnan(columns[0].scale[t]));
    EXPECT_TRUE(std::isnan(columns[0].pearson[t]));
    EXPECT_TRUE(std::isnan(columns[0].spearman[t]));
    EXPECT_EQ(columns[0].min_separation[t], 0);
    EXPECT_EQ(columns[0].violation_rate[t], 0);
  }
  for (const std::size_t e : {1U, 2U}) {
    EXPECT_EQ(columns[e].raw[0], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(columns[e].scaled[0]));
    EXPECT_EQ(columns[e].scale[0], 0) << "sum DH / sum D^2 has a denominator";
    EXPECT_TRUE(std::isnan(columns[e].pearson[0]));
    EXPECT_TRUE(std::isnan(columns[e].spearman[0]));
    EXPECT_GT(columns[e].min_separation[0], 0);
  }
}

TEST(Undefined, OneAndTwoPositions) {
  const PositionCounts counts = synthetic::counts_of({{3, 1}, {1, 3}});
  const SquareRootDistributions one = square_root_distributions(counts, 1, {});
  const HellingerSummary summary = summarize_hellinger(world(), one);
  EXPECT_EQ(summary.pair_count, 0);
  EXPECT_TRUE(std::isnan(summary.mean));
  EXPECT_TRUE(std::isnan(summary.corpus_violation_rate));
  const auto single =
      sweep(world(), one, {request("x", random_coordinates(1, 2, 1), {1, 2}), request("alibi", alibi_encoding(2, 1), {1, 2})});
  for (const StressColumns& columns : single) {
    EXPECT_EQ(columns.raw[1], 0);
    for (const auto* column :
         {&columns.scaled, &columns.scale, &columns.violation_rate, &columns.min_separation, &columns.pearson, &columns.spearman}) {
      EXPECT_TRUE(std::isnan((*column)[1]));
    }
  }
  const SquareRootDistributions two = square_root_distributions(counts, 2, {});
  const auto pair =
      sweep(world(), two, {request("x", random_coordinates(2, 2, 1), {1, 2}), request("sinusoidal", sinusoidal_encoding(), {2, 4})});
  for (const StressColumns& columns : pair) {
    EXPECT_NEAR(columns.scaled[1], 0, 1e-15);
    EXPECT_GT(columns.min_separation[1], 0);
    EXPECT_TRUE(std::isnan(columns.violation_rate[1]));
    EXPECT_TRUE(std::isnan(columns.pearson[1]));
    EXPECT_TRUE(std::isnan(columns.spearman[1]));
  }
}

TEST(Undefined, ConstantDistancesHaveNoCorrelation) {
  // The corners of a simplex: D = sqrt 2 everywhere, up to rounding.
  const Index m = 9;
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(m, 10, 0.7, 3), m, {});
  Coordinates x{.rows = m, .columns = m, .stored = m, .values = std::vector<double>(static_cast<std::size_t>(m * m), 0.1)};
  for (Index i = 0; i < m; ++i) x.values[static_cast<std::size_t>(i * (m + 1))] += 1 + 1e-15 * static_cast<double>(i);
  const StressColumns columns = sweep(world(), s, {request("simplex", x, {static_cast<std::int32_t>(m)})})[0];
  EXPECT_TRUE(std::isnan(columns.pearson[0]));
  EXPECT_NEAR(columns.scaled[0], summarize_hellinger(world(), s).constant_baseline, 1e-13) << "it is the constant-distance baseline";
  EXPECT_EQ(columns.violation_rate[0], 0);
}

TEST(Undefined, DuplicatedRowsAreTiesNotViolations) {
  std::vector<std::vector<Count>> table;
  for (Count k = 0; k < 40; ++k) table.push_back(k % 2 == 0 ? std::vector<Count>{1 + k, 2 * (1 + k), 0} : std::vector<Count>{0, 3 * k, k});
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 40, {});
  // Even and odd positions have one distribution each: D_ij > D_ik exactly where j is of the other kind and k of the same.
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(synthetic::counts_of(table), 40, {}, positions));
  const double expected = reference::violations(positions, h).rate();
  EXPECT_EQ(summarize_hellinger(world(), s).corpus_violation_rate, expected);
  const Mds mds = classical_mds(ProcessGrid::nearest_square(world()), s, {.solver = Solver::pdsyevd});
  EXPECT_EQ(mds.spectrum.rank, 1);
  const StressColumns columns = sweep(world(), s, {request("mds", mds_encoding(mds.encoding, 1), {1})})[0];
  EXPECT_EQ(columns.violation_rate[0], expected);
  EXPECT_EQ(columns.min_separation[0], 0);
}

}  // namespace
}  // namespace posgeom
