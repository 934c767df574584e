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

class Gram : public testing::TestWithParam<Unreached> {};

TEST_P(Gram, AndHellingerMatrixAreTheirDefinitions) {
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

INSTANTIATE_TEST_SUITE_P(Unreached, Gram, testing::Values(Unreached::drop, Unreached::uniform, Unreached::zero));

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
