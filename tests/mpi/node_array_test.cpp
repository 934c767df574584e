#include "posgeom/mpi/node_array.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <string>

namespace posgeom {
namespace {

NodeArray<double> numbers_of(const Communicator& node, std::size_t count) {
  std::vector<double> numbers;
  if (node.is_root()) {
    numbers.resize(count);
    std::iota(numbers.begin(), numbers.end(), 0.5);
  }
  return numbers;
}

/// Kilobytes of this process's memory that are its own.
Index private_kilobytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  Index sum = 0;
  for (std::string word; file >> word;) {
    Index value = 0;
    if ((word == "Private_Dirty:" || word == "Private_Clean:") && file >> value) sum += value;
  }
  return sum;
}

TEST(NodeArray, EveryRankReadsTheRootsElements) {
  const Communicator world = Communicator::world();
  const Communicator node = world.split_by_node();
  for (const std::size_t count : {0U, 1U, 1000U, 1000003U}) {
    const NodeArray<double> shared = share_on_node(node, numbers_of(node, count));
    ASSERT_EQ(shared.size(), count);
    EXPECT_EQ(shared.is_shared(), node.size() > 1 && count > 0);
    for (std::size_t k = 0; k < count; k += 997) EXPECT_EQ(shared[k], static_cast<double>(k) + 0.5);
    if (count > 0) {
      EXPECT_EQ(shared.back(), static_cast<double>(count) - 0.5);
    }
  }
}

TEST(NodeArray, LivesAsLongAsACopyAnywhere) {
  const Communicator node = Communicator::world().split_by_node();
  NodeArray<double> kept;
  {
    const NodeArray<double> shared = share_on_node(node, numbers_of(node, 5000));
    kept = shared;
  }
  if (node.rank() == 1) kept = {};  // one rank's copy is gone, the others' are not
  barrier(node);
  if (node.rank() != 1) {
    EXPECT_EQ(kept[4999], 4999.5);
  }
  EXPECT_EQ(kept.size(), node.rank() == 1 ? 0U : 5000U);
}

TEST(NodeArray, IsOnceInMemory) {
  const Communicator node = Communicator::world().split_by_node();
  if (node.size() == 1) GTEST_SKIP() << "one rank shares with nobody";
  constexpr std::size_t count = 8 << 20;  // 64 MiB
  const Index before = private_kilobytes();
  const NodeArray<double> shared = share_on_node(node, numbers_of(node, count));
  const double sum = std::accumulate(shared.begin(), shared.end(), 0.0);
  EXPECT_EQ(sum, 0.5 * static_cast<double>(count) * static_cast<double>(count));
  if (!node.is_root()) {
    EXPECT_LT(private_kilobytes() - before, 16 << 10);
  }
  barrier(node);  // what only one process maps any more counts as its own
}

TEST(NodeArray, AnOwnArrayChangesAndASharedOneDoesNot) {
  const Communicator node = Communicator::world().split_by_node();
  NodeArray<double> own(std::vector<double>{1, 2});
  own.push_back(3);
  own.own()[0] = 7;
  EXPECT_EQ(std::vector<double>(own.begin(), own.end()), (std::vector<double>{7, 2, 3}));
  NodeArray<double> shared = share_on_node(node, own);
  if (node.size() > 1) {
    EXPECT_THROW(shared.push_back(1), std::logic_error);
  }
}

}  // namespace
}  // namespace posgeom
