#include "posgeom/linalg/operations.hpp"

#include <gtest/gtest.h>

#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using test::for_every_grid;
using test::world;

double element(Index i, Index j) { return test::noise(i, j, 7); }

TEST(DistributedMatrix, EveryElementLivesOnceAndWhereScaLapackLooks) {
  for_every_grid([](const ProcessGrid& grid) {
    for (const Index rows : {0, 1, 5, 17}) {
      for (const Index columns : {0, 1, 4, 23}) {
        for (const Index block : {1, 3, 8, 100}) {
          DistributedMatrix a(grid, rows, columns, block);
          EXPECT_EQ(all_reduce(world(), a.local_rows() * a.local_columns()), rows * columns);
          EXPECT_EQ(a.leading_dimension(), std::max(Index{1}, a.local_rows()));
          EXPECT_EQ(std::ssize(a.data()), a.leading_dimension() * a.local_columns());
          for (const double x : a.data()) EXPECT_EQ(x, 0.0);
          const std::array<int, 9> expected{
              1, grid.context(), int(rows), int(columns), int(block), int(block), 0, 0, int(a.leading_dimension())};
          EXPECT_EQ(a.descriptor(), expected);
          fill(a, element);
          for (Index j = 0; j < a.local_columns(); ++j) {
            for (Index i = 0; i < a.local_rows(); ++i) EXPECT_EQ(a.local(i, j), element(a.row_axis().global(i), a.column_axis().global(j)));
          }
        }
      }
    }
  });
}

TEST(DistributedMatrix, RefusesWhat32BitIndicesCannotReachOnEveryRank) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  try {
    const DistributedMatrix a(grid, 1'000'000, 1'000'000, 64);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("use at least 466 ranks"), std::string::npos) << error.what();
  }
  EXPECT_THROW(DistributedMatrix(grid, Index{1} << 31, 1, 64), Error);
  EXPECT_THROW(DistributedMatrix(grid, 1, 1, Index{1} << 31), Error);
  EXPECT_THROW(DistributedMatrix(grid, 1, 1, 0), std::logic_error);
}

TEST(GatherColumns, AnyColumnsInAnyOrder) {
  for_every_grid([](const ProcessGrid& grid) {
    DistributedMatrix a(grid, 19, 23, 4);
    fill(a, element);
    const std::vector<Index> columns{22, 0, 7, 7, 11};
    const std::vector<double> gathered = gather_columns(a, columns);
    ASSERT_EQ(std::ssize(gathered), 19 * std::ssize(columns));
    for (std::size_t k = 0; k < columns.size(); ++k) {
      for (Index i = 0; i < 19; ++i) EXPECT_EQ(gathered[k * 19 + static_cast<std::size_t>(i)], element(i, columns[k]));
    }
    EXPECT_TRUE(gather_columns(a, {}).empty());
    EXPECT_TRUE(gather_columns(DistributedMatrix(grid, 0, 3, 4), std::vector<Index>{2}).empty());
    EXPECT_THROW(gather_columns(a, std::vector<Index>{23}), std::logic_error);
  });
}

/// The rows of X (m x width, element(i, k)) that stand for this rank's part of an axis, column-major.
std::vector<double> panel_of(const BlockCyclic& axis, Index first, Index width) {
  std::vector<double> panel;
  for (Index k = 0; k < width; ++k) {
    for (Index l = 0; l < axis.local_extent(); ++l) panel.push_back(element(axis.global(l), first + k));
  }
  return panel;
}

TEST(RankKUpdate, PanelByPanelGivesXTimesItsTranspose) {
  for_every_grid([](const ProcessGrid& grid) {
    for (const Index n : {1, 2, 9, 30}) {
      constexpr Index width = 12;
      DistributedMatrix c(grid, n, n, 4);
      fill(c, [](Index i, Index j) { return static_cast<double>(i - j); });
      for (const auto& [first, count] : {std::pair<Index, Index>{0, 5}, {5, 0}, {5, 7}}) {
        rank_k_update(c, panel_of(c.row_axis(), first, count), panel_of(c.column_axis(), first, count), count);
      }
      for (Index j = 0; j < c.local_columns(); ++j) {
        for (Index i = 0; i < c.local_rows(); ++i) {
          const Index row = c.row_axis().global(i);
          const Index column = c.column_axis().global(j);
          auto expected = static_cast<double>(row - column);
          for (Index k = 0; k < width; ++k) expected += element(row, k) * element(column, k);
          EXPECT_NEAR(c.local(i, j), expected, 100 * test::eps * static_cast<double>(width + n));
        }
      }
    }
  });
}

