#include "posgeom/geometry/mds.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "mds_solvers.hpp"
#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

using test::all_solvers;
using test::solve;

/// |B P - P Lambda| and the angles between columns against the long double definition; distances with all columns against H (facts 1 to 3).
void expect_solution(const PositionCounts& counts, const HellingerOptions& options, Solver solver) {
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(counts, counts.length, options, positions));
  const reference::Matrix b = reference::gram(h);
  const SquareRootDistributions s = square_root_distributions(counts, counts.length, options);
  const Mds mds = solve(s, solver);
  const auto m = static_cast<std::size_t>(s.row_count());
  const std::vector<double>& lambda = mds.spectrum.eigenvalues;
  ASSERT_EQ(lambda.size(), m);
  EXPECT_TRUE(mds.solver == name_of(solver) || (solver == Solver::pdsyevr && mds.solver == "pdsyevd"));  // all vectors, many ranks
  const double unit = static_cast<double>(m) * epsilon * lambda[0];
  EXPECT_TRUE(std::ranges::is_sorted(lambda, std::greater{}));
  EXPECT_GE(lambda.back(), -unit);
  EXPECT_LE(mds.spectrum.rank, std::min<Index>(s.row_count() - 1, s.column_count));
  EXPECT_NEAR(std::accumulate(lambda.begin(), lambda.end(), 0.0), mds.spectrum.trace, 4 * unit);
  reference::Real h_squared = 0;
  for (const auto& row : h) h_squared += std::inner_product(row.begin(), row.end(), row.begin(), reference::Real{0}) / 2;
  EXPECT_NEAR(static_cast<double>(h_squared), static_cast<double>(m) * mds.spectrum.trace, 1e-13 * static_cast<double>(h_squared));

  ASSERT_EQ(mds.encoding.stored, mds.spectrum.rank);
  for (Index c = 0; c < mds.encoding.stored; ++c) {
    const double value = lambda[static_cast<std::size_t>(c)];
    for (Index i = 0; i < s.row_count(); ++i) {
      reference::Real product = 0;
      for (Index j = 0; j < s.row_count(); ++j)
        product += b[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] * mds.encoding.at(j, c);
      EXPECT_NEAR(static_cast<double>(product), value * mds.encoding.at(i, c), 4 * unit * std::sqrt(value)) << i << " " << c;
    }
    for (Index e = 0; e <= c; ++e) {
      double product = 0;
      for (Index i = 0; i < s.row_count(); ++i) product += mds.encoding.at(i, c) * mds.encoding.at(i, e);
      const double lengths = std::sqrt(value * lambda[static_cast<std::size_t>(e)]);
      EXPECT_NEAR(product, c == e ? value : 0, 20 * static_cast<double>(m) * epsilon * lengths) << c << " " << e;
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      double sum = 0;
      for (Index c = 0; c < mds.encoding.stored; ++c)
        sum += std::pow(mds.encoding.at(static_cast<Index>(i), c) - mds.encoding.at(static_cast<Index>(j), c), 2);
      EXPECT_NEAR(sum, static_cast<double>(h[i][j] * h[i][j]), 8 * unit + 4 * 1e-10 * lambda[0]);
    }
  }
}

TEST(Mds, SolvesItsDefinition) {
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(31, 12, 0.6, 2), {4, 5, 20});
    for (const bool unit_range : {false, true}) {
      for (const Solver solver : all_solvers()) expect_solution(counts, {.unreached = unreached, .unit_range = unit_range}, solver);
    }
  }
  const PositionCounts wide = synthetic::drifting_counts(24, 700, 0.2, 4);
  for (const Solver solver : all_solvers()) expect_solution(wide, {}, solver);
}

