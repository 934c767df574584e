#include "posgeom/mpi/all_to_all.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace posgeom {
namespace {

struct Item {
  Index from, to, number;
};

TEST(AllToAll, BringsEachElementToItsRankInOrder) {
  const Communicator world = Communicator::world();
  const Index ranks = world.size();
  // Some send nothing to some; pieces smaller than an element, as large as one, and larger than everything.
  for (const Index chunk : {Index{1}, Index{24}, Index{100}, default_chunk}) {
    std::vector<Index> send_counts;
    std::vector<Item> send;
    for (Index to = 0; to < ranks; ++to) {
      send_counts.push_back((world.rank() * 5 + to * 3) % 7);
      for (Index k = 0; k < send_counts.back(); ++k) send.push_back({world.rank(), to, k});
    }
    const std::vector<Index> receive_counts = all_to_all_counts(world, send_counts);
    for (Index from = 0; from < ranks; ++from) {
      EXPECT_EQ(receive_counts[static_cast<std::size_t>(from)], (from * 5 + Index{world.rank()} * 3) % 7);
    }
    std::vector<Item> received(static_cast<std::size_t>(std::accumulate(receive_counts.begin(), receive_counts.end(), Index{0})));
    all_to_all(world, std::span<const Item>(send), send_counts, std::span(received), receive_counts, chunk);
    std::size_t at = 0;
    for (Index from = 0; from < ranks; ++from) {
      for (Index k = 0; k < receive_counts[static_cast<std::size_t>(from)]; ++k, ++at) {
        EXPECT_EQ(received[at].from, from);
        EXPECT_EQ(received[at].to, world.rank());
        EXPECT_EQ(received[at].number, k);
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
