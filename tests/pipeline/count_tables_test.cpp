#include "pipeline/count_tables.hpp"

#include <gtest/gtest.h>

namespace posgeom {
namespace {

Config asking_for(std::vector<Index> lengths, Sequences sequences, bool split = false, bool shuffle = false) {
  Config config;
  config.lengths = std::move(lengths);
  config.sequences = sequences;
  config.noise.split = split;
  config.noise.shuffle = shuffle;
  return config;
}

CountsSummary holding(Sequences sequences, std::vector<Index> lengths, bool split = false, std::vector<Index> shuffled = {}) {
  CountsSummary summary;
  summary.sequences = sequences;
  summary.lengths = std::move(lengths);
  summary.split = split;
  summary.shuffled = !shuffled.empty();
  summary.shuffled_lengths = std::move(shuffled);
  return summary;
}

using Lengths = std::vector<Index>;

TEST(MissingLengths, OneDocumentTableServesAllShorterOnes) {
  const CountsSummary there = holding(Sequences::document, {64});
  EXPECT_EQ(missing_lengths(asking_for({16, 64}, Sequences::document), there), Lengths{});
  EXPECT_EQ(missing_lengths(asking_for({16, 65}, Sequences::document), there), Lengths{65});
}

TEST(MissingLengths, WindowsNeedATableEach) {
  const CountsSummary there = holding(Sequences::packed, {16, 64});
  EXPECT_EQ(missing_lengths(asking_for({16, 32, 64}, Sequences::packed), there), Lengths{32});
}

TEST(MissingLengths, HalvesAndNullAreMissedToo) {
  EXPECT_EQ(missing_lengths(asking_for({16}, Sequences::chunk, true), holding(Sequences::chunk, {16})), Lengths{16});
  EXPECT_EQ(missing_lengths(asking_for({16}, Sequences::chunk), holding(Sequences::chunk, {16}, true)), Lengths{});
  const CountsSummary there = holding(Sequences::document, {64}, false, {64});
  EXPECT_EQ(missing_lengths(asking_for({32, 64}, Sequences::document, false, true), there), Lengths{32});
}

TEST(LengthsToCount, OnlyWhatIsMissingOrEverythingAnew) {
  EXPECT_EQ(lengths_to_count(asking_for({16, 32}, Sequences::packed), holding(Sequences::packed, {16, 64})), Lengths{32});
  EXPECT_EQ(lengths_to_count(asking_for({32}, Sequences::packed, true), holding(Sequences::packed, {16, 64})), (Lengths{16, 32, 64}));
  EXPECT_EQ(lengths_to_count(asking_for({100}, Sequences::document), holding(Sequences::document, {64}, false, {32})),
            (Lengths{32, 64, 100}));
}

TEST(NoiseToCount, WhatWasCountedStays) {
  const CountsSummary there = holding(Sequences::document, {64}, true, {64});
  const NoiseOptions noise = noise_to_count(asking_for({100}, Sequences::document), &there);
  EXPECT_TRUE(noise.split);
  EXPECT_TRUE(noise.shuffle);
  EXPECT_FALSE(noise_to_count(asking_for({100}, Sequences::document), nullptr).split);
  // A packed length more needs halves, since one file has them or has them not; its null is asked for by length.
  const CountsSummary windows = holding(Sequences::packed, {64}, true, {64});
  EXPECT_TRUE(noise_to_count(asking_for({100}, Sequences::packed), &windows).split);
  EXPECT_FALSE(noise_to_count(asking_for({100}, Sequences::packed), &windows).shuffle);
}

CountTable table(Index length, bool shuffled) {
  CountTable made;
  made.length = length;
  made.shuffled = shuffled;
  return made;
}

TEST(KeepOtherTables, AddsWhatIsNotThereInOrder) {
  CorpusCounts before;
  before.sequences = Sequences::packed;
  before.tables = {table(16, false), table(64, false), table(64, true)};
  CorpusCounts now;
  now.sequences = Sequences::packed;
  now.tables = {table(32, false), table(64, false)};
  keep_other_tables(before, now);
  ASSERT_EQ(now.tables.size(), 4U);
  EXPECT_EQ(now.tables[0].length, 16);
  EXPECT_EQ(now.tables[1].length, 32);
  EXPECT_EQ(now.tables[2].length, 64);
  EXPECT_TRUE(now.tables[3].shuffled);
}

TEST(KeepOtherTables, ALongerDocumentTableReplacesAShorterOne) {
  CorpusCounts before;
  before.tables = {table(16, false)};
  CorpusCounts now;
  now.tables = {table(64, false)};
  keep_other_tables(before, now);
  ASSERT_EQ(now.tables.size(), 1U);
  EXPECT_EQ(now.tables[0].length, 64);
}

}  // namespace
}  // namespace posgeom
