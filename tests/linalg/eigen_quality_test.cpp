// The check that stands between a wrong library and a user: its two numbers against plain loops, and what it refuses.
#include <gtest/gtest.h>

#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

using test::world;

DistributedMatrix random_symmetric(const ProcessGrid& grid, Index n, Index block) {
  DistributedMatrix a(grid, n, n, block);
  fill(a, test::symmetric_noise);
  return a;
}

/// Both numbers of n x n `a` and n x k vectors by their definition.
EigenQuality by_loops(const DistributedMatrix& a, const std::vector<double>& values, const DistributedMatrix& vectors) {
  const Index n = a.rows();
  const Index k = vectors.columns();
  const std::vector<double> m = gather_columns(a, test::all_columns(n));
  const std::vector<double> z = gather_columns(vectors, test::all_columns(k));
  const auto at = [n](const std::vector<double>& x, Index i, Index j) { return x[static_cast<std::size_t>(i + j * n)]; };
  double norm = 0;
  for (const double x : m) norm += x * x;
  double residual = 0;
  double orthogonality = 0;
  std::vector<double> residuals;
  for (Index j = 0; j < k; ++j) {
    const double before = residual;
    for (Index i = 0; i < n; ++i) {
      double r = -values[static_cast<std::size_t>(j)] * at(z, i, j);
      for (Index l = 0; l < n; ++l) r += at(m, i, l) * at(z, l, j);
      residual += r * r;
    }
    residuals.push_back(std::sqrt(residual - before));
    for (Index i = 0; i < k; ++i) {
      double o = i == j ? -1.0 : 0.0;
      for (Index l = 0; l < n; ++l) o += at(z, l, i) * at(z, l, j);
      orthogonality += o * o;
    }
  }
  const double unit = static_cast<double>(n) * test::eps;
  return {std::sqrt(residual / norm) / unit, std::sqrt(orthogonality) / unit, residuals};
}

TEST(EigenQuality, IsTheDefinitionForAnyVectors) {
  // 530 columns make more than one panel of 512; the vectors are no eigenvectors at all, so the numbers are large.
  test::for_every_grid([](const ProcessGrid& grid) {
    for (const auto& [n, k, block] : {std::array<Index, 3>{1, 1, 8}, {5, 3, 2}, {40, 40, 8}, {40, 7, 16}, {530, 530, 8}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << k << ", block " << block);
      const DistributedMatrix a = random_symmetric(grid, n, block);
      DistributedMatrix vectors(grid, n, k, block);
      fill(vectors, [](Index i, Index j) { return test::noise(i, j, 3); });
      std::vector<double> values;
      for (Index j = 0; j < k; ++j) values.push_back(test::noise(j, 0, 4));
      const EigenQuality quality = eigen_quality(a, values, vectors);
      const EigenQuality expected = by_loops(a, values, vectors);
      EXPECT_NEAR(quality.residual, expected.residual, 1e-9 * expected.residual);
      EXPECT_NEAR(quality.orthogonality, expected.orthogonality, 1e-9 * expected.orthogonality);
      ASSERT_EQ(std::ssize(quality.residuals), k);
      for (std::size_t j = 0; j < quality.residuals.size(); ++j)
        EXPECT_NEAR(quality.residuals[j], expected.residuals[j], 1e-9 * expected.residuals[j]);

      const EigenQuality sketch = sketched_quality(a, values, vectors);
      EXPECT_GT(sketch.residual, expected.residual / 2);
      EXPECT_LT(sketch.residual, expected.residual * 2);
      EXPECT_GT(sketch.orthogonality, expected.orthogonality / 2);
      EXPECT_LT(sketch.orthogonality, expected.orthogonality * 2);
      ASSERT_EQ(std::ssize(sketch.residuals), k);
      for (std::size_t j = 0; j < sketch.residuals.size(); ++j) {
        EXPECT_GT(sketch.residuals[j], expected.residuals[j] / 3);
        EXPECT_LT(sketch.residuals[j], expected.residuals[j] * 3);
      }
      // Enough directions are the definition: E[w w'] = I, and its error falls as one over the root of their number.
      const EigenQuality fine = sketched_quality(a, values, vectors, 4000);
      EXPECT_NEAR(fine.residual, expected.residual, 0.1 * expected.residual);
      EXPECT_NEAR(fine.orthogonality, expected.orthogonality, 0.1 * expected.orthogonality);
      EXPECT_THROW(require_quality(quality, "nobody", n), Error);
    }
  });
}

