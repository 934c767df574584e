#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stress_fixture.hpp"
#include "support/world.hpp"

/// The rank correlations of a sweep against a naive sort of all pairs.
namespace posgeom {
namespace {

/// H over the pairs i < j, as the sweep has it.
std::vector<double> hellinger_pairs(const SquareRootDistributions& s) {
  HellingerRows rows(s);
  std::vector<double> row(static_cast<std::size_t>(s.row_count()));
  std::vector<double> pairs;
  for (Index i = 0; i < s.row_count(); ++i) {
    rows.compute(i, 1, row);
    pairs.insert(pairs.end(), row.begin() + i + 1, row.end());
  }
  return pairs;
}

/// Distances of the d leading columns over the pairs i < j. Exact for small integers; others are tied only where rows are equal.
std::vector<double> coordinate_pairs(const Coordinates& x, Index d) {
  const reference::Matrix distances = reference::distances(leading(x, d));
  std::vector<double> pairs;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    for (std::size_t j = i + 1; j < distances.size(); ++j) pairs.push_back(static_cast<double>(distances[i][j]));
  }
  return pairs;
}

std::vector<double> lag_pairs(const LagKernel& kernel, const std::vector<std::int32_t>& position, Index d) {
  const std::vector<double> distances = kernel.distances(position.back() - position.front() + 1, d);
  std::vector<double> pairs;
  for (std::size_t i = 0; i < position.size(); ++i) {
    for (std::size_t j = i + 1; j < position.size(); ++j) pairs.push_back(distances[static_cast<std::size_t>(position[j] - position[i])]);
  }
  return pairs;
}

void expect_spearman(double found, double expected, const std::string& what) {
  EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) < 1e-14)
      << what << ": " << found << ", not " << expected;
}

void expect_all(const PositionCounts& counts, Index n, Unreached unreached, const std::vector<Coordinates>& encodings) {
  const SquareRootDistributions s = square_root_distributions(counts, n, {.unreached = unreached});
  const std::vector<double> h = hellinger_pairs(s);
  const std::vector<std::int32_t> dimensions{2, 4, 8, 12};
  const std::vector<std::pair<std::string, LagKernel>> kernels{{"sinusoidal", sinusoidal_encoding()},
                                                               {"rope", rope_encoding(10000, 4)},
                                                               {"alibi", alibi_encoding(3, n)},
                                                               {"linear", linear_encoding(n)}};
  std::vector<StressRequest> requests;
  for (const Coordinates& x : encodings) requests.push_back(request("x", x, dimensions));
  for (const auto& [name, kernel] : kernels) requests.push_back(request(name, kernel, dimensions));
  const std::vector<StressColumns> columns = sweep(world(), s, requests);
  for (std::size_t e = 0; e < requests.size(); ++e) {
    for (std::size_t t = 0; t < dimensions.size(); ++t) {
      const std::vector<double> d = e < encodings.size() ? coordinate_pairs(encodings[e], dimensions[t])
                                                         : lag_pairs(kernels[e - encodings.size()].second, s.position, dimensions[t]);
      expect_spearman(columns[e].spearman[t], reference::spearman(d, h),
                      fmt::format("n = {}, {} at {}", n, requests[e].encoding.name, dimensions[t]));
    }
  }
}

/// Small integers: many distances are exactly tied.
Coordinates integer_coordinates(Index m, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> integer(0, 2);
  Coordinates x{.rows = m, .columns = columns, .stored = columns, .values = std::vector<double>(static_cast<std::size_t>(m * columns))};
  for (double& value : x.values) value = integer(generator);
  return x;
}

/// Each row as its predecessor, but for every third.
Coordinates with_equal_rows(Coordinates x) {
  for (Index k = 0; k < x.columns; ++k) {
    for (Index i = 1; i < x.rows; ++i) {
      if (i % 3 != 0) x.values[static_cast<std::size_t>(i + k * x.rows)] = x.values[static_cast<std::size_t>(i - 1 + k * x.rows)];
    }
  }
  return x;
}

TEST(Spearman, OfEveryFormIsItsDefinition) {
  for (const Index n : {1, 2, 3, 4, 5, 8, 17, 48, 49, 60}) {
    const PositionCounts counts = synthetic::drifting_counts(n, 30, 0.5, static_cast<unsigned>(n));
    const Coordinates x = random_coordinates(n, 12, 1);
    expect_all(counts, n, Unreached::drop, {x, integer_coordinates(n, 12, 2), with_equal_rows(x)});
  }
}

