#include "cli/allocation.hpp"

#include <gtest/gtest.h>

namespace posgeom::cli {
namespace {

constexpr Index mebi = Index{1} << 20;

TEST(Allocation, MemoryOfTheNodeOrOfItsCpus) {
  EXPECT_EQ(allocated_memory("2048", nullptr, nullptr), 2048 * mebi);
  EXPECT_EQ(allocated_memory("2048", "100", "64"), 2048 * mebi);
  EXPECT_EQ(allocated_memory(nullptr, "100", "64"), 6400 * mebi);
  EXPECT_EQ(allocated_memory("0", "100", "64"), 6400 * mebi);  // 0: all of the node
  EXPECT_EQ(allocated_memory("3G", nullptr, nullptr), 3072 * mebi);
  EXPECT_EQ(allocated_memory("512K", nullptr, nullptr), mebi / 2);
  EXPECT_EQ(allocated_memory("2T", nullptr, nullptr), 2048 * 1024 * mebi);
}

TEST(Allocation, WhatIsNotUnderstoodIsNoLimit) {
  for (const char* text : {"", "0", "-5", "abc", "12MB", "1.5G", "99999999999999999999", "9999999999999T", " 12"}) {
    EXPECT_EQ(allocated_memory(text, nullptr, nullptr), 0) << text;
    EXPECT_EQ(allocated_memory(nullptr, text, "4"), 0) << text;
    EXPECT_EQ(allocated_memory(nullptr, "100", text), 0) << text;
  }
  EXPECT_EQ(allocated_memory(nullptr, "100", "4(x2)"), 0);
  EXPECT_EQ(allocated_memory(nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(allocated_memory(nullptr, "100", nullptr), 0);
}

}  // namespace
}  // namespace posgeom::cli