TEST(Mds, SmallCases) {
  std::vector<Solver> solvers = all_solvers();
  solvers.push_back(Solver::automatic);
  for (const Solver solver : solvers) {
    const Mds one = solve(square_root_distributions(synthetic::counts_of({{1, 2, 3}}), 1, {}), solver, 4);
    EXPECT_EQ(one.spectrum.eigenvalues, std::vector<double>{0.0});
    EXPECT_EQ(one.spectrum.rank, 0);
    EXPECT_EQ(one.encoding.components, 4);
    EXPECT_EQ(one.encoding.stored, 0);
    EXPECT_EQ(one.encoding.at(0, 3), 0);

    const Mds two = solve(square_root_distributions(synthetic::counts_of({{1, 0}, {0, 1}}), 2, {}), solver);
    EXPECT_NEAR(two.spectrum.eigenvalues[0], 1, 1e-15);
    EXPECT_EQ(two.spectrum.rank, 1);
    EXPECT_NEAR(two.encoding.at(0, 0), std::sqrt(0.5), 1e-15);
    EXPECT_NEAR(two.encoding.at(1, 0), -std::sqrt(0.5), 1e-15);

    // Fact 6: a double eigenvalue, so coordinates mean nothing, but distances do.
    const Mds three = solve(square_root_distributions(synthetic::three_disjoint(), 3, {}), solver);
    EXPECT_EQ(three.spectrum.rank, 2);
    EXPECT_NEAR(three.spectrum.eigenvalues[0], 1, 3e-15);
    EXPECT_NEAR(three.spectrum.eigenvalues[1], 1, 3e-15);
    EXPECT_TRUE(not_unique(three.spectrum, 1));
    EXPECT_FALSE(not_unique(three.spectrum, 2));
    for (Index i = 0; i < 3; ++i) {
      const Index j = (i + 1) % 3;
      EXPECT_NEAR(std::hypot(three.encoding.at(i, 0) - three.encoding.at(j, 0), three.encoding.at(i, 1) - three.encoding.at(j, 1)),
                  std::sqrt(2.0), 1e-14);
    }
  }
}

TEST(Mds, IdenticalPositionsHaveRankZero) {
  // The same distribution from different counts: 1/3, 2/3 are no binary fractions.
  std::vector<std::vector<Count>> table;
  for (Count k = 1; k <= 37; ++k) table.push_back({k, 2 * k, 3 * k, 5 * k, 7 * k});
  for (const Solver solver : all_solvers()) {
    for (const Index n : {2, 3, 10, 37}) {
      const Mds mds = solve(square_root_distributions(synthetic::counts_of(table), n, {}), solver);
      EXPECT_EQ(mds.spectrum.rank, 0);
      EXPECT_EQ(mds.encoding.stored, 0);
      EXPECT_LT(mds.spectrum.trace, 1e-28);
    }
  }
  // No position is reached: all are the uniform distribution, or all are zero.
  const PositionCounts empty = synthetic::counts_of({{0, 0}, {0, 0}, {0, 0}});
  for (const Unreached unreached : {Unreached::uniform, Unreached::zero}) {
    EXPECT_EQ(solve(square_root_distributions(empty, 3, {.unreached = unreached}), Solver::automatic).spectrum.rank, 0);
  }
}

TEST(Mds, AlmostIdenticalPositionsHaveRankOne) {
  const Count n = 10'000'000;
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of({{n, n}, {n + 1, n - 1}, {n, n}}), 3, {});
  for (const Solver solver : all_solvers()) {
    const Mds mds = solve(s, solver);
    EXPECT_EQ(mds.spectrum.rank, 1);
    EXPECT_NEAR(mds.spectrum.eigenvalues[0], mds.spectrum.trace, 1e-9 * mds.spectrum.trace);
  }
}

TEST(Mds, EqualRowsHaveTheSameBits) {
  auto table = synthetic::drifting_table(30, 40, 0.5, 8);
  table[22] = table[3];
  for (Count& c : table[22]) c *= 7;
  table[9] = table[10] = std::vector<Count>(40, 0);
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 30, {.unreached = Unreached::uniform});
  for (const Solver solver : all_solvers()) {
    const Mds mds = solve(s, solver);
    for (Index c = 0; c < mds.encoding.stored; ++c) {
      EXPECT_EQ(mds.encoding.at(22, c), mds.encoding.at(3, c));
      EXPECT_EQ(mds.encoding.at(9, c), mds.encoding.at(10, c));
    }
  }
}

