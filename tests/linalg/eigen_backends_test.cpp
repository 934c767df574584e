// Every backend against LAPACK on one rank: the whole spectrum, the leading vectors as subspaces, what they span, and the refusals.
#include <gtest/gtest.h>

#include <string>

#include "linalg/backends.hpp"
#include "linalg/eigen_backends.hpp"
#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using test::backends;
using test::world;

DistributedMatrix distributed(const ProcessGrid& grid, const test::Family& family, Index n, Index block) {
  DistributedMatrix a(grid, n, n, block);
  fill(a, [&](Index i, Index j) { return family.element(i, j, n); });
  return a;
}

/// |U'Z|_F^2 where U are the reference's vectors for eigenvalues down to that of the last of Z, with all that are tied to it: k where Z
/// spans k dimensions of theirs.
double overlap(const DenseEigenpairs& reference, const std::vector<double>& z, Index n, Index k, double norm) {
  const double last = reference.values[static_cast<std::size_t>(k - 1)] - 1e-6 * norm;
  double sum = 0;
  for (Index u = 0; u < n && reference.values[static_cast<std::size_t>(u)] >= last; ++u) {
    for (Index j = 0; j < k; ++j) {
      double dot = 0;
      for (Index i = 0; i < n; ++i) dot += reference.vectors[static_cast<std::size_t>(i + u * n)] * z[static_cast<std::size_t>(i + j * n)];
      sum += dot * dot;
    }
  }
  return sum;
}

/// The largest difference of an element of Z W Z', and so of a squared distance, from the matrix: k = n only.
double largest_difference(const std::vector<double>& a, const std::vector<double>& values, const std::vector<double>& z, Index n) {
  double worst = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index k = 0; k < n; ++k)
        sum += values[static_cast<std::size_t>(k)] * z[static_cast<std::size_t>(i + k * n)] * z[static_cast<std::size_t>(j + k * n)];
      worst = std::max(worst, std::abs(sum - a[static_cast<std::size_t>(i + j * n)]));
    }
  }
  return worst;
}

void expect_right(const ProcessGrid& grid, const test::Family& family, Index n, Index block, const EighOptions& options,
                  const DenseEigenpairs& reference) {
  const Index k = options.vectors == 0 ? n : options.vectors;
  SCOPED_TRACE(testing::Message() << name_of(options.solver) << ", " << family.name << ", order " << n << ", " << k << " vectors, block "
                                  << block << ", grid " << grid.text());
  const Eigenpairs pairs = eigh(distributed(grid, family, n, block), options);
  ASSERT_EQ(std::ssize(pairs.values), n);
  ASSERT_EQ(std::ssize(pairs.residuals), k);
  ASSERT_EQ(pairs.vectors.columns(), k);
  EXPECT_EQ(pairs.vectors.block(), block);
  const bool replaced = options.solver == Solver::elpa
                            ? n < std::max(grid.rows(), grid.columns())
                            : options.solver == Solver::pdsyevr && !vectors_on_root(n, k, block, grid.rows(), grid.columns());
  EXPECT_EQ(pairs.solver, replaced ? Solver::pdsyevd : options.solver);

  const double norm = std::max(std::abs(reference.values.front()), std::abs(reference.values.back()));
  for (std::size_t j = 0; j < reference.values.size(); ++j) EXPECT_NEAR(pairs.values[j], reference.values[j], 1e-13 * norm);
  EXPECT_TRUE(std::is_sorted(pairs.values.rbegin(), pairs.values.rend()));
  for (const double residual : pairs.residuals) EXPECT_LE(residual, 1e-12 * norm);
  std::vector<double> of_root = pairs.values;
  of_root.insert(of_root.end(), pairs.residuals.begin(), pairs.residuals.end());
  std::vector<double> mine = of_root;
  broadcast(world(), std::span(of_root));
  EXPECT_EQ(mine, of_root);

  const std::vector<double> z = gather_columns(pairs.vectors, test::all_columns(k));
  EXPECT_NEAR(overlap(reference, z, n, k, norm), static_cast<double>(k), 1e-10);
  if (k < n) return;
  EXPECT_LE(largest_difference(test::dense(family, n), pairs.values, z, n), 1e-12 * norm);
}

