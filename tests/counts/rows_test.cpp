#include "counts/rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "counts/row_memory.hpp"
#include "support/scale.hpp"

namespace {

using posgeom::Count;
using posgeom::Index;
using posgeom::RowLimits;
using posgeom::RowMemory;
using posgeom::Rows;
using posgeom::Token;

/// Limits so low that a row takes every form within a few thousand tokens; the counts must not notice.
constexpr RowLimits low_limits[] = {{}, {1000, 1 << 20, 5000}, {100, 3000, 1000}, {1 << 20, 1 << 20, 700}, {50, 60, 20}};

template <class Id>
void count_and_compare(Index vocab_size, const RowLimits& limits) {
  std::mt19937_64 random(static_cast<std::uint64_t>(vocab_size));
  Rows<Id> rows(2, vocab_size, limits);
  std::map<Token, Count> expected;
  for (int step = 0; step < 16; ++step) {
    std::vector<Id> ids(random() % 9000);
    const std::uint64_t range = 1 + random() % static_cast<std::uint64_t>(vocab_size);
    for (Id& id : ids) id = static_cast<Id>(random() % range);
    rows.count(1, ids);
    for (const Id id : ids) ++expected[static_cast<Token>(id)];
    if (step % 5 == 0) {
      const std::vector<Token> token{static_cast<Token>(range - 1)};
      const std::vector<Count> count{static_cast<Count>(1 + random() % 100000)};
      rows.add(1, token, count);
      expected[token[0]] += count[0];
    }
    std::vector<Token> token;
    std::vector<Count> count;
    rows.append(1, token, count);
    std::map<Token, Count> found;
    for (std::size_t k = 0; k < token.size(); ++k) found[token[k]] = count[k];
    ASSERT_EQ(found, expected) << "V = " << vocab_size << ", step " << step << ", narrow " << limits.narrow << ", wide " << limits.wide;
    ASSERT_EQ(found.size(), token.size());
  }
  std::vector<Token> token;
  std::vector<Count> count;
  rows.append(0, token, count);
  EXPECT_TRUE(token.empty());
}

TEST(Rows, CountTheSameInEveryForm) {
  const Index most = posgeom::testing_support::scaled(70000, 300);
  for (const RowLimits& limits : low_limits) {
    for (const Index v : {1, 2, 8, 63, 64, 65, 300, 5000, 65536}) {
      if (v <= most) count_and_compare<std::uint16_t>(v, limits);
    }
    for (const Index v : {1, 64, 5000, 70000}) {
      if (v <= most) count_and_compare<Token>(v, limits);
    }
  }
}

TEST(Rows, AreSplitWhereMoreIsCountedThanATileHolds) {
  Rows<std::uint16_t> rows(1, 3);
  const std::vector<std::uint16_t> ids(400000, 2);
  for (int times = 1; times <= 3; ++times) {
    rows.count(0, ids);
    std::vector<Token> token;
    std::vector<Count> count;
    rows.append(0, token, count);
    EXPECT_EQ(token, std::vector<Token>{2});
    EXPECT_EQ(count, std::vector<Count>{400000 * times});
  }
}

TEST(Rows, HoldCountsBeyondThirtyTwoBits) {
  Rows<Token> rows(1, 20);
  const std::vector<Token> token{0, 7, 19};
  const std::vector<Count> count{(Count{1} << 32) - 1, Count{1} << 52, 1};
  for (int times = 1; times <= 4; ++times) {
    rows.add(0, token, count);
    rows.count(0, token);
    std::vector<Token> found;
    std::vector<Count> counted;
    rows.append(0, found, counted);
    EXPECT_EQ(found, token);
    for (std::size_t k = 0; k < count.size() && counted.size() == 3; ++k) EXPECT_EQ(counted[k], (count[k] + 1) * times);
  }
  EXPECT_GE(rows.bytes(0, 1), 20 * 8);
}

TEST(Rows, KeepEightByteCellsForTheFewThatNeedThem) {
  // 3 * 10^9 tokens in 1000 of 50000 ids: 8 or 16 bits and carries, not more.
  Rows<std::uint16_t> rows(1, 50000);
  std::vector<Token> token(1000);
  for (std::size_t k = 0; k < token.size(); ++k) token[k] = static_cast<Token>(k * 50);
  const std::vector<Count> count(token.size(), 3000000);
  rows.add(0, token, count);
  EXPECT_LT(rows.bytes(0, 1), 50000 * 2);
}

TEST(RowMemory, GapsAreFilledAndJoined) {
  RowMemory memory(1024, Index{1} << 30);
  std::vector<RowMemory::Block> blocks;
  for (int k = 0; k < 1000; ++k) blocks.push_back(memory.allocate(4096));
  const Index full = memory.bytes();
  EXPECT_LT(full, 1000 * 4096 + (Index{1} << 22));
  for (std::size_t k = 0; k < blocks.size(); k += 2) memory.release(blocks[k]);
  for (std::size_t k = 0; k < blocks.size(); k += 2) blocks[k] = memory.allocate(4096);
  EXPECT_EQ(memory.bytes(), full) << "gaps of the same size are used again";
  for (std::size_t k = 0; k < 999; k += 3) {
    memory.release(blocks[k]);
    memory.release(blocks[k + 1]);
    blocks[k] = memory.allocate(8192);
  }
  EXPECT_LE(memory.bytes(), full + (Index{1} << 21)) << "neighbouring gaps are one";
  std::map<std::byte*, Index> taken;
  for (const auto& block : blocks) {
    if (block.data != nullptr) taken[block.data] = block.bytes;
  }
  const std::byte* end = nullptr;
  for (const auto& [data, bytes] : taken) {
    EXPECT_TRUE(end == nullptr || data >= end) << "blocks do not overlap";
    end = data + bytes;
  }
  for (auto& block : blocks) memory.release(block);
  EXPECT_LE(memory.bytes(), Index{1} << 21) << "one slab stays";
}

}  // namespace
