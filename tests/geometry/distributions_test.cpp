#include <gtest/gtest.h>

#include <numeric>

#include "posgeom/error.hpp"
#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

TEST(Distributions, UnreachedPositionsAreDroppedAtTheirTrueIndices) {
  const PositionCounts counts = synthetic::counts_of({{1, 0, 3, 0}, {0, 0, 0, 0}, {2, 2, 0, 0}, {0, 0, 0, 1}});
  const SquareRootDistributions s = square_root_distributions(counts, 4, {});
  EXPECT_EQ(s.position, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(s.total, (std::vector<Count>{4, 4, 1}));
  EXPECT_EQ(s.column_count, 4);
  EXPECT_EQ(s.column, (std::vector<std::int32_t>{0, 2, 0, 1, 3}));
  EXPECT_EQ(s.value, (std::vector<double>{0.5, std::sqrt(0.75), std::sqrt(0.5), std::sqrt(0.5), 1}));
}

TEST(Distributions, OnlyTokensOfTheLengthHaveAColumn) {
  const PositionCounts counts = synthetic::counts_of({{1, 0, 3, 0}, {0, 0, 2, 0}, {2, 2, 0, 9}});
  const SquareRootDistributions s = square_root_distributions(counts, 2, {});
  EXPECT_EQ(s.length, 2);
  EXPECT_EQ(s.column_count, 2);
  EXPECT_EQ(s.column, (std::vector<std::int32_t>{0, 1, 0}));  // token 2 first, which most rows hold
  EXPECT_EQ(s.value, (std::vector<double>{std::sqrt(0.75), 0.5, 1}));
}

TEST(Distributions, MinCountMakesPositionsUnreached) {
  const PositionCounts counts = synthetic::counts_of({{1, 0, 3}, {1, 1, 0}, {0, 4, 0}});
  EXPECT_EQ(square_root_distributions(counts, 3, {.min_count = 3}).position, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(square_root_distributions(counts, 3, {.min_count = 0}).row_count(), 3);
  EXPECT_EQ(square_root_distributions(counts, 3, {.unreached = Unreached::zero, .min_count = 3}).total, (std::vector<Count>{4, 0, 4}));
  try {
    square_root_distributions(counts, 3, {.min_count = 5});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--min-count"), std::string::npos);
  }
}

TEST(Distributions, UniformRowsShareStorageAndCarryTheUnseenTokensInOneColumn) {
  const PositionCounts counts = synthetic::counts_of({{1, 0, 0, 3, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 2, 0}, {0, 0, 0, 0, 0}});
  const SquareRootDistributions s = square_root_distributions(counts, 4, {.unreached = Unreached::uniform});
  EXPECT_EQ(s.row_count(), 4);
  EXPECT_EQ(s.total, (std::vector<Count>{4, 0, 2, 0}));
  EXPECT_EQ(s.column_count, 3);
  EXPECT_EQ(s.row_begin[1], s.row_begin[3]);
  EXPECT_EQ(s.row_end[1] - s.row_begin[1], 3);
  const auto at = static_cast<std::size_t>(s.row_begin[1]);
  EXPECT_DOUBLE_EQ(s.value[at], std::sqrt(0.2));
  EXPECT_DOUBLE_EQ(s.value[at + 2], std::sqrt(0.6));
  EXPECT_EQ(s.value.size(), 6U);
  // Every token occurs: no further column.
  const PositionCounts full = synthetic::counts_of({{1, 2}, {0, 0}});
  EXPECT_EQ(square_root_distributions(full, 2, {.unreached = Unreached::uniform}).column_count, 2);
}

TEST(Distributions, ZeroRowsAreEmpty) {
  const PositionCounts counts = synthetic::counts_of({{0, 0}, {1, 1}, {0, 0}});
  const SquareRootDistributions s = square_root_distributions(counts, 3, {.unreached = Unreached::zero});
  EXPECT_EQ(s.row_count(), 3);
  EXPECT_EQ(s.row_begin[0], s.row_end[0]);
  EXPECT_EQ(s.row_begin[2], s.row_end[2]);
}

TEST(Distributions, NamesGoThereAndBack) {
  for (const Unreached u : {Unreached::drop, Unreached::uniform, Unreached::zero}) EXPECT_EQ(unreached_named(name_of(u)), u);
  try {
    unreached_named("skip");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("uniform"), std::string::npos);
  }
}

TEST(GramTrace, IsOneMinusTheSquaredMeanAndKeepsItsDigits) {
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    for (const bool unit_range : {false, true}) {
      const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(20, 30, 0.4, 7), {3, 19});
      const HellingerOptions options{.unreached = unreached, .unit_range = unit_range};
      std::vector<std::int32_t> positions;
      const reference::Matrix s = reference::square_roots(counts, 20, options, positions);
      reference::Real expected = 0;  // fact 3, first half
      for (const auto& row : s) expected += std::inner_product(row.begin(), row.end(), row.begin(), reference::Real{0});
      for (std::size_t v = 0; v < 30; ++v) {
        reference::Real sum = 0;
        for (const auto& row : s) sum += row[v];
        expected -= sum * sum / static_cast<reference::Real>(s.size());
      }
      const double trace = gram_trace(square_root_distributions(counts, 20, options));
      EXPECT_NEAR(trace, static_cast<double>(expected), 1e-13 * trace);
    }
  }
}

TEST(GramTrace, OfNearlyIdenticalPositionsIsRight) {
  const Count n = 10'000'000;
  const PositionCounts counts = synthetic::counts_of({{n, n}, {n + 1, n - 1}});
  const long double x = std::sqrt((n + 1) / (2.0L * n)) - std::sqrt(0.5L);
  const long double y = std::sqrt((n - 1) / (2.0L * n)) - std::sqrt(0.5L);
  const auto expected = static_cast<double>((x * x + y * y) / 2);
  EXPECT_NEAR(gram_trace(square_root_distributions(counts, 2, {})), expected, 1e-6 * expected);
}

}  // namespace
}  // namespace posgeom
