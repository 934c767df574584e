#include "counts/position_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "posgeom/types.hpp"
#include "support/scale.hpp"

namespace {

using posgeom::Count;
using posgeom::Index;
using posgeom::PositionTable;
using posgeom::Token;
namespace testing_support = posgeom::testing_support;

/// The table as it is defined: a map a position.
using Naive = std::vector<std::map<Token, Count>>;

struct Shape {
  Index length, vocab_size, buffer_bytes;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << "length " << shape.length << ", V " << shape.vocab_size << ", buffer " << shape.buffer_bytes;
}

std::vector<std::map<Token, Count>> rows_of(const PositionTable& table, Index length) {
  Naive rows(static_cast<std::size_t>(length));
  for (Index position = 0; position < length; ++position) {
    std::vector<Token> token;
    std::vector<Count> count;
    table.append_row(position, token, count);
    EXPECT_EQ(token.size(), count.size());
    EXPECT_EQ(std::adjacent_find(token.begin(), token.end(), std::greater_equal<>()), token.end()) << "tokens ascend, at " << position;
    for (std::size_t k = 0; k < token.size(); ++k) {
      EXPECT_GT(count[k], 0);
      rows[static_cast<std::size_t>(position)][token[k]] = count[k];
    }
  }
  return rows;
}

/// Ids as text has them, many of a few and few of many, or evenly distributed.
template <class Id>
std::vector<Id> draw(std::mt19937_64& random, Index size, Index vocab_size) {
  std::vector<Id> ids(static_cast<std::size_t>(size));
  const auto v = static_cast<std::uint64_t>(vocab_size);
  const bool skewed = random() % 4 != 0;
  for (Id& id : ids) id = static_cast<Id>(skewed ? random() % (1 + random() % v) : random() % v);
  // The first and last ids are the ones that off-by-one errors lose.
  if (size > 0) ids[random() % ids.size()] = static_cast<Id>(random() % 2 == 0 ? 0 : v - 1);
  return ids;
}

template <class Id>
void add_to(Naive& rows, Index position, const std::vector<Id>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) ++rows[static_cast<std::size_t>(position) + i][static_cast<Token>(ids[i])];
}

/// Whole sequences, the last ones of which a table may copy and the others not.
template <class Id>
void add_sequences(PositionTable& table, Naive& rows, std::mt19937_64& random, const Shape& shape) {
  const auto length = 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(shape.length));
  const auto sequences = static_cast<Index>(random() % 70);
  const std::vector<Id> ids = draw<Id>(random, sequences * length, shape.vocab_size);
  table.add_sequences(length, std::span<const Id>(ids));
  for (Index s = 0; s < sequences; ++s) add_to(rows, 0, std::vector<Id>(ids.begin() + s * length, ids.begin() + (s + 1) * length));
}

template <class Id>
void add_random_run(PositionTable& table, Naive& rows, std::mt19937_64& random, const Shape& shape) {
  const auto n = static_cast<std::uint64_t>(shape.length);
  const bool whole = random() % 2 == 0;
  const auto position = static_cast<Index>(random() % 4 == 0 ? random() % n : 0);
  const auto size = whole ? shape.length - position : static_cast<Index>(random() % (n - static_cast<std::uint64_t>(position) + 1));
  const std::vector<Id> ids = draw<Id>(random, size, shape.vocab_size);
  table.add(position, std::span<const Id>(ids));
  add_to(rows, position, ids);
}

class AnyShape : public testing::TestWithParam<Shape> {};

