#include <gtest/gtest.h>

#include "reader_fixture.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

class Reader : public ReaderFixture {};

TEST_F(Reader, TheUnionOfThePartsIsTheWholeExactlyOnce) {
  for (const auto& packing : packings_) {
    for (const Index unit_bytes : {Index{1}, Index{7}, Index{100}, Index{4} << 20}) {
      for (const ReadOptions options : {ReadOptions{}, ReadOptions{false, true}, ReadOptions{true}, ReadOptions{true, true},
                                        ReadOptions{true, true, 1}, ReadOptions{true, false, 9}, ReadOptions{true, true, 1000}}) {
        Corpus corpus = open(packing, unit_bytes);
        index_corpus(world(), corpus, options);
        const Units alone = read_units(corpus, options, 1, Sharing::runs);
        for (int ranks = 1; ranks <= 7; ranks += scaled(1, 3)) {
          for (const Sharing sharing : {Sharing::runs, Sharing::in_turn}) {
            SCOPED_TRACE(testing::Message() << "units of " << unit_bytes << ", " << ranks << " ranks, in turn "
                                            << (sharing == Sharing::in_turn) << ", stream " << options.stream << ", overlap "
                                            << options.overlap);
            const Units units = read_units(corpus, options, ranks, sharing);
            expect_whole(units, options);
            ASSERT_EQ(units.size(), alone.size()) << "the same units whatever the ranks";
            for (const auto& [id, unit] : units) EXPECT_EQ(unit.own, alone.at(id).own);
            if (sharing == Sharing::in_turn) {
              int number = 0;
              for (const auto& [id, unit] : units) EXPECT_EQ(unit.rank, number++ % ranks);
            }
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(Reader, DoneUnitsAreLeftOutWhereverTheyAreAndAnotherRankCountGoesOn) {
  std::uint32_t state = 5;
  const auto draw = [&state] { return (state = state * 1664525 + 1013904223) >> 16; };
  for (const auto& packing : packings_) {
    for (const Index unit_bytes : {Index{1}, Index{7}, Index{100}, Index{4} << 20}) {
      for (const ReadOptions options : {ReadOptions{}, ReadOptions{false, true}, ReadOptions{true, true, 5}}) {
        Corpus corpus = open(packing, unit_bytes);
        index_corpus(world(), corpus, options);
        const Units whole = read_units(corpus, options, 1, Sharing::runs);
        for (int trial = 0; trial < 6; ++trial) {
          UnitSet done;
          Units kept;
          for (const auto& [id, unit] : whole) {
            if (trial == 5 || draw() % 6 < static_cast<std::uint32_t>(trial)) {
              done.add({id.first, id.second});
              kept[id] = unit;
            }
          }
          // One of three ranks gets through, then four ranks go on, in another order.
          const Sharing sharing = trial % 2 == 0 ? Sharing::runs : Sharing::in_turn,
                        other = trial % 2 == 0 ? Sharing::in_turn : Sharing::runs;
          const Units second = read_units(corpus, options, 3, sharing, done, 1);
          done.merge(set_of(second));
          const Units third = read_units(corpus, options, 4, other, done);
          done.merge(set_of(third));
          // In turn goes by the number in the corpus, of done units too: callers count in step.
          for (const auto& [part, ranks] : {std::pair(&second, 3), std::pair(&third, 4)}) {
            if ((part == &second ? sharing : other) == Sharing::runs) continue;
            for (const auto& [id, unit] : *part) EXPECT_EQ(unit.rank, std::distance(whole.begin(), whole.find(id)) % ranks);
          }
          EXPECT_EQ(std::ssize(whole), done.size());
          EXPECT_EQ(whole.size(), kept.size() + second.size() + third.size());
          for (const Units& part : {second, third}) {
            for (const auto& [id, unit] : part) {
              EXPECT_EQ(unit.own, whole.at(id).own);
              EXPECT_EQ(unit.overlap, whole.at(id).overlap);
              EXPECT_EQ(unit.documents, whole.at(id).documents);
              kept[id] = unit;
            }
          }
          expect_whole(kept, options);
          EXPECT_TRUE(read_units(corpus, options, 3, sharing, done).empty());
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(Reader, IgnoredIdsAreRemovedBeforePositionsAndMaxTokens) {
  contents_ = {"abcabc\naaaa\n\ncab\n"};
  Corpus corpus = open({}, 3);
  corpus.options.ignored_ids = {'a', 'z'};
  EXPECT_EQ(read_documents(corpus, 2), (std::vector<std::string>{"bcbc", "", "", "cb"}));
  corpus.options.max_tokens = 3;
  EXPECT_EQ(read_documents(corpus, 2), (std::vector<std::string>{"bcb", "", "", "cb"}));
  index_corpus(world(), corpus, {true, true});
  EXPECT_EQ(indexed_token_count(corpus), 5) << "positions of the stream are counted without them";
}

TEST_F(Reader, NeedsTheIndexThatItsOptionsAskFor) {
  Corpus corpus = open({3}, 7);
  EXPECT_FALSE(index_corpus(world(), corpus, {})) << "nothing was read";
  EXPECT_EQ(corpus.index, nullptr);
  EXPECT_THROW(DocumentReader(corpus, {true}, 0, 1), std::logic_error);
  EXPECT_THROW(DocumentReader(corpus, {false, true}, 0, 1), std::logic_error);
  EXPECT_TRUE(index_corpus(world(), corpus, {true}));
  EXPECT_THROW(DocumentReader(corpus, {true, true}, 0, 1), std::logic_error) << "it has no documents";
  EXPECT_THROW(DocumentReader(corpus, {true, false, 4}, 0, 1), std::logic_error) << "its units are others";
  EXPECT_THROW(DocumentReader(corpus, {false, false, 4}, 0, 1), std::logic_error) << "an overlap of documents";
  EXPECT_NO_THROW(DocumentReader(corpus, {true}, 0, 1));
  EXPECT_NO_THROW(DocumentReader(corpus, {}, 0, 1));
  EXPECT_THROW(DocumentReader(corpus, {}, 2, 2), std::logic_error);
}

TEST_F(Reader, AFileThatChangedSinceItWasIndexedIsRefused) {
  for (const ReadOptions options : {ReadOptions{true}, ReadOptions{false, true}}) {
    Corpus corpus = open({}, 0);
    index_corpus(world(), corpus, options);
    folder_.write("3.txt", "alpha\nbeta\n" + std::string(39, 'y') + "\n\ngamma\n");
    expect_contains(error_of([&] { read_units(corpus, options, 1, Sharing::runs); }),
                    {"3.txt", options.stream ? "tokens" : "documents", options.stream ? "54" : "4", "do not change"});
  }
}

}  // namespace
}  // namespace posgeom
