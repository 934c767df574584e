#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;
using Words = std::vector<std::string>;

class Vocabulary : public testing::Test {
 protected:
  Corpus open(TokenizerKind tokenizer, std::vector<std::string> paths, Index max_tokens = 0, std::string vocab = {}) {
    CorpusOptions options;
    options.paths = std::move(paths);
    options.tokenizer = tokenizer;
    options.max_tokens = max_tokens;
    options.vocab = std::move(vocab);
    options.unit_bytes = unit_bytes_;
    return open_corpus(world(), options);
  }
  TemporaryFolder folder_;
  Index unit_bytes_ = 0;
};

TEST_F(Vocabulary, WordsByDescendingCountThenBytes) {
  const std::string path = folder_.write("a.txt", "b a c\nc \u00E9 B\n\nc a Z\n\u00E9 zz\n");
  const Corpus corpus = open(TokenizerKind::whitespace, {path});
  EXPECT_EQ(corpus.vocabulary, (Words{"c", "a", "\u00E9", "B", "Z", "b", "zz"}));
  EXPECT_TRUE(corpus.vocabulary_built);
  EXPECT_EQ(corpus.vocab_size, 7);
}

TEST_F(Vocabulary, CodePointsAscending) {
  const std::string path = folder_.write("a.txt", "ba \U0001F600\n\uFB01\u00E9-a\n");
  EXPECT_EQ(open(TokenizerKind::chars, {path}).vocabulary, (Words{" ", "-", "a", "b", "\u00E9", "\uFB01", "\U0001F600"}));
}

TEST_F(Vocabulary, TheSameHoweverTheFilesAreSharedOut) {
  std::map<std::string, int> counts;
  std::string text;
  std::uint32_t state = 7;
  for (int k = 0; k < 3000; ++k) {
    state = state * 1664525 + 1013904223;
    const std::string word = "w" + std::to_string((state >> 20) % 97 * ((state >> 10) % 5));
    ++counts[word];
    text += word + (k % 11 == 0 ? "\n" : " ");
  }
  std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Words expected;
  for (const auto& [word, count] : order) expected.push_back(word);

  const std::size_t middle = text.find('\n', text.size() / 2) + 1;
  const std::string whole = folder_.write("whole.txt", text), packed = folder_.write("packed.txt.gz", compress(text, "gz")),
                    first = folder_.write("1.txt", text.substr(0, middle)),
                    second = folder_.write("2.txt.zst", compress(text.substr(middle), "zst"));
  for (const Index unit_bytes : {0, 100}) {
    unit_bytes_ = unit_bytes;
    EXPECT_EQ(open(TokenizerKind::whitespace, {whole}).vocabulary, expected);
    EXPECT_EQ(open(TokenizerKind::whitespace, {packed}).vocabulary, expected);
    EXPECT_EQ(open(TokenizerKind::whitespace, {first, second}).vocabulary, expected);
  }
}

TEST_F(Vocabulary, HoldsOnlyWhatMaxTokensLeaves) {
  const std::string path = folder_.write("a.txt", "a b c\nd e f\n");
  EXPECT_EQ(open(TokenizerKind::whitespace, {path}, 2).vocabulary, (Words{"a", "b", "d", "e"}));
  EXPECT_EQ(open(TokenizerKind::chars, {path}, 3).vocabulary, (Words{" ", "a", "b", "d", "e"}));
}

TEST_F(Vocabulary, OfACorpusWithoutWordsIsEmpty) {
  EXPECT_EQ(open(TokenizerKind::whitespace, {folder_.write("a.txt", "")}).vocab_size, 0);
  EXPECT_EQ(open(TokenizerKind::whitespace, {folder_.write("b.txt", "\n  \n\xFF\n")}).vocab_size, 0);
}

TEST_F(Vocabulary, FromAFileCompressedOrNot) {
  const std::string path = folder_.write("a.txt", "b a\n");
  const std::string plain = folder_.write("v", "a\r\nb\r\nc"), packed = folder_.write("v.xz", compress("a\nb\nc\n", "xz"));
  for (const std::string& vocab : {plain, packed}) {
    const Corpus corpus = open(TokenizerKind::whitespace, {path}, 0, vocab);
    EXPECT_EQ(corpus.vocabulary, (Words{"a", "b", "c"}));
    EXPECT_FALSE(corpus.vocabulary_built);
    EXPECT_EQ(corpus.vocab_size, 3);
  }
  EXPECT_EQ(open(TokenizerKind::chars, {path}, 0, folder_.write("c", " \na\nb\n")).vocabulary, (Words{" ", "a", "b"}));
}

TEST_F(Vocabulary, UnknownWordsAreNamedWithTheirPlace) {
  const Corpus corpus = open(TokenizerKind::whitespace, {folder_.write("a.txt", "a\na a\na zebra\n")}, 0, folder_.write("v", "a\n"));
  expect_contains(error_of([&] { read_documents(corpus, 2); }), {"a.txt, line 3", "'zebra'"});
}

}  // namespace
}  // namespace posgeom
