#include <gtest/gtest.h>

#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

TEST(HellingerRows, EveryTileHasTheSameBits) {
  const Index m = 45;
  const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(m, 2500, 0.3, 11), {7, 8, 30});
  const SquareRootDistributions s = square_root_distributions(counts, m, {.unreached = Unreached::uniform});
  HellingerRows rows(s);
  std::vector<double> all(static_cast<std::size_t>(m * m));
  for (Index i = 0; i < m; ++i) rows.compute(i, 1, std::span(all).subspan(static_cast<std::size_t>(i * m), static_cast<std::size_t>(m)));
  std::vector<double> tile(static_cast<std::size_t>(HellingerRows::row_block * m));
  for (const Index first : {0, 5, 16, 29, 40}) {
    for (const Index column : {0, 1, 8, 31}) {
      const Index count = std::min<Index>(HellingerRows::row_block, m - first);
      rows.compute(first, count, column, m - column, tile);
      for (Index r = 0; r < count; ++r) {
        for (Index j = column; j < m; ++j) {
          EXPECT_EQ(tile[static_cast<std::size_t>(r * (m - column) + j - column)], all[static_cast<std::size_t>((first + r) * m + j)]);
          EXPECT_EQ(all[static_cast<std::size_t>((first + r) * m + j)], all[static_cast<std::size_t>(j * m + first + r)]);
        }
      }
    }
  }
}

TEST(HellingerRows, FrequentAndRareColumnsGiveTheDefinition) {
  // Columns that about 1/48 of the rows hold, frequent ones and rare ones; others are nearly everywhere. Several blocks of anchors, rows
  // that share storage.
  const Index m = 160;
  auto table = synthetic::drifting_table(m, 900, 0.02, 13);
  const auto everywhere = synthetic::drifting_table(m, 200, 0.8, 14);
  for (std::size_t i = 0; i < table.size(); ++i) std::copy(everywhere[i].begin(), everywhere[i].end(), table[i].begin() + 300);
  const PositionCounts counts = synthetic::with_holes(table, {3, 4, 70, 159});
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    std::vector<std::int32_t> positions;
    const reference::Matrix expected = reference::distances(reference::square_roots(counts, m, {.unreached = unreached}, positions));
    const SquareRootDistributions s = square_root_distributions(counts, m, {.unreached = unreached});
    HellingerRows rows(s);
    std::vector<double> h(static_cast<std::size_t>(HellingerRows::row_block * s.row_count()));
    for (const Index first : {Index{96}, Index{0}, Index{48}, Index{1}}) {
      rows.compute(first, HellingerRows::row_block, h);
      for (Index r = 0; r < HellingerRows::row_block; ++r) {
        for (Index j = 0; j < s.row_count(); ++j) {
          EXPECT_NEAR(h[static_cast<std::size_t>(r * s.row_count() + j)],
                      static_cast<double>(expected[static_cast<std::size_t>(first + r)][static_cast<std::size_t>(j)]), 1e-14);
        }
      }
    }
  }
}

TEST(HellingerRows, NearlyEqualRowsKeepTheirDigits) {
  // One count in 1e7 differs: H^2 is about 1e-14, all of it rounding in 2 - 2 BC.
  const Count n = 10'000'000;
  const PositionCounts counts = synthetic::counts_of({{n, n, 3 * n}, {n + 1, n - 1, 3 * n}, {2 * n, 2 * n, 6 * n}, {n, n + 1, 3 * n}});
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(counts, 4, {}, positions));
  const SquareRootDistributions s = square_root_distributions(counts, 4, {});
  HellingerRows rows(s);
  std::vector<double> computed(16);
  rows.compute(0, 4, computed);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const auto expected = static_cast<double>(h[i][j] * h[i][j]);
      EXPECT_NEAR(computed[4 * i + j] * computed[4 * i + j], expected, 1e-6 * expected) << i << " " << j;
    }
  }
  EXPECT_EQ(computed[2], 0.0) << "equal distributions from different counts";
}

TEST(HellingerRows, ZeroRowsAreAtDistanceOneFromReachedOnes) {
  const PositionCounts counts = synthetic::counts_of({{0, 0, 0}, {1, 2, 4}, {0, 0, 0}, {0, 0, 9}});
  const SquareRootDistributions s = square_root_distributions(counts, 4, {.unreached = Unreached::zero});
  HellingerRows rows(s);
  std::vector<double> h(16);
  rows.compute(0, 4, h);
  EXPECT_EQ(h[2], 0.0);
  EXPECT_NEAR(h[1], 1.0, 1e-15);
  EXPECT_NEAR(h[3], 1.0, 1e-15);
}

TEST(HellingerRows, DisjointDistributionsAreAtDistanceRootTwo) {
  const SquareRootDistributions s = square_root_distributions(synthetic::three_disjoint(), 3, {});
  HellingerRows rows(s);
  std::vector<double> h(9);
  rows.compute(0, 3, h);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(h[k], k % 4 == 0 ? 0.0 : std::sqrt(2.0));
}

}  // namespace
}  // namespace posgeom