TEST(RankKUpdate, RefusesPanelsOfAnotherShape) {
  DistributedMatrix c(ProcessGrid::nearest_square(world()), 8, 8, 2);
  const std::vector<double> rows(static_cast<std::size_t>(c.local_rows() * 3 + 1));
  const std::vector<double> columns(static_cast<std::size_t>(c.local_columns() * 3));
  EXPECT_THROW(rank_k_update(c, rows, columns, 3), std::logic_error);
}

TEST(Multiply, PlainAndTransposedAgainstLoops) {
  for_every_grid([](const ProcessGrid& grid) {
    for (const auto& [m, k, n] : {std::array<Index, 3>{1, 1, 1}, {2, 3, 1}, {13, 7, 10}, {5, 0, 4}, {0, 3, 3}, {3, 3, 0}}) {
      for (const bool transposed : {false, true}) {
        DistributedMatrix a(grid, transposed ? k : m, transposed ? m : k, 3);
        DistributedMatrix b(grid, k, n, 3);
        DistributedMatrix c(grid, m, n, 3);
        const auto b_element = [](Index i, Index j) { return test::noise(i, j, 8); };
        fill(a, element);
        fill(b, b_element);
        fill(c, [](Index, Index) { return 1e300; });
        multiply(a, b, c, transposed);
        for (Index j = 0; j < c.local_columns(); ++j) {
          for (Index i = 0; i < c.local_rows(); ++i) {
            const Index row = c.row_axis().global(i);
            double expected = 0;
            for (Index l = 0; l < k; ++l)
              expected += (transposed ? element(l, row) : element(row, l)) * b_element(l, c.column_axis().global(j));
            EXPECT_NEAR(c.local(i, j), expected, 1e-14);
          }
        }
      }
    }
  });
}

TEST(Multiply, RefusesShapesThatDoNotFit) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const DistributedMatrix a(grid, 4, 5, 2);
  DistributedMatrix c(grid, 4, 4, 2);
  EXPECT_THROW(multiply(a, a, c), std::logic_error);
  EXPECT_THROW(multiply(a, DistributedMatrix(grid, 5, 4, 3), c), std::logic_error);
}

TEST(Trace, SumsTheDiagonalOfAnyShape) {
  for_every_grid([](const ProcessGrid& grid) {
    for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {1, 1}, {20, 20}, {20, 7}, {7, 20}}) {
      DistributedMatrix a(grid, rows, columns, 3);
      fill(a, [](Index i, Index j) { return i == j ? static_cast<double>(i + 1) : 1e6; });
      const Index k = std::min(rows, columns);
      EXPECT_EQ(trace(a), static_cast<double>(k * (k + 1) / 2));
    }
  });
}

TEST(FrobeniusNorm, IsScaledAndTheSameEverywhere) {
  for_every_grid([](const ProcessGrid& grid) {
    for (const double scale : {1.0, 1e200, 1e-200, 0.0}) {
      DistributedMatrix a(grid, 11, 13, 2);
      fill(a, [&](Index i, Index j) { return scale * static_cast<double>((i + j) % 2 == 0 ? 3 : -4); });
      double sum = 0;
      for (Index k = 0; k < 11 * 13; ++k) sum += (k % 13 + k / 13) % 2 == 0 ? 9 : 16;
      const double norm = frobenius_norm(a);
      EXPECT_NEAR(norm, scale * std::sqrt(sum), 1e-14 * scale * std::sqrt(sum));
      double root_norm = norm;
      broadcast(world(), std::span(&root_norm, 1));
      EXPECT_EQ(norm, root_norm);
    }
    EXPECT_EQ(frobenius_norm(DistributedMatrix(grid, 0, 0, 2)), 0.0);
  });
}

TEST(FrobeniusNorm, OneNaNOrInfinityShowsOnEveryRank) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const double rest : {0.0, 1.0}) {
      DistributedMatrix a(ProcessGrid::nearest_square(world()), 9, 9, 2);
      fill(a, [&](Index i, Index j) { return i == 8 && j == 3 ? bad : rest; });
      EXPECT_FALSE(std::isfinite(frobenius_norm(a)));
    }
  }
}

}  // namespace
}  // namespace posgeom
