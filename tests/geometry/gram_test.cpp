#include <gtest/gtest.h>

#include <numeric>

#include "posgeom/linalg/operations.hpp"
#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

/// The whole matrix on every rank, column-major.
std::vector<double> whole(const DistributedMatrix& a) {
  std::vector<Index> columns(static_cast<std::size_t>(a.columns()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return gather_columns(a, columns);
}

/// The largest difference to the reference.
double difference(const std::vector<double>& a, const reference::Matrix& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected.size(); ++j) {
      largest = std::max(largest, std::abs(a[i + j * expected.size()] - static_cast<double>(expected[i][j])));
    }
  }
  return largest;
}

class GramOf : public testing::TestWithParam<Unreached> {};

TEST_P(GramOf, AndHellingerMatrixAreTheirDefinitions) {
  const Communicator comm = Communicator::world();
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  for (const Index m : {1, 2, 3, 23, 70}) {
    // More columns than one panel is wide in the largest case.
    const Index vocab_size = m == 70 ? 600 : 12;
    auto table = synthetic::drifting_table(m, vocab_size, 0.3, static_cast<unsigned>(m));
    const std::vector<std::size_t> holes = m > 3 ? std::vector<std::size_t>{1, 5, 6} : std::vector<std::size_t>{};
    const PositionCounts counts = synthetic::with_holes(table, holes);
    for (const bool unit_range : {false, true}) {
      const HellingerOptions options{.unreached = GetParam(), .unit_range = unit_range};
      std::vector<std::int32_t> positions;
      const reference::Matrix h = reference::distances(reference::square_roots(counts, m, options, positions));
      const SquareRootDistributions s = square_root_distributions(counts, m, options);
      ASSERT_EQ(s.position, positions);
      for (const Index block : {3, 64}) {
        EXPECT_LT(difference(whole(hellinger_gram(grid, s, block)), reference::gram(h)), 2e-15);
        const std::vector<double> computed = whole(hellinger_matrix(grid, s, block));
        EXPECT_LT(difference(computed, h), 2e-14);  // an error of eps in H^2 is eps / 2 H in H
        for (Index i = 0; i < s.row_count(); ++i) EXPECT_EQ(computed[static_cast<std::size_t>(i * (s.row_count() + 1))], 0.0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Unreached, GramOf, testing::Values(Unreached::drop, Unreached::uniform, Unreached::zero));

/// Columns of all three kinds (most rows, many, few), over several pieces; rows that are equal, share storage, or are empty.
PositionCounts mixed_counts(Index m) {
  auto table = synthetic::drifting_table(m, 1500, 0.012, 41);
  const auto many = synthetic::drifting_table(m, 300, 0.2, 42);
  const auto most = synthetic::drifting_table(m, 90, 0.8, 43);
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::copy(many[i].begin(), many[i].end(), table[i].begin() + 100);
    std::copy(most[i].begin(), most[i].end(), table[i].begin() + 500);
  }
  table[static_cast<std::size_t>(m - 2)] = table[4];
  for (Count& c : table[static_cast<std::size_t>(m - 2)]) c *= 3;
  return synthetic::with_holes(table, {2, 3, 60, 61});
}

TEST(Gram, EveryKindOfColumnGivesTheDefinition) {
  const Communicator comm = Communicator::world();
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  const PositionCounts counts = mixed_counts(150);
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    std::vector<std::int32_t> positions;
    const reference::Matrix expected =
        reference::gram(reference::distances(reference::square_roots(counts, 150, {.unreached = unreached}, positions)));
    const SquareRootDistributions s = square_root_distributions(counts, 150, {.unreached = unreached});
    EXPECT_LT(difference(whole(hellinger_gram(grid, s, 16)), expected), 2e-14);
  }
}

TEST(Gram, HasTheSameBitsForEqualRowsEveryGridAndBlock) {
  const Communicator comm = Communicator::world();
  const SquareRootDistributions s = square_root_distributions(mixed_counts(150), 150, {.unreached = Unreached::uniform});
  const auto m = static_cast<std::size_t>(s.row_count());
  const Communicator self = Communicator::self();
  const std::vector<double> alone = whole(hellinger_gram(ProcessGrid(self, 1, 1), s, 64));
  for (std::size_t i = 0; i < m; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) {
      EXPECT_EQ(alone[i + j * m], alone[j + i * m]);
      sum += alone[i + j * m];
    }
    EXPECT_NEAR(sum, 0, 1e-13);
    EXPECT_EQ(alone[4 + i * m], alone[148 + i * m]);
    EXPECT_EQ(alone[2 + i * m], alone[61 + i * m]);
  }
  for (const Index block : {1, 7, 64}) {
    EXPECT_EQ(whole(hellinger_gram(ProcessGrid::nearest_square(comm), s, block)), alone) << block;
    EXPECT_EQ(whole(hellinger_gram(ProcessGrid(comm, comm.size(), 1), s, block)), alone) << block;
  }
}

TEST(Gram, NearlyEqualPositionsKeepTheirDigits) {
  // B's entries are about 1e-15 here: an error of eps would be a tenth of them.
  const Communicator comm = Communicator::world();
  const Count n = 10'000'000;
  const PositionCounts counts = synthetic::counts_of({{n, n, 3 * n}, {n + 1, n - 1, 3 * n}, {2 * n, 2 * n, 6 * n}, {n, n + 1, 3 * n}});
  std::vector<std::int32_t> positions;
  const reference::Matrix h = reference::distances(reference::square_roots(counts, 4, {}, positions));
  const SquareRootDistributions s = square_root_distributions(counts, 4, {});
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  const std::vector<double> b = whole(hellinger_gram(grid, s, 2));
  const std::vector<double> computed = whole(hellinger_matrix(grid, s, 2));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const auto squared = static_cast<double>(h[i][j] * h[i][j]);
      EXPECT_NEAR(computed[i + 4 * j] * computed[i + 4 * j], squared, 1e-6 * squared);
      EXPECT_NEAR(b[i + 4 * i] + b[j + 4 * j] - 2 * b[i + 4 * j], squared, 1e-6 * squared);
    }
  }
}

TEST(HellingerMatrix, IsSymmetricAndZeroBetweenEqualRows) {
  const Communicator comm = Communicator::world();
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  auto table = synthetic::drifting_table(40, 50, 0.5, 3);
  table[30] = table[4];
  for (Count& c : table[30]) c *= 3;  // the same distribution from other counts
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 40, {});
  const std::vector<double> h = whole(hellinger_matrix(grid, s, 8));
  EXPECT_EQ(h[30 + 4 * 40], 0.0);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) EXPECT_EQ(h[i + j * 40], h[j + i * 40]);
  }
}

}  // namespace
}  // namespace posgeom
