#include "posgeom/counts/position_counts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "corpus/corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

std::string some_text(int lines) {
  std::string text;
  std::uint32_t state = 3;
  const auto random = [&state](std::uint32_t bound) { return (state = state * 1664525 + 1013904223) >> 8 & 0xFFFF % bound; };
  for (int k = 0; k < lines; ++k) {
    for (std::uint32_t words = random(23) % 9; words > 0; --words) text += "w" + std::to_string(random(101) % 40) + " ";
    text += '\n';
  }
  return text;
}

/// Counts by maps, one process, from the text itself.
PositionCounts naive(const std::string& text, const Corpus& corpus, Index length) {
  std::map<std::string, Token> ids;
  for (std::size_t v = 0; v < corpus.vocabulary.size(); ++v) ids[corpus.vocabulary[v]] = static_cast<Token>(v);
  std::vector<std::map<Token, Count>> table(static_cast<std::size_t>(length));
  PositionCounts counts;
  counts.length = length;
  counts.vocab_size = corpus.vocab_size;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Index position = 0;
    for (std::string word; words >> word; ++position) {
      if (position < length) ++table[static_cast<std::size_t>(position)][ids.at(word)];
    }
    ++counts.document_count;
    counts.empty_document_count += position == 0 ? 1 : 0;
    counts.token_count += position;
    counts.longest_document = std::max(counts.longest_document, position);
  }
  counts.indptr.push_back(0);
  for (const auto& row : table) {
    Count total = 0;
    for (const auto& [token, count] : row) {
      counts.token.push_back(token);
      counts.count.push_back(count);
      total += count;
    }
    counts.position_total.push_back(total);
    counts.indptr.push_back(std::ssize(counts.token));
  }
  return counts;
}

void expect_equal(const PositionCounts& a, const PositionCounts& b) {
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.vocab_size, b.vocab_size);
  EXPECT_EQ(a.document_count, b.document_count);
  EXPECT_EQ(a.empty_document_count, b.empty_document_count);
  EXPECT_EQ(a.token_count, b.token_count);
  EXPECT_EQ(a.longest_document, b.longest_document);
  EXPECT_EQ(a.position_total, b.position_total);
  EXPECT_EQ(a.indptr, b.indptr);
  EXPECT_EQ(a.token, b.token);
  EXPECT_EQ(a.count, b.count);
}

class Counting : public testing::Test {
 protected:
  Corpus open(std::vector<std::string> paths, TokenizerKind tokenizer = TokenizerKind::whitespace) {
    CorpusOptions options;
    options.paths = std::move(paths);
    options.tokenizer = tokenizer;
    return open_corpus(world(), options);
  }
  PositionCounts count(const Corpus& corpus, Index length, Index chunk = 1000) {
    CountOptions options;
    options.length = length;
    options.chunk = chunk;
    return count_positions(world(), corpus, options);
  }
  TemporaryFolder folder_;
};

TEST_F(Counting, EqualsTheNaiveCountForEveryLengthAndChunk) {
  const std::string text = some_text(500);
  const Corpus corpus = open({folder_.write("a.txt", text)});
  for (const Index length : {1, 3, 8, 20}) {
    for (const Index chunk : {1, 2, 7, 100, 1 << 22}) expect_equal(count(corpus, length, chunk), naive(text, corpus, length));
  }
}

TEST_F(Counting, TheSameFromCompressedAndSeveralFiles) {
  const std::string text = some_text(300);
  const std::size_t middle = text.find('\n', text.size() / 3) + 1;
  const Corpus whole = open({folder_.write("whole.txt", text)});
  const PositionCounts expected = naive(text, whole, 9);
  expect_equal(count(whole, 9), expected);
  expect_equal(count(open({folder_.write("packed.gz", compress(text, "gz"))}), 9), expected);
  folder_.write("parts/1.txt", text.substr(0, middle));
  folder_.write("parts/2.txt", "");
  folder_.write("parts/3.txt.xz", compress(text.substr(middle), "xz"));
  expect_equal(count(open({folder_ / "parts"}), 9), expected);
}

TEST_F(Counting, MoreRanksThanRecordsOrBytes) {
  const Corpus one = open({folder_.write("one.txt", "x y x")});
  expect_equal(count(one, 4), naive("x y x", one, 4));
  const Corpus single = open({folder_.write("single.txt", "x")}, TokenizerKind::chars);
  const PositionCounts counts = count(single, 1);
  EXPECT_EQ(counts.token, std::vector<Token>{0});
  EXPECT_EQ(counts.count, std::vector<Count>{1});
}

TEST_F(Counting, BytesAndSpans) {
  const PositionCounts counts = count(open({folder_.write("a.txt", "ab\nac\nb\n\n")}, TokenizerKind::bytes), 3);
  EXPECT_EQ(counts.position_total, (std::vector<Count>{3, 2, 0}));
  EXPECT_EQ(counts.indptr, (std::vector<Index>{0, 2, 4, 4}));
  EXPECT_EQ(std::vector<Token>(counts.tokens_at(0).begin(), counts.tokens_at(0).end()), (std::vector<Token>{'a', 'b'}));
  EXPECT_EQ(std::vector<Count>(counts.counts_at(0).begin(), counts.counts_at(0).end()), (std::vector<Count>{2, 1}));
  EXPECT_TRUE(counts.tokens_at(2).empty());
  EXPECT_EQ(counts.document_count, 4);
  EXPECT_EQ(counts.empty_document_count, 1);
}

