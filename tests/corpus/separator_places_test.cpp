#include "corpus/separator_places.hpp"

#include <gtest/gtest.h>

#include <random>

namespace posgeom {
namespace {

template <class Id>
void list_and_compare(std::mt19937_64& random, std::size_t size, Id wanted, unsigned one_in) {
  std::vector<Id> ids(size + 1);
  for (Id& id : ids) {
    id = static_cast<Id>(random());
    // Near misses: one bit, or one byte, is another.
    if (random() % 3 == 0) id = static_cast<Id>(wanted ^ (Id{1} << random() % (8 * sizeof(Id))));
    if (random() % one_in == 0) id = wanted;
  }
  const std::span<const Id> odd = std::span<const Id>(ids).subspan(1);  // not aligned to anything
  std::vector<std::uint32_t> expected, places{7, 8, 9};
  for (std::uint32_t i = 0; i < odd.size(); ++i) {
    if (odd[i] == wanted) expected.push_back(i);
  }
  list_places(odd, wanted, places);
  EXPECT_EQ(places, expected) << size << " ids of " << sizeof(Id) << " bytes";
}

TEST(SeparatorPlaces, AreAllThereAre) {
  std::mt19937_64 random(3);
  for (std::size_t size = 0; size < 300; size += size < 140 ? 1 : 37) {
    for (const unsigned one_in : {1U, 3U, 50U, 1000000U}) {
      for (const int wanted : {0, 1, 50256, 32768, 65535}) {
        list_and_compare(random, size, static_cast<std::uint16_t>(wanted), one_in);
      }
      for (const std::uint32_t wanted : {0U, 50256U, 0x80000000U, 0xffffU, 0xffffffffU}) {
        list_and_compare(random, size, std::uint32_t{wanted}, one_in);
      }
    }
  }
}

TEST(SeparatorPlaces, OfAnIdThatDoesNotFitAreNone) {
  const std::vector<std::uint16_t> ids(100, 1);
  std::vector<std::uint32_t> places{1};
  list_places(std::span<const std::uint16_t>(ids), 65537, places);
  EXPECT_TRUE(places.empty());
}

}  // namespace
}  // namespace posgeom