TEST(Mds, DualIsPdsyevd) {
  for (const auto& [m, vocab_size] : {std::pair<Index, Index>{40, 5}, {64, 30}, {90, 17}}) {
    const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(m, vocab_size, 0.7, 21), m, {});
    ASSERT_LT(s.column_count, s.row_count());
    const Mds primal = solve(s, Solver::pdsyevd);
    const Mds dual = solve(s, Solver::dual);
    const double lambda = primal.spectrum.eigenvalues[0];
    EXPECT_EQ(primal.spectrum.rank, dual.spectrum.rank);
    for (std::size_t k = 0; k < static_cast<std::size_t>(m); ++k) {
      EXPECT_NEAR(dual.spectrum.eigenvalues[k], primal.spectrum.eigenvalues[k], static_cast<double>(m) * epsilon * lambda);
      if (static_cast<Index>(k) >= s.column_count) {
        EXPECT_EQ(dual.spectrum.eigenvalues[k], 0.0);
      }
    }
    EXPECT_NEAR(dual.spectrum.entropy_rank, primal.spectrum.entropy_rank, 1e-12);
    for (Index c = 0; c < 3; ++c) {
      for (Index i = 0; i < m; ++i) EXPECT_NEAR(dual.encoding.at(i, c), primal.encoding.at(i, c), 1e-12);
    }
    EXPECT_LT(dual.residual, 10);
    EXPECT_LT(dual.orthogonality, 20);
  }
  const Mds few_tokens = solve(square_root_distributions(synthetic::drifting_counts(300, 6, 0.9, 22), 300, {}), Solver::automatic);
  EXPECT_EQ(few_tokens.solver, "dual");
}

TEST(Mds, DualKeepsSmallEigenvaluesApart) {
  // Tokens 2k and 2k+1 have almost the same counts: of each pair's two directions one has an eigenvalue of about 1e-9 lambda_1, and these
  // four lie close together. An error of eps lambda_1 in (J S)'(J S) makes their vectors in J S orthogonal to 1e-7 only, unless that is
  // mended.
  std::vector<std::vector<Count>> table(60, std::vector<Count>(8));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      const double wave = 2 + std::sin(0.37 * static_cast<double>((k + 1) * i) + static_cast<double>(k));
      const double ripple = 1 + 1e-4 * std::cos(0.61 * static_cast<double>((k + 2) * i));
      table[i][2 * k] = static_cast<Count>(1e13 * wave);
      table[i][2 * k + 1] = static_cast<Count>(1e13 * wave * ripple);
    }
  }
  const PositionCounts counts = synthetic::counts_of(table);
  expect_solution(counts, {}, Solver::dual);
  const Mds mds = solve(square_root_distributions(counts, 60, {}), Solver::dual);
  EXPECT_GE(mds.spectrum.rank, 7);
  EXPECT_LT(mds.spectrum.eigenvalues[static_cast<std::size_t>(mds.spectrum.rank - 1)], 1e-7 * mds.spectrum.eigenvalues[0]);
  EXPECT_LT(mds.residual, 10);
  EXPECT_LT(mds.orthogonality, 20);
}

TEST(Mds, ComponentsBoundWhatIsStored) {
  const SquareRootDistributions s = square_root_distributions(synthetic::drifting_counts(20, 9, 0.8, 5), 20, {});
  for (const Solver solver : all_solvers()) {
    const Mds all = solve(s, solver);
    const Mds some = solve(s, solver, 3);
    EXPECT_EQ(all.encoding.components, 20);
    EXPECT_EQ(some.encoding.components, 3);
    EXPECT_EQ(some.encoding.stored, 3);
    EXPECT_EQ(some.encoding.values.size(), 60U);
    for (Index i = 0; i < 20; ++i) EXPECT_NEAR(some.encoding.at(i, 2), all.encoding.at(i, 2), 1e-13);
  }
}

TEST(Mds, SignsFollowTheRule) {
  const Mds mds = solve(square_root_distributions(synthetic::drifting_counts(25, 60, 0.5, 6), 25, {}), Solver::pdsyevd);
  for (Index c = 0; c < mds.encoding.stored; ++c) {
    double largest = 0;
    for (Index i = 0; i < 25; ++i) largest = std::max(largest, std::abs(mds.encoding.at(i, c)));
    Index first = 0;
    while (std::abs(mds.encoding.at(first, c)) < largest * (1 - 1e-6)) ++first;
    EXPECT_GT(mds.encoding.at(first, c), 0);
  }
}

}  // namespace
}  // namespace posgeom
