#include "posgeom/linalg/block_cyclic.hpp"

#include <gtest/gtest.h>

#include "linalg/scalapack.hpp"

namespace posgeom {
namespace {

/// Deals the indices out one by one: the definition itself.
struct Dealt {
  std::vector<int> owner;
  std::vector<Index> local;
  std::vector<std::vector<Index>> held;  ///< global indices of each process, in order

  Dealt(Index extent, Index block, int processes) : held(static_cast<std::size_t>(processes)) {
    int process = 0;
    Index in_block = 0;
    for (Index g = 0; g < extent; ++g) {
      auto& mine = held[static_cast<std::size_t>(process)];
      owner.push_back(process);
      local.push_back(std::ssize(mine));
      mine.push_back(g);
      if (++in_block == block) {
        in_block = 0;
        process = process + 1 == processes ? 0 : process + 1;
      }
    }
  }
};

void expect_as_dealt(const BlockCyclic& axis, const Dealt& dealt) {
  const auto& held = dealt.held[static_cast<std::size_t>(axis.process)];
  ASSERT_EQ(axis.local_extent(), std::ssize(held));
  for (Index l = 0; l < std::ssize(held); ++l) ASSERT_EQ(axis.global(l), held[static_cast<std::size_t>(l)]);
  std::vector<Index> from_blocks;
  for (const BlockCyclic::Run& run : axis.blocks()) {
    ASSERT_EQ(run.local, std::ssize(from_blocks));
    ASSERT_GT(run.count, 0);
    for (Index k = 0; k < run.count; ++k) from_blocks.push_back(run.global + k);
  }
  ASSERT_EQ(from_blocks, held);
  for (Index g = 0; g < axis.extent; ++g) {
    ASSERT_EQ(axis.owner(g), dealt.owner[static_cast<std::size_t>(g)]);
    ASSERT_EQ(axis.local(g), dealt.local[static_cast<std::size_t>(g)]);
  }
}

/// ScaLAPACK's own index functions count from 1.
void expect_as_scalapack(const BlockCyclic& axis) {
  const int extent = static_cast<int>(axis.extent);
  const int block = static_cast<int>(axis.block);
  const int source = 0;
  ASSERT_EQ(axis.local_extent(), scalapack::numroc_(&extent, &block, &axis.process, &source, &axis.processes));
  for (Index l = 0; l < axis.local_extent(); ++l) {
    const int local = static_cast<int>(l) + 1;
    ASSERT_EQ(axis.global(l) + 1, scalapack::indxl2g_(&local, &block, &axis.process, &source, &axis.processes));
  }
  for (int g = 1; g <= extent; ++g) {
    ASSERT_EQ(axis.owner(g - 1), scalapack::indxg2p_(&g, &block, &axis.process, &source, &axis.processes));
    ASSERT_EQ(axis.local(g - 1) + 1, scalapack::indxg2l_(&g, &block, &axis.process, &source, &axis.processes));
  }
}

TEST(BlockCyclic, EverySmallCaseIsAsDealtAndAsScaLapackSays) {
  for (int processes = 1; processes <= 8; ++processes) {
    for (Index block = 1; block <= 9; ++block) {
      for (Index extent = 0; extent <= 60; ++extent) {
        const Dealt dealt(extent, block, processes);
        for (int process = 0; process < processes; ++process) {
          const BlockCyclic axis{extent, block, processes, process};
          SCOPED_TRACE(testing::Message() << extent << " in blocks of " << block << ", process " << process << " of " << processes);
          expect_as_dealt(axis, dealt);
          expect_as_scalapack(axis);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(BlockCyclic, IsRightBeyond32Bits) {
  constexpr Index extent = (Index{1} << 40) + 7;
  constexpr BlockCyclic axis{extent, 64, 3, 1};
  static_assert(axis.owner(extent - 1) == static_cast<int>((extent / 64) % 3));
  Index total = 0;
  for (int process = 0; process < 3; ++process) total += BlockCyclic{extent, 64, 3, process}.local_extent();
  EXPECT_EQ(total, extent);
  const Index last = axis.local_extent() - 1;
  EXPECT_EQ(axis.local(axis.global(last)), last);
  EXPECT_EQ(axis.owner(axis.global(last)), 1);
}

}  // namespace
}  // namespace posgeom
