#include "counts/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    ASSERT_EQ(rows.nonzeros(1), std::ssize(token));
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

/// Moves a row as ranks do, its cells in parts, then its carries; as a list where it has no such cells.
template <class Id>
void move_row(const Rows<Id>& from, Rows<Id>& to, Index part) {
  std::vector<Token> token;
  std::vector<Count> count;
  const posgeom::RowCells row = from.row_cells(0);
  if (row.bits == 0) {
    from.append(0, token, count);
  } else {
    const Index bytes = std::ssize(row.cells);
    for (Index begin = 0; begin < bytes; begin += part) {
      const auto cells = row.cells.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(part, bytes - begin)));
      to.add_cells(0, row.bits, begin * 8 / row.bits, cells, begin == 0 ? row.cell_total : 0);
    }
    for (const posgeom::Carry& carry : row.carries) {
      token.push_back(static_cast<Token>(carry.id));
      count.push_back(Count{carry.times} * row.carry_unit);
    }
  }
  to.add(0, token, count);
}

TEST(Rows, MoveByCellsWhateverFormsTheyHave) {
  constexpr Index v = 700;
  std::mt19937_64 random(17);
  int moved[17] = {};  // by the bits of their cells
  for (int round = 0; round < posgeom::testing_support::scaled(120, 40); ++round) {
    // From a few ids to many times more than a cell holds, on either side.
    Rows<std::uint16_t> rows[2] = {{1, v, low_limits[random() % 5]}, {1, v, low_limits[random() % 5]}};
    std::map<Token, Count> expected;
    for (Rows<std::uint16_t>& side : rows) {
      std::vector<std::uint16_t> ids(random() % 2 == 0 ? random() % 300 : random() % 60000);
      const std::uint64_t range = 1 + random() % v;
      for (std::uint16_t& id : ids) id = static_cast<std::uint16_t>(random() % range);
      side.count(0, ids);
      for (const std::uint16_t id : ids) ++expected[id];
      if (random() % 2 == 0) {
        const std::vector<Token> token{0, static_cast<Token>(v - 1)};
        const std::vector<Count> count{256, static_cast<Count>(random() % 3 == 0 ? 65535 : 255)};
        side.add(0, token, count);
        for (std::size_t k = 0; k < 2; ++k) expected[token[k]] += count[k];
      }
    }
    ++moved[rows[0].row_cells(0).bits];
    move_row(rows[0], rows[1], round % 2 == 0 ? 8 : 4096);
    std::vector<Token> token;
    std::vector<Count> count;
    rows[1].append(0, token, count);
    std::map<Token, Count> found;
    for (std::size_t k = 0; k < token.size(); ++k) found[token[k]] = count[k];
    ASSERT_EQ(found, expected) << "round " << round;
    ASSERT_TRUE(std::is_sorted(token.begin(), token.end()));
  }
  EXPECT_GT(moved[0], 0) << "lists";
  EXPECT_GT(moved[8], 0);
  EXPECT_GT(moved[16], 0);
}

TEST(Rows, ListTokensWhoseCellsAreZero) {
  // Counts that are multiples of what a cell holds: the carry alone tells of them, at both ends, and among others.
  for (const Index v : {300, 5000}) {
    for (const Index others : {Index{0}, v / 8, v}) {
      Rows<Token> rows(1, v);
      std::map<Token, Count> expected;
      std::vector<Token> ids;
      for (Index k = 0; k < others; ++k) ids.push_back(static_cast<Token>(k * v / others));
      rows.count(0, ids);
      for (const Token id : ids) ++expected[id];
      for (const Token id : {Token{0}, static_cast<Token>(v / 2 + 1), static_cast<Token>(v - 1)}) {
        const Count more = 512 - expected[id];
        rows.add(0, std::vector<Token>{id}, std::vector<Count>{more});
        expected[id] += more;
      }
      std::vector<Token> token;
      std::vector<Count> count;
      rows.append(0, token, count);
      EXPECT_EQ(rows.nonzeros(0), std::ssize(token));
      EXPECT_TRUE(
          std::equal(token.begin(), token.end(), expected.begin(), expected.end(), [](Token id, const auto& e) { return id == e.first; }));
      EXPECT_TRUE(
          std::equal(count.begin(), count.end(), expected.begin(), expected.end(), [](Count c, const auto& e) { return c == e.second; }));
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