TEST_F(Counting, ACorpusWithoutTokensHasZeroCounts) {
  for (const std::string_view text : {"", "\n", "\n \n\n"}) {
    const Corpus corpus = open({folder_.write("a.txt", text)});
    const PositionCounts counts = count(corpus, 5);
    expect_equal(counts, naive(std::string(text), corpus, 5));
    EXPECT_EQ(counts.indptr, std::vector<Index>(6, 0));
  }
  EXPECT_EQ(count(open({folder_.write("b.txt", "\n")}, TokenizerKind::bytes), 5).position_total, std::vector<Count>(5, 0));
}

TEST_F(Counting, ATableThatDoesNotFitIsRefusedBeforeReading) {
  const Corpus corpus = open({folder_.write("a.txt", "abc\n")}, TokenizerKind::bytes);
  CountOptions options;
  options.length = 4;
  options.memory_bytes = 3 * 256 * 8 + 7;
  const std::string text =
      error_of([&] { count_positions(world(), corpus, options, [](Index, Index, Index) { ADD_FAILURE() << "read"; }); });
  expect_contains(text, {"4 positions x 256 tokens", "--memory", "holds 3 positions", "--lengths"});
  options.length = 3;
  EXPECT_EQ(count_positions(world(), corpus, options).token_count, 3);
  options.length = Index{1} << 62;
  options.memory_bytes = Index{1} << 40;
  EXPECT_THROW(count_positions(world(), corpus, options), CollectiveError) << "length * V overflows 64 bits";
}

TEST_F(Counting, OneRanksFailureEndsAllWithItsPlace) {
  std::string text = some_text(200);
  const Index line = std::count(text.begin(), text.end(), '\n') + 1;
  text += "bad\xFFtext\n" + some_text(10);
  const Corpus corpus = [&] {
    CorpusOptions options;
    options.paths = {folder_.write("a.txt", text)};
    options.tokenizer = TokenizerKind::chars;
    options.vocab = folder_.write("v", " \nw\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\nb\na\nd\n");
    return open_corpus(world(), options);
  }();
  expect_contains(error_of([&] { count(corpus, 5); }), {"a.txt, line " + std::to_string(line), "UTF-8"});
}

TEST_F(Counting, AFileThatShrankIsRefusedOnEveryRank) {
  const Corpus corpus = open({folder_.write("a.txt", some_text(200))});
  if (world().is_root()) std::filesystem::resize_file(corpus.files[0].path, 50);
  barrier(world());
  expect_contains(error_of([&] { count(corpus, 5); }), {"a.txt", "do not change"});
}

TEST_F(Counting, ProgressReachesTheEndAndMayStop) {
  const Corpus corpus = open({folder_.write("a.txt", some_text(400))});
  CountOptions options;
  options.length = 4;
  Index done = 0, all = 0, tokens = 0;
  const PositionCounts counts = count_positions(world(), corpus, options, [&](Index bytes_done, Index bytes_total, Index tokens_so_far) {
    EXPECT_GE(bytes_done, done);
    done = bytes_done;
    all = bytes_total;
    tokens = tokens_so_far;
  });
  EXPECT_EQ(done, all);
  EXPECT_EQ(all_reduce(world(), tokens), counts.token_count);
  EXPECT_EQ(all_reduce(world(), all), corpus.files[0].bytes);
  try {
    count_positions(world(), corpus, options, [](Index, Index, Index) {
      if (world().rank() == world().size() - 1) throw Error("stopped by a signal", ErrorKind::stopped);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CollectiveError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::stopped);
    EXPECT_EQ(error.rank(), world().size() - 1);
  }
}

TEST(ReduceCounts, SumsTheTablesAndKeepsNonzeros) {
  for (const Index chunk : {1, 2, 5, 7, 1000}) {
    std::vector<Count> table{0, world().rank(), Count{1} << 40, 0, 0, 0};  // two rows of three, of a length of three
    PositionCounts counts;
    counts.length = 3;
    counts.vocab_size = 3;
    reduce_counts(world(), table, chunk, counts);
    const Count ranks = world().size(), second = ranks * (ranks - 1) / 2;
    if (second > 0) {
      EXPECT_EQ(counts.token, (std::vector<Token>{1, 2}));
      EXPECT_EQ(counts.count, (std::vector<Count>{second, ranks << 40}));
    } else {
      EXPECT_EQ(counts.token, std::vector<Token>{2});
    }
    EXPECT_EQ(counts.position_total, (std::vector<Count>{second + (ranks << 40), 0, 0}));
    EXPECT_EQ(counts.indptr.size(), 4U);
    EXPECT_EQ(counts.indptr[1], counts.indptr[3]);
  }
}

}  // namespace
}  // namespace posgeom