TEST(Spearman, WithHolesAndTiedHellingerDistances) {
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    const std::vector<std::size_t> holes{0, 5, 6, 7, 30, 39};
    // Equal rows, and disjoint ones at exactly one distance.
    auto table = synthetic::drifting_table(40, 12, 0.3, 8);
    for (std::size_t i = 1; i < table.size(); i += 3) table[i] = table[i - 1];
    const PositionCounts counts = synthetic::with_holes(table, holes);
    const Index m = square_root_distributions(counts, 40, {.unreached = unreached}).row_count();
    expect_all(counts, 40, unreached, {random_coordinates(m, 12, 3), integer_coordinates(m, 12, 4)});
  }
}

TEST(Spearman, OverSeveralTiles) {
  // Two blocks of rows and several tiles of columns, with a last one that is no whole vector.
  const Index n = 301;
  expect_all(synthetic::drifting_counts(n, 20, 0.4, 9), n, Unreached::drop, {integer_coordinates(n, 12, 5)});
}

TEST(Spearman, OfConstantDistancesIsUndefined) {
  const Index m = 9;
  const PositionCounts counts = synthetic::drifting_counts(m, 10, 0.7, 3);
  const SquareRootDistributions s = square_root_distributions(counts, m, {});
  const Coordinates zeros{.rows = m, .columns = 2, .stored = 2, .values = std::vector<double>(static_cast<std::size_t>(2 * m), 0.5)};
  // A simplex up to rounding: ranks of its distances would be noise.
  Coordinates simplex{.rows = m, .columns = m, .stored = m, .values = std::vector<double>(static_cast<std::size_t>(m * m), 0.1)};
  for (Index i = 0; i < m; ++i) simplex.values[static_cast<std::size_t>(i * (m + 1))] += 1 + 1e-15 * static_cast<double>(i);
  const auto columns = sweep(world(), s, {request("zeros", zeros, {1, 2}), request("simplex", simplex, {static_cast<std::int32_t>(m)})});
  EXPECT_TRUE(std::isnan(columns[0].spearman[0]));
  EXPECT_TRUE(std::isnan(columns[0].spearman[1]));
  EXPECT_TRUE(std::isnan(columns[1].spearman[0]));
  // H constant: one distribution, or disjoint ones.
  const SquareRootDistributions disjoint = square_root_distributions(synthetic::three_disjoint(), 3, {});
  const auto against_constant =
      sweep(world(), disjoint, {request("x", random_coordinates(3, 2, 1), {1, 2}), request("linear", linear_encoding(3), {1})});
  EXPECT_TRUE(std::isnan(against_constant[0].spearman[1]));
  EXPECT_TRUE(std::isnan(against_constant[1].spearman[0]));
}

TEST(Spearman, IsTheSameWhateverTheScale) {
  const Index n = 50;
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(n, 30, 0.5, 2), n, {});
  const Coordinates x = random_coordinates(n, 6, 1);
  Coordinates larger = x;
  for (double& value : larger.values) value *= 1024;
  const auto columns = sweep(world(), s, {request("x", x, {1, 6}), request("larger", larger, {1, 6})});
  EXPECT_EQ(columns[0].spearman, columns[1].spearman);
}

TEST(Spearman, AndViolationsMayBeLeftOut) {
  const Index n = 30;
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(n, 30, 0.5, 2), n, {});
  const HellingerSummary summary = summarize_hellinger(world(), s);
  const std::vector<StressRequest> requests{request("x", random_coordinates(n, 6, 1), {1, 6}),
                                            request("linear", linear_encoding(n), {1, 6})};
  const auto all = stress_sweep(world(), s, summary, requests);
  const auto ranks = stress_sweep(world(), s, summary, requests, {}, {.violation_rate = false});
  const auto violations = stress_sweep(world(), s, summary, requests, {}, {.spearman = false});
  for (std::size_t e = 0; e < requests.size(); ++e) {
    EXPECT_EQ(ranks[e].spearman, all[e].spearman);
    EXPECT_EQ(violations[e].violation_rate, all[e].violation_rate);
    EXPECT_EQ(ranks[e].raw, all[e].raw);
    for (const std::size_t t : {0U, 1U}) {
      EXPECT_TRUE(std::isnan(ranks[e].violation_rate[t]));
      EXPECT_TRUE(std::isnan(violations[e].spearman[t]));
      EXPECT_FALSE(std::isnan(all[e].spearman[t]));
    }
  }
}

}  // namespace
}  // namespace posgeom