TEST_P(AnyShape, CountsAsTheDefinitionDoes) {
  const Shape shape = GetParam();
  std::mt19937_64 random(static_cast<std::uint64_t>(shape.length * 7919 + shape.vocab_size));
  PositionTable table(shape.length, shape.vocab_size, shape.buffer_bytes);
  Naive rows(static_cast<std::size_t>(shape.length));
  for (int round = 0; round < 2; ++round) {
    const int runs = shape.length > 100 ? testing_support::scaled(80, 40) : testing_support::scaled(200, 40);
    for (int run = 0; run < runs; ++run) {
      // A file's ids may be narrower or wider than the table's.
      if (shape.vocab_size > 65536 || random() % 8 == 0) {
        add_random_run<Token>(table, rows, random, shape);
      } else {
        add_random_run<std::uint16_t>(table, rows, random, shape);
      }
    }
    add_sequences<Token>(table, rows, random, shape);
    if (shape.vocab_size <= 65536) add_sequences<std::uint16_t>(table, rows, random, shape);
    table.flush();
    EXPECT_EQ(rows_of(table, shape.length), rows) << shape << ", round " << round;
  }
  const Index with_columns = table.bytes();
  table.release_columns();
  EXPECT_LT(table.bytes(), with_columns);
  EXPECT_EQ(rows_of(table, shape.length), rows) << "flushed twice: " << shape;
  add_random_run<Token>(table, rows, random, shape);
  add_sequences<Token>(table, rows, random, shape);
  table.flush();
  EXPECT_EQ(rows_of(table, shape.length), rows) << "counted after the columns' memory was given back: " << shape;
}

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  constexpr Index sizes[] = {1, 2, 50, 65536, 70000};
  for (Index length = 1; length <= 70; ++length) {
    for (const Index turn : {0, 1}) {
      shapes.push_back({length, sizes[(length + turn * 2) % 5], length % 3 == turn ? Index{1} << 20 : length * 64 * (length % 4)});
    }
  }
  for (const Index v : {7, 1000, 50257, 65537}) {
    if (testing_support::sanitized && v != 50257) continue;
    shapes.push_back({1000, v, 0});
    shapes.push_back({1000, v, Index{1} << 22});
  }
  return shapes;
}
INSTANTIATE_TEST_SUITE_P(Shapes, AnyShape, testing::ValuesIn(shapes()));

TEST(PositionTable, IsTheSameWhateverTheBuffer) {
  std::vector<Naive> tables;
  for (const Index buffer_bytes : {Index{0}, Index{1}, Index{100000}, Index{1} << 20, Index{1} << 25}) {
    const Shape shape{129, 3000, buffer_bytes};
    std::mt19937_64 random(5);
    PositionTable table(shape.length, shape.vocab_size, buffer_bytes);
    Naive rows(static_cast<std::size_t>(shape.length));
    for (int run = 0; run < testing_support::scaled(4000, 400); ++run) add_random_run<std::uint16_t>(table, rows, random, shape);
    table.flush();
    tables.push_back(rows_of(table, shape.length));
    EXPECT_EQ(tables.back(), rows);
  }
}

TEST(PositionTable, RunsThatBeginAnywhereAreCounted) {
  for (const Index v : {3000, 70000}) {
    const Shape shape{171, v, 20000};
    std::mt19937_64 random(9);
    PositionTable table(shape.length, v, shape.buffer_bytes);
    Naive rows(static_cast<std::size_t>(shape.length));
    for (int run = 0; run < testing_support::scaled(1500, 300); ++run) {
      const auto position = static_cast<Index>(random() % 171);
      const std::vector<Token> ids = draw<Token>(random, 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(171 - position)), v);
      table.add(position, std::span<const Token>(ids));
      add_to(rows, position, ids);
    }
    table.flush();
    EXPECT_EQ(rows_of(table, shape.length), rows);
  }
}

TEST(PositionTable, CountsMoreOfOneTokenThanSixteenBitsHold) {
  // One position, one token or two in turn: every counter on the way is full again and again.
  for (const Index v : {1, 2, 9, 40, 5000, 50257, 70000}) {
    PositionTable table(1, v, Index{1} << 18);
    const std::vector<Token> ids{0, static_cast<Token>(v - 1)};
    const int times = testing_support::scaled(300000, 70000);
    for (int i = 0; i < times; ++i) table.add(0, std::span(ids).subspan(static_cast<std::size_t>(i % 3 == 0), 1));
    table.flush();
    Naive expected(1);
    expected[0][0] += times - (times + 2) / 3;
    expected[0][static_cast<Token>(v - 1)] += (times + 2) / 3;
    EXPECT_EQ(rows_of(table, 1), expected) << "V = " << v;
  }
}

