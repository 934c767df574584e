#include <cmath>
#include <map>

#include "counts/counting_support.hpp"
#include "posgeom/philox.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 37;

WholeCounts count(const Folder& folder, const Documents& documents, const CountOptions& options, Index unit_bytes) {
  Corpus corpus = open_documents(folder, documents, vocab, unit_bytes);
  return gather(world(), count_corpus(world(), corpus, options));
}

std::vector<Count> token_totals(const Dense& table) {
  std::vector<Count> totals(static_cast<std::size_t>(vocab));
  for (std::size_t cell = 0; cell < table.all.size(); ++cell) totals[cell % static_cast<std::size_t>(vocab)] += table.all[cell];
  return totals;
}

class Shuffle : public testing::TestWithParam<Sequences> {};

/// The real table of the same length, and the shuffled one.
std::pair<const Dense*, const Dense*> tables_of(const WholeCounts& counts) {
  EXPECT_EQ(counts.tables.size(), 2U);
  EXPECT_FALSE(counts.tables.at(0).shuffled);
  EXPECT_TRUE(counts.tables.at(1).shuffled);
  return {counts.tables.data(), &counts.tables.at(1)};
}

TEST_P(Shuffle, MovesTokensWithinTheirSequences) {
  const Folder folder;
  const Documents documents = some_documents(300, 45, vocab, 11);
  for (const Index length : {2, 13, 29}) {
    CountOptions options = count_options(GetParam(), {length});
    options.noise.shuffle = true;
    const WholeCounts counts = count(folder, documents, options, 150);
    const auto [real, shuffled] = tables_of(counts);
    for (Index i = 0; i < length; ++i) EXPECT_EQ(real->total_at(i, vocab), shuffled->total_at(i, vocab)) << "as many sequences reach it";
    EXPECT_EQ(token_totals(*real), token_totals(*shuffled));
    EXPECT_FALSE(real->all == shuffled->all);
    options.noise.seed = 2;
    EXPECT_FALSE(count(folder, documents, options, 150).tables.at(1).all == shuffled->all);
  }
}

TEST_P(Shuffle, KeepsTheMultisetOfEachSequence) {
  // Every sequence of 5 has five tokens of its own, so that a token in another sequence would show.
  const Folder folder;
  const Documents documents{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 11, 12, 13, 14}, {15, 16, 17, 18, 19}, {20, 21, 22}};
  CountOptions options = count_options(GetParam(), {5});
  options.noise.shuffle = true;
  const WholeCounts counts = count(folder, documents, options, 7);
  const Dense& shuffled = counts.tables.at(1);
  for (Index i = 0; i < 5; ++i) {
    for (Index s = 0; s < 5; ++s) {
      const auto begin = shuffled.all.begin() + i * vocab + 5 * s;
      EXPECT_EQ(std::accumulate(begin, begin + 5, Count{0}), s < 4 || i < 3 ? 1 : 0) << "sequence " << s << ", position " << i;
    }
  }
}

TEST_P(Shuffle, EveryPositionIsAsLikely) {
  // Token 0 begins each sequence; shuffled, it stands anywhere.
  const Folder folder;
  constexpr Index length = 8, sequences = 4000;
  const Documents documents(static_cast<std::size_t>(sequences), {0, 1, 2, 3, 4, 5, 6, 7});
  CountOptions options = count_options(GetParam(), {length});
  options.noise.shuffle = true;
  const WholeCounts counts = count(folder, documents, options, 0);
  for (Index i = 0; i < length; ++i) {
    for (Index v = 0; v < length; ++v) {
      const double expected = sequences / double(length);
      EXPECT_NEAR(static_cast<double>(counts.tables.at(1).all[static_cast<std::size_t>(i * vocab + v)]), expected, 5 * std::sqrt(expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sequences, Shuffle, testing::Values(Sequences::document, Sequences::chunk, Sequences::packed),
                         [](const auto& param) { return std::string(name_of(param.param)); });

/// What a seed gives is in files that users compare: it must not change.
TEST(Permute, KnownAnswer) {
  std::vector<int> order(10);
  std::iota(order.begin(), order.end(), 0);
  permute(KeyedWords({.seed = 1, .length = 10, .first = 0, .second = 0, .purpose = Purpose::shuffle}), 10,
          [&](std::uint32_t i, std::uint32_t j) { std::swap(order[i], order[j]); });
  EXPECT_EQ(order, (std::vector<int>{2, 4, 5, 6, 0, 7, 1, 8, 3, 9}));
}

TEST(Permute, EveryOrderIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  constexpr int draws = 24000;
  for (std::uint64_t key = 0; key < draws; ++key) {
    std::vector<int> order{0, 1, 2, 3};
    permute(KeyedWords({.seed = 1, .length = 4, .first = key, .second = 0, .purpose = Purpose::shuffle}), 4,
            [&](std::uint32_t i, std::uint32_t j) { std::swap(order[i], order[j]); });
    ++seen[order];
  }
  EXPECT_EQ(seen.size(), 24U);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, draws / 24, 5 * std::sqrt(draws / 24.0));
}

}  // namespace
}  // namespace posgeom
