#include <cmath>
#include <set>

#include "counts/counting_support.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/philox.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 31;

/// Each document is one token, its own: half a of a table shows who is in it.
Documents numbered(Index documents) {
  Documents all;
  for (Index d = 0; d < documents; ++d) all.push_back({static_cast<Token>(d)});
  return all;
}

std::vector<int> halves_of(const Folder& folder, Index documents, const NoiseOptions& noise, Sequences sequences, Index unit_bytes = 100) {
  Corpus corpus = open_documents(folder, numbered(documents), documents, unit_bytes);
  CountOptions options = count_options(sequences, {1});
  options.noise = noise;
  const WholeCounts counts = gather(world(), count_corpus(world(), corpus, options));
  std::vector<int> halves;
  for (const Count count : counts.tables.at(0).half_a) halves.push_back(count == 0 ? 1 : 0);
  return halves;
}

NoiseOptions split(std::uint64_t seed, SplitBy by = SplitBy::document, Index block = 1) {
  return {.split = true, .shuffle = false, .split_by = by, .block = block, .seed = seed};
}

TEST(Halves, AreBalancedIndependentOfModeAndDifferentForAnotherSeed) {
  const Folder folder;
  constexpr Index documents = 4000;
  const std::vector<int> one = halves_of(folder, documents, split(1), Sequences::document);
  EXPECT_EQ(one, halves_of(folder, documents, split(1), Sequences::packed)) << "the half is the document's";
  EXPECT_EQ(one, halves_of(folder, documents, split(1), Sequences::chunk, 0)) << "the half does not depend on units";
  const std::vector<int> two = halves_of(folder, documents, split(2), Sequences::document);
  Index in_a = 0, same = 0, changes = 0;
  for (std::size_t d = 0; d < one.size(); ++d) {
    in_a += one[d] == 0 ? 1 : 0;
    same += one[d] == two[d] ? 1 : 0;
    if (d > 0) changes += one[d] != one[d - 1] ? 1 : 0;
  }
  // Five standard deviations of a fair coin.
  for (const Index heads : {in_a, same, changes}) EXPECT_NEAR(static_cast<double>(heads), documents / 2.0, 5 * std::sqrt(documents / 4.0));
}

TEST(Halves, OfBlocksHoldConsecutiveDocuments) {
  const Folder folder;
  const std::vector<int> halves = halves_of(folder, 1200, split(3, SplitBy::block, 10), Sequences::document);
  const std::vector<int> of_documents = halves_of(folder, 120, split(3), Sequences::document);
  for (std::size_t d = 0; d < halves.size(); ++d) EXPECT_EQ(halves[d], of_documents[d / 10]) << "document " << d;
}

TEST(Halves, OfAColumnDependOnItsTextAlone) {
  const Folder folder;
  constexpr Index documents = 600, groups = 40;
  std::string text;
  for (Index d = 0; d < documents; ++d) text += "w" + std::to_string(d) + "\tgroup" + std::to_string(d * 7 % groups) + "\n";
  CorpusOptions corpus_options;
  corpus_options.paths = {folder.write("documents.tsv", text)};
  corpus_options.vocab = folder.write("vocabulary", vocabulary_text(documents));
  corpus_options.format = Format::tsv;
  corpus_options.split_column = "1";
  corpus_options.unit_bytes = 200;
  Corpus corpus = open_corpus(world(), corpus_options);
  for (const Sequences sequences : {Sequences::document, Sequences::packed}) {
    CountOptions options = count_options(sequences, {1});
    options.noise = split(9, SplitBy::column);
    const WholeCounts counts = gather(world(), count_corpus(world(), corpus, options));
    std::set<std::pair<Index, bool>> seen;
    Index in_a = 0;
    for (Index d = 0; d < documents; ++d) {
      const bool a = counts.tables.at(0).half_a.at(static_cast<std::size_t>(d)) > 0;
      seen.insert({d * 7 % groups, a});
      in_a += a ? 1 : 0;
    }
    EXPECT_EQ(std::ssize(seen), groups) << "all documents of a group are in one half";
    EXPECT_GT(in_a, documents / 5);
    EXPECT_LT(in_a, documents - documents / 5);
  }
}

TEST(Halves, OfAColumnNeedOne) {
  const Folder folder;
  Corpus corpus = open_documents(folder, numbered(3), vocab);
  CountOptions options = count_options(Sequences::document, {1});
  options.noise = split(1, SplitBy::column);
  expect_contains(error_of([&] { count_corpus(world(), corpus, options); }), {"--split-by column", "without", "expected"});
}

TEST(KeyedWords, AreThePhiloxOfTheirKey) {
  KeyedWords words({.seed = 7, .length = 12, .first = 3, .second = 4, .purpose = Purpose::shuffle});
  std::vector<std::uint32_t> drawn(24);
  words.fill(std::span(drawn).first(16));
  words.fill(std::span(drawn).subspan(16));
  for (std::size_t draw = 0; draw < 3; ++draw) {
    const auto expected = r123::Philox4x64()({{3, 4, draw, 2}}, {{7, 12}});
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(drawn[8 * draw + 2 * k], static_cast<std::uint32_t>(expected[k]));
      EXPECT_EQ(drawn[8 * draw + 2 * k + 1], static_cast<std::uint32_t>(expected[k] >> 32U));
    }
  }
}

/// Numbers below a bound, from the words of one key.
std::vector<std::uint32_t> draws_below(std::uint32_t bound, std::size_t draws, std::uint64_t seed) {
  KeyedWords words({.seed = seed});
  std::vector<std::uint32_t> values, drawn(draws);
  while (values.size() < draws) {
    words.fill(drawn);
    for (const std::uint32_t word : drawn) {
      if (const auto value = below(bound, word)) values.push_back(*value);
    }
  }
  values.resize(draws);
  return values;
}

TEST(KeyedWords, BelowABoundEveryNumberIsAsLikely) {
  for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 10U}) {
    std::vector<double> seen(bound);
    constexpr std::size_t draws = 20000;
    for (const std::uint32_t value : draws_below(bound, draws, bound)) ++seen.at(value);
    for (const double count : seen) EXPECT_NEAR(count, draws / double(bound), 6 * std::sqrt(draws / double(bound)));
  }
  // A bound of three quarters of 2^32: without rejection the products' upper halves would miss or double a quarter of the numbers.
  constexpr std::uint32_t large = 3U << 30U;
  int thirds[3] = {0, 0, 0};
  int remainders[3] = {0, 0, 0};
  for (const std::uint32_t value : draws_below(large, 30000, 1)) {
    ++thirds[value >> 30U];
    ++remainders[value % 3];
  }
  for (const int count : thirds) EXPECT_NEAR(count, 10000, 500);
  for (const int count : remainders) EXPECT_NEAR(count, 10000, 500);
}

}  // namespace
}  // namespace posgeom