TEST(PositionTable, RowsMayBeAddedClearedAndMoved) {
  for (const Index v : {1, 30, 700, 66000}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(v));
    const Shape shape{37, v, 10000};
    PositionTable table(shape.length, v, shape.buffer_bytes);
    Naive rows(static_cast<std::size_t>(shape.length));
    for (int step = 0; step < 600; ++step) {
      add_random_run<Token>(table, rows, random, shape);
      if (step % 3 != 0) continue;
      table.flush();
      const auto position = static_cast<Index>(random() % 37);
      auto& row = rows[static_cast<std::size_t>(position)];
      if (random() % 4 == 0) {
        table.clear_row(position);
        EXPECT_EQ(table.row_bytes(position, 1), PositionTable::bytes_of_row(v, 0, 0)) << "a cleared row keeps nothing";
        row.clear();
        continue;
      }
      std::map<Token, Count> added;
      const std::uint64_t entries = random() % 50;
      for (std::uint64_t k = 0; k < entries; ++k) {
        added[static_cast<Token>(random() % static_cast<std::uint64_t>(v))] += Count{1} << random() % (step % 9 == 0 ? 44 : 18);
      }
      std::vector<Token> token;
      std::vector<Count> count;
      for (const auto& [id, value] : added) {
        token.push_back(id);
        count.push_back(value);
        row[id] += value;
      }
      table.add_row(position, token, count);
      if (step % 100 == 0) table = PositionTable(std::move(table));
    }
    table.flush();
    EXPECT_EQ(rows_of(table, shape.length), rows) << "V = " << v;
  }
}

TEST(PositionTable, GivesMemoryBack) {
  const Index v = 5000;
  PositionTable table(500, v, 0);
  const Index empty = table.bytes();
  std::vector<Token> ids(500);
  for (Token round = 0; round < 2000; ++round) {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Token>((round * 7 + static_cast<Token>(i)) % v);
    table.add(0, std::span<const Token>(ids));
  }
  table.flush();
  EXPECT_GE(table.bytes(), empty + 500 * v);
  EXPECT_LE(table.row_bytes(0, 500), 500 * PositionTable::bytes_of_row(v, 2000, 2000));
  EXPECT_EQ(table.row_bytes(0, 500), 500 * table.row_bytes(0, 1));
  for (Index position = 0; position < 500; ++position) table.clear_row(position);
  EXPECT_LE(table.bytes(), empty + (Index{1} << 22)) << "at most a slab stays";
}

TEST(PositionTable, SaysWhatARowTakes) {
  EXPECT_LT(PositionTable::bytes_of_row(50257, 100, 200), 100 * 3 + 300);
  EXPECT_LT(PositionTable::bytes_of_row(50257, 50257, 1000000), 50257 * 2);
  EXPECT_LE(PositionTable::bytes_of_row(50257, 50257, 4000000000), 50257 * 4 + 400);
  EXPECT_GT(PositionTable::bytes_of_row(50257, 50257, Index{1} << 33), 50257 * 4 + 400);
  EXPECT_LE(PositionTable::bytes_of_row(50257, 50257, Index{1} << 33), 50257 * 8 + 600);
}

TEST(PositionTable, RefusesRunsBeyondItsPositions) {
  PositionTable table(4, 10, 0);
  const std::vector<Token> ids(5);
  EXPECT_THROW(table.add(0, std::span<const Token>(ids)), std::logic_error);
  EXPECT_THROW(table.add(2, std::span<const Token>(ids).first(3)), std::logic_error);
  EXPECT_THROW(table.add_sequences(2, std::span<const Token>(ids)), std::logic_error);
  EXPECT_THROW(table.add_sequences(5, std::span<const Token>(ids)), std::logic_error);
}

}  // namespace
