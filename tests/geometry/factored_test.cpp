#include "posgeom/geometry/factored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "posgeom/error.hpp"
#include "posgeom/linalg/svd.hpp"

namespace posgeom {
namespace {

/// rows x columns, row-major, of rank `rank`; the singular values fall by about `fall` each.
std::vector<double> of_rank(Index rows, Index columns, Index rank, double fall, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> matrix(static_cast<std::size_t>(rows * columns), 0.0);
  double scale = 1;
  for (Index c = 0; c < rank; ++c, scale *= fall) {
    std::vector<double> left(static_cast<std::size_t>(rows)), right(static_cast<std::size_t>(columns));
    for (double& x : left) x = normal(generator);
    for (double& x : right) x = normal(generator);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j)
        matrix[static_cast<std::size_t>(i * columns + j)] += scale * left[static_cast<std::size_t>(i)] * right[static_cast<std::size_t>(j)];
    }
  }
  return matrix;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

/// |P - A B'|_F / |P|_F from the factors.
double error_of(const FactoredEncoding& f, const std::vector<double>& p) {
  std::vector<double> rest = p;
  for (Index i = 0; i < f.rows; ++i) {
    for (Index j = 0; j < f.columns; ++j) {
      for (Index c = 0; c < f.rank; ++c)
        rest[static_cast<std::size_t>(i * f.columns + j)] -=
            f.a[static_cast<std::size_t>(i * f.rank + c)] * f.b[static_cast<std::size_t>(j * f.rank + c)];
    }
  }
  return norm(rest) / norm(p);
}

TEST(Factored, FindsTheRank) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{32, 128}, {128, 32}, {50, 50}, {3, 200}}) {
    for (const Index rank : {1, 3}) {
      const std::vector<double> p = of_rank(rows, columns, rank, 1, 1);
      for (const double tolerance : {0.0, 1e-10}) {
        const FactoredEncoding f = factored_encoding(p, rows, columns, tolerance);
        EXPECT_EQ(f.rank, rank);
        EXPECT_LT(error_of(f, p), 1e-14);
        ASSERT_EQ(std::ssize(f.a), rows * rank);
        ASSERT_EQ(std::ssize(f.b), columns * rank);
        EXPECT_EQ(f.parameters_full(), rows * columns);
        EXPECT_EQ(f.parameters_factored(), rank * (rows + columns));
      }
    }
  }
}

TEST(Factored, ToleranceChoosesTheRank) {
  const std::vector<double> p = of_rank(40, 60, 20, 0.5, 2);
  Index last = 21;
  for (const double tolerance : {1e-12, 1e-4, 1e-2, 0.1, 0.5, 0.999}) {
    const FactoredEncoding f = factored_encoding(p, 40, 60, tolerance);
    EXPECT_LE(f.rank, last);
    last = f.rank;
    EXPECT_LE(error_of(f, p), tolerance * (1 + 1e-9) + 1e-14);
    EXPECT_NEAR(error_of(f, p), f.error, 1e-12);
    if (f.rank == 0) continue;
    // One fewer does not do: what the last pair of columns adds is the column of A, as B's are orthonormal.
    double column = 0;
    for (Index i = 0; i < 40; ++i) column += std::pow(f.a[static_cast<std::size_t>(i * f.rank + f.rank - 1)], 2);
    EXPECT_GT(std::hypot(f.error, std::sqrt(column) / norm(p)), tolerance);
  }
  EXPECT_LT(last, 3);
}

TEST(Factored, ColumnsOfBAreOrthonormalAndSigned) {
  const FactoredEncoding f = factored_encoding(of_rank(30, 25, 6, 0.7, 3), 30, 25, 0);
  ASSERT_EQ(f.rank, 6);
  for (Index c = 0; c < 6; ++c) {
    double largest = 0;
    for (Index e = 0; e <= c; ++e) {
      double product = 0;
      for (Index j = 0; j < 25; ++j) product += f.b[static_cast<std::size_t>(j * 6 + c)] * f.b[static_cast<std::size_t>(j * 6 + e)];
      EXPECT_NEAR(product, c == e ? 1 : 0, 1e-13);
    }
    for (Index j = 0; j < 25; ++j) {
      const double x = f.b[static_cast<std::size_t>(j * 6 + c)];
      if (std::abs(x) > std::abs(largest)) largest = x;
    }
    EXPECT_GT(largest, 0);
  }
}

TEST(Factored, SaysWhetherItSaves) {
  // The paper's own: n = 32, d = 128, rank 3: 480 numbers instead of 4096.
  const FactoredEncoding paper = factored_encoding(of_rank(32, 128, 3, 1, 4), 32, 128, 1e-10);
  EXPECT_EQ(paper.parameters_factored(), 480);
  EXPECT_EQ(paper.parameters_full(), 4096);
  EXPECT_TRUE(paper.saves());
  EXPECT_NE(paper.note().find("88.3 % fewer"), std::string::npos) << paper.note();
  // 4 x 4 of rank 2: as many; of rank 3: more.
  const FactoredEncoding same = factored_encoding(of_rank(4, 4, 2, 1, 5), 4, 4, 1e-10);
  EXPECT_EQ(same.parameters_factored(), same.parameters_full());
  EXPECT_FALSE(same.saves());
  EXPECT_NE(same.note().find("does not save"), std::string::npos);
  EXPECT_NE(same.note().find("below rank 2.0"), std::string::npos) << same.note();
  EXPECT_FALSE(factored_encoding(of_rank(4, 4, 3, 1, 6), 4, 4, 1e-10).saves());
}

TEST(Factored, EdgeCases) {
  const FactoredEncoding zero = factored_encoding(std::vector<double>(12, 0.0), 3, 4, 0);
  EXPECT_EQ(zero.rank, 0);
  EXPECT_EQ(zero.error, 0);
  EXPECT_TRUE(zero.saves());
  EXPECT_EQ(factored_encoding({}, 0, 4, 0).rank, 0);
  EXPECT_FALSE(factored_encoding({}, 0, 4, 0).saves());
  EXPECT_EQ(factored_encoding({-2}, 1, 1, 0).a, std::vector<double>{-2});
  // Entries so small or large that their squares are 0 or infinite.
  for (const double scale : {1e-200, 1e200}) {
    std::vector<double> p = of_rank(8, 9, 2, 1, 7);
    for (double& x : p) x *= scale;
    EXPECT_EQ(factored_encoding(p, 8, 9, 1e-10).rank, 2);
  }
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    try {
      factored_encoding({1, bad}, 1, 2, 0);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("1 x 2"), std::string::npos);
    }
  }
}

TEST(ThinSvd, RebuildsTheMatrix) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1, 1}, {5, 2}, {2, 5}, {37, 37}, {200, 3}, {3, 200}}) {
    const std::vector<double> a = of_rank(columns, rows, std::min(rows, columns), 0.9, 8);  // its transpose, column-major
    const ThinSvd svd = thin_svd(a, rows, columns);
    const Index count = std::min(rows, columns);
    ASSERT_EQ(std::ssize(svd.values), count);
    EXPECT_TRUE(std::ranges::is_sorted(svd.values, std::greater<>()));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        double sum = 0;
        for (Index c = 0; c < count; ++c) {
          sum += svd.left[static_cast<std::size_t>(i + c * rows)] * svd.values[static_cast<std::size_t>(c)] *
                 svd.right[static_cast<std::size_t>(j + c * columns)];
        }
        EXPECT_NEAR(sum, a[static_cast<std::size_t>(i + j * rows)], 1e-12 * svd.values.front());
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
