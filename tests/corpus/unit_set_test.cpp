#include "posgeom/corpus/unit_set.hpp"

#include <gtest/gtest.h>

#include <set>

#include "corpus_files.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

using Plain = std::set<std::pair<Index, Index>>;

/// Triples by another road: runs of a std::set.
std::vector<Index> triples_of(const Plain& units) {
  std::vector<Index> triples;
  for (const auto& [file, unit] : units) {
    const std::size_t size = triples.size();
    if (size > 0 && triples[size - 3] == file && triples[size - 1] == unit) {
      ++triples.back();
    } else {
      triples.insert(triples.end(), {file, unit, unit + 1});
    }
  }
  return triples;
}

void expect_same(const UnitSet& set, const Plain& plain) {
  EXPECT_EQ(set.empty(), plain.empty());
  EXPECT_EQ(set.size(), std::ssize(plain));
  EXPECT_EQ(set.to_triples(), triples_of(plain));
  for (Index file = 0; file < 3; ++file) {
    for (Index unit = 0; unit < 9; ++unit) EXPECT_EQ(set.contains({file, unit}), plain.contains({file, unit}));
  }
}

Plain subset(unsigned bits, int units) {
  Plain plain;
  for (int k = 0; k < 2 * units; ++k) {
    if ((bits >> k & 1U) != 0) plain.emplace(k / units, k % units);
  }
  return plain;
}

TEST(UnitSets, EverySubsetOfTwoFilesInSeveralOrders) {
  for (unsigned bits = 0; bits < 1024; ++bits) {
    const Plain plain = subset(bits, 5);
    std::vector<std::pair<Index, Index>> order(plain.begin(), plain.end());
    UnitSet up, down, mixed;
    for (const auto& [file, unit] : order) up.add({file, unit});
    std::reverse(order.begin(), order.end());
    for (const auto& [file, unit] : order) down.add({file, unit});
    for (std::size_t k = 0; k < order.size(); ++k) mixed.add({order[k * 7 % order.size()].first, order[k * 7 % order.size()].second});
    expect_same(up, plain);
    expect_same(down, plain);
    if (order.size() != 7) expect_same(mixed, plain);
    for (const auto& [file, unit] : order) up.add({file, unit});
    expect_same(up, plain);
    expect_same(UnitSet::from_triples(up.to_triples()), plain);
  }
}

TEST(UnitSets, EveryUnion) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; b += testing_support::scaled(1, 7)) {
      UnitSet first = UnitSet::from_triples(triples_of(subset(a, 4)));
      const UnitSet second = UnitSet::from_triples(triples_of(subset(b, 4)));
      first.merge(second);
      first.merge(first);
      expect_same(first, subset(a | b, 4));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(UnitSets, TriplesThatAreNoneAreRefused) {
  const auto refused = [](std::vector<Index> triples) { return error_of([&] { UnitSet::from_triples(triples); }); };
  expect_contains(refused({0, 1}), {"2 numbers", "triples", "damaged"});
  for (const std::vector<Index>& triples : {std::vector<Index>{0, 1, 1},
                                            {0, 3, 2},
                                            {-1, 0, 1},
                                            {0, -1, 1},
                                            {1, 0, 1, 0, 0, 1},
                                            {0, 0, 2, 0, 2, 3},
                                            {0, 0, 2, 0, 1, 3},
                                            {0, 4, 5, 0, 0, 1}}) {
    expect_contains(refused(triples), {"damaged", "entry " + std::to_string(triples.size() / 3 - 1), "ascend"});
  }
  EXPECT_TRUE(UnitSet::from_triples({}).empty());
  EXPECT_THROW(UnitSet().add({-1, 0}), std::logic_error);
}

}  // namespace
}  // namespace posgeom