TEST(EigenQuality, PassesTheTruthAndRefusesEachWayOfBeingWrong) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const DistributedMatrix a = random_symmetric(grid, 50, 8);
  const Eigenpairs good = eigh(a);
  EXPECT_NO_THROW(require_quality(eigen_quality(a, good.values, good.vectors), "pdsyevd", 50));
  EXPECT_NO_THROW(require_quality(sketched_quality(a, good.values, good.vectors), "pdsyevd", 50));
  const auto refused = [&](const std::vector<double>& values, const std::function<double(Index, Index, double)>& change) {
    DistributedMatrix vectors = good.vectors;
    for (Index j = 0; j < vectors.local_columns(); ++j) {
      for (Index i = 0; i < vectors.local_rows(); ++i) {
        vectors.local(i, j) = change(vectors.row_axis().global(i), vectors.column_axis().global(j), vectors.local(i, j));
      }
    }
    EXPECT_THROW(require_quality(eigen_quality(a, values, vectors), "pdsyevd", 50), Error);
    EXPECT_THROW(require_quality(sketched_quality(a, values, vectors), "pdsyevd", 50), Error);
  };
  const auto same = [](Index, Index, double x) { return x; };
  std::vector<double> values = good.values;
  std::swap(values[3], values[4]);
  refused(values, same);
  values = good.values;
  values[49] += 1e-9;
  refused(values, same);
  values[49] = std::numeric_limits<double>::quiet_NaN();
  refused(values, same);
  refused(good.values, [](Index, Index, double x) { return x * 1.000001; });          // residual alone would let this pass
  refused(good.values, [](Index i, Index j, double x) { return i == j ? 1.0 : x; });  // a few elements wrong
  refused(good.values, [](Index i, Index j, double x) { return i == 49 && j == 49 ? x + 1e-9 : x; });
  refused(good.values, [](Index i, Index j, double x) { return i == 0 && j == 49 ? std::numeric_limits<double>::quiet_NaN() : x; });
  refused(good.values, [](Index, Index, double) { return 0.0; });
}

TEST(EigenQuality, NothingAndZeroHaveNoResidual) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const DistributedMatrix zero(grid, 6, 6, 4);
  DistributedMatrix identity(grid, 6, 6, 4);
  fill(identity, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  const EigenQuality quality = eigen_quality(zero, std::vector<double>(6), identity);
  EXPECT_EQ(quality.residual, 0.0);
  EXPECT_EQ(quality.orthogonality, 0.0);
  EXPECT_EQ(quality.residuals, std::vector<double>(6));
  EXPECT_EQ(sketched_quality(zero, std::vector<double>(6), identity).residual, 0.0);
  EXPECT_EQ(sketched_quality(zero, std::vector<double>(6), identity).orthogonality, 0.0);
  EXPECT_THROW(require_quality(eigen_quality(zero, std::vector<double>(6, 1.0), identity), "pdsyevd", 6), Error);
  EXPECT_NO_THROW(require_quality(eigen_quality(zero, {}, DistributedMatrix(grid, 6, 0, 4)), "pdsyevd", 6));
}

TEST(EigenQuality, ResidualsAreInTheUnitOfTheMatrixAtAnyScale) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  for (const double scale : {1.0, 1e150, 1e-150}) {
    DistributedMatrix a(grid, 9, 9, 2);
    fill(a, [&](Index i, Index j) { return i == j ? scale * static_cast<double>(9 - i) : 0.0; });
    DistributedMatrix vectors(grid, 9, 4, 2);
    fill(vectors, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
    const std::vector<double> values{9 * scale, 8 * scale, 7.5 * scale, 6 * scale};
    const std::vector<double> expected{0.0, 0.0, 0.5 * scale, 0.0};
    const std::vector<double> sketched = sketched_quality(a, values, vectors).residuals;
    const std::vector<double> exact = eigen_quality(a, values, vectors).residuals;
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(exact[j], expected[j], 1e-14 * scale);
      EXPECT_NEAR(sketched[j], expected[j], 1e-14 * scale);
    }
  }
}

}  // namespace
}  // namespace posgeom
