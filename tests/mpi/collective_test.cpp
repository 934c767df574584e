#include "posgeom/mpi/collective.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <numeric>

namespace posgeom {
namespace {

TEST(AllReduce, ChunksGiveTheSameSumWhateverTheirSize) {
  for (const Index chunk : {1, 2, 3, 7, 1000}) {
    std::vector<Count> values(10);
    std::iota(values.begin(), values.end(), Count{1} << 40);
    all_reduce(world(), std::span(values), Reduction::sum, chunk);
    for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(values[k], world().size() * ((Count{1} << 40) + static_cast<Count>(k)));
  }
}

TEST(AllReduce, EmptyTakesPart) {
  std::vector<double> none;
  all_reduce(world(), std::span(none));
  EXPECT_EQ(all_reduce(world(), Index{2}), 2 * world().size());
}

TEST(AllReduce, MinimumAndMaximum) {
  EXPECT_EQ(all_reduce(world(), Index{world().rank()}, Reduction::minimum), 0);
  EXPECT_EQ(all_reduce(world(), double(world().rank()), Reduction::maximum), world().size() - 1);
}

TEST(AllGather, RaggedPartsInRankOrder) {
  const std::vector<std::int32_t> mine(static_cast<std::size_t>(world().rank()), world().rank());
  const std::vector<std::int32_t> all = all_gather(world(), std::span<const std::int32_t>(mine));
  std::vector<std::int32_t> expected;
  for (int rank = 0; rank < world().size(); ++rank) expected.insert(expected.end(), static_cast<std::size_t>(rank), rank);
  EXPECT_EQ(all, expected);
}

TEST(Broadcast, ResizesStringsAndVectors) {
  std::string text = world().is_root() ? "one text" : "";
  broadcast_resized(world(), text);
  EXPECT_EQ(text, "one text");
}

TEST(Exchange, EachRankGetsWhatTheOneBeforeItSent) {
  const int ranks = world().size(), rank = world().rank();
  for (int step = 0; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank - step + ranks) % ranks;
    const std::vector<std::uint64_t> send(static_cast<std::size_t>(3 * rank), (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(rank));
    std::vector<std::uint64_t> room(static_cast<std::size_t>(3 * ranks));
    const Index received = exchange(world(), std::span<const std::uint64_t>(send), to, std::span(room), from);
    EXPECT_EQ(received, 3 * from);
    for (Index k = 0; k < received; ++k) {
      EXPECT_EQ(room[static_cast<std::size_t>(k)], (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(from));
    }
    EXPECT_TRUE(std::all_of(room.begin() + received, room.end(), [](std::uint64_t value) { return value == 0; }));
  }
}

TEST(Exchange, NobodyIsWaitedFor) {
  // Along a line: the first rank receives nothing, the last one sends nothing.
  const int last = world().size() - 1, rank = world().rank();
  const std::vector<Index> send{rank};
  std::vector<Index> room{-1};
  const Index received =
      exchange(world(), std::span<const Index>(send), rank == last ? nobody : rank + 1, std::span(room), rank == 0 ? nobody : rank - 1);
  EXPECT_EQ(received, rank == 0 ? 0 : 1);
  EXPECT_EQ(room[0], rank - 1);
  EXPECT_EQ(exchange(world(), std::span<const Index>(send), nobody, std::span(room), nobody), 0);
}

TEST(ExclusiveSum, StartsAtZero) { EXPECT_EQ(exclusive_sum(world(), 5), 5 * world().rank()); }

TEST(Split, NodeHoldsThisRank) {
  const Communicator node = world().split_by_node();
  EXPECT_GE(node.size(), 1);
  EXPECT_EQ(world().split(world().rank()).size(), 1);
}

TEST(Collective, ReturnsTheValueOfEachRank) {
  EXPECT_EQ(collective(world(), "adding", [] { return world().rank() + 1; }), world().rank() + 1);
}

TEST(Collective, OneRanksFailureIsThrownOnAll) {
  const int last = world().size() - 1;
  try {
    collective(world(), "testing", [&] {
      if (world().rank() == last) throw Error("bad news", ErrorKind::usage);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CollectiveError& error) {
    EXPECT_STREQ(error.what(), "bad news");
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.rank(), last);
  }
}

TEST(Collective, TheLowestRankSpeaksForAll) {
  try {
    collective(world(), "testing", [] { throw Error("rank " + std::to_string(world().rank())); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CollectiveError& error) {
    EXPECT_STREQ(error.what(), "rank 0");
  }
}

TEST(Collective, OutOfMemoryOnOneRankEndsAllWithAdvice) {
  try {
    collective(world(), "allocating the table", [] {
      if (world().rank() == world().size() - 1) throw std::bad_alloc();
      return 1;
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CollectiveError& error) {
    EXPECT_NE(std::string(error.what()).find("out of memory"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("allocating the table"), std::string::npos);
  }
}

TEST(Narrow, NamesTheExpression) {
  EXPECT_EQ(narrow_to_int(2147483647, "n"), 2147483647);
  try {
    narrow_to_int(Index{2147483648}, "n * V");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("n * V = 2147483648"), std::string::npos);
  }
}

TEST(Expects, NamesThePlace) {
  EXPECT_NO_THROW(expects(true, "nothing"));
  EXPECT_THROW(expects(false, "a true condition"), std::logic_error);
}

}  // namespace
}  // namespace posgeom