TEST(EigenBackends, AgreeOnEveryFamily) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  std::vector<test::Family> families = test::families();
  std::ranges::copy(test::gram_families(), std::back_inserter(families));
  for (const test::Family& family : families) {
    for (const Index n : {2, 9, 33, 70}) {
      if (testing_support::sanitized && n == 70) continue;
      const DenseEigenpairs reference = dense_eigh(test::dense(family, n), n);
      for (const Solver solver : backends()) {
        for (const Index vectors : {Index{0}, Index{1}, n / 2}) expect_right(grid, family, n, 8, {solver, vectors}, reference);
      }
    }
  }
}

TEST(EigenBackends, EveryOrderToFortyAndAnyBlock) {
  const std::vector<test::Family> gram = test::gram_families();
  for (Index n = 1; n <= 40; n += testing_support::scaled(1, 3)) {
    const test::Family& family = gram[static_cast<std::size_t>(n) % gram.size()];
    const DenseEigenpairs reference = dense_eigh(test::dense(family, n), n);
    for (const Solver solver : backends()) {
      const ProcessGrid grid = ProcessGrid::nearest_square(world());
      for (const Index block : {1 + n % 5, Index{64}}) {
        expect_right(grid, family, n, block, {solver, 0}, reference);
        expect_right(grid, family, n, block, {solver, (n + 2) / 3}, reference);
      }
    }
  }
}

TEST(EigenBackends, EveryGridShape) {
  const test::Family family = test::gram_families().front();
  constexpr Index n = 21;
  const DenseEigenpairs reference = dense_eigh(test::dense(family, n), n);
  for (const Solver solver : backends()) {
    test::for_every_grid([&](const ProcessGrid& grid) {
      for (const Index vectors : {0, 1, 20}) expect_right(grid, family, n, 4, {solver, vectors}, reference);
    });
  }
}

TEST(EigenBackends, PassTheirQualityWhereItIsSketched) {
  for (const test::Family& family : test::gram_families()) {
    for (const Solver solver : backends()) {
      SCOPED_TRACE(testing::Message() << name_of(solver) << ", " << family.name);
      const DistributedMatrix a = distributed(ProcessGrid::nearest_square(world()), family, 200, 16);
      for (const Index vectors : {65, 200}) {
        const Eigenpairs pairs = eigh(a, {solver, vectors});
        EXPECT_LT(pairs.residual, 1.0);
        EXPECT_LT(pairs.orthogonality, 60.0);
        EXPECT_EQ(std::ssize(pairs.residuals), vectors);
      }
    }
  }
}

TEST(EigenBackends, RefuseWhatIsNotFiniteAndWhatIsNotSymmetric) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  for (const Solver solver : backends()) {
    SCOPED_TRACE(name_of(solver));
    for (const Index vectors : {0, 3}) {
      DistributedMatrix bad(grid, 20, 20, 4);
      fill(bad, [](Index i, Index j) { return i == 19 && j == 19 ? std::numeric_limits<double>::infinity() : 1.0; });
      try {
        eigh(bad, {solver, vectors});
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("element (19, 19) is inf"), std::string::npos) << error.what();
      }
      DistributedMatrix skew(grid, 20, 20, 4);
      fill(skew, [](Index i, Index j) { return i < j ? 1.0 : 0.0; });
      EXPECT_THROW(eigh(skew, {solver, vectors}), Error);
    }
  }
}

TEST(EigenBackends, LapackIsForOneRank) {
  if (world().size() == 1) GTEST_SKIP() << "one rank";
  DistributedMatrix a(ProcessGrid::nearest_square(world()), 5, 5, 2);
  try {
    eigh(a, {.solver = Solver::lapack});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("this job has " + std::to_string(world().size())), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("run it on one rank"), std::string::npos) << error.what();
  }
}

TEST(EigenBackends, AutomaticIsOneOfThem) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const test::Family family = test::gram_families().front();
  for (const Index vectors : {0, 2}) {
    const Eigenpairs pairs = eigh(distributed(grid, family, 30, 8), {Solver::automatic, vectors});
    EXPECT_EQ(pairs.solver, fastest_solver(30, vectors, 8, grid.rows(), grid.columns(), {}).solver);
    EXPECT_LT(pairs.residual, 1.0);
  }
}

}  // namespace
}  // namespace posgeom
