#include <gtest/gtest.h>

#include <functional>

#include "corpus/part_reader.hpp"
#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

/// What a text's lines are, by another road: split at LF, drop the nothing behind the last one, and one CR of each.
std::vector<std::string> naive_lines(std::string text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line = text.substr(0, end);
    text.erase(0, end == std::string::npos ? end : end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> naive_sequences(const std::string& text) {
  std::vector<std::string> records;
  for (const std::string& line : naive_lines(text)) {
    if (line.starts_with('>')) {
      records.emplace_back();
    } else if (!records.empty()) {
      records.back() += line;
    }
  }
  return records;
}

/// All strings of at most `length` letters.
void for_each_string(std::string_view letters, std::size_t length, const std::function<void(const std::string&)>& visit) {
  std::vector<std::string> level{""};
  for (std::size_t size = 0;; ++size) {
    for (const std::string& text : level) visit(text);
    if (size == length) return;
    std::vector<std::string> next;
    for (const std::string& text : level) {
      for (const char letter : letters) next.push_back(text + letter);
    }
    level = std::move(next);
  }
}

Corpus corpus_of(Format format, std::vector<CorpusFile> files, bool header = false) {
  Corpus corpus;
  corpus.options.format = format;
  corpus.options.header = header;
  corpus.files = std::move(files);
  corpus.tokenizer = bytes_tokenizer();
  corpus.vocab_size = 256;
  return corpus;
}

class Sharding : public testing::Test {
 protected:
  /// One file of this content gives `expected` for every number of ranks.
  void check(Format format, const std::string& content, const std::vector<std::string>& expected, bool header = false) {
    const Corpus corpus = corpus_of(format, {{folder_.write("file", content), static_cast<Index>(content.size())}}, header);
    for (int ranks = 1; ranks <= 9; ++ranks)
      ASSERT_EQ(read_documents(corpus, ranks), expected) << testing::PrintToString(content) << ", " << ranks << " ranks";
  }
  TemporaryFolder folder_;
};

TEST_F(Sharding, EveryShortTextAtEveryRankCount) {
  for_each_string("a\n\r", 5, [&](const std::string& text) { check(Format::text, text, naive_lines(text)); });
}

TEST_F(Sharding, EveryShortFastaAtEveryRankCount) {
  for_each_string("a\n>", 5, [&](const std::string& text) { check(Format::fasta, ">" + text, naive_sequences(">" + text)); });
}

TEST_F(Sharding, EveryShortTableAtEveryRankCount) {
  for_each_string("a\n\t", 4, [&](const std::string& text) {
    std::vector<std::string> cells = naive_lines(text);
    for (std::string& cell : cells) cell = cell.substr(0, cell.find('\t'));
    check(Format::tsv, text, cells);
    check(Format::tsv, "x\ty\r\n" + text, cells, true);
  });
}

TEST_F(Sharding, AByteOrderMarkIsNoText) {
  for_each_string("a\n", 4, [&](const std::string& text) {
    if (!text.empty()) check(Format::text, "\xEF\xBB\xBF" + text, naive_lines(text));
    check(Format::fasta, "\xEF\xBB\xBF>" + text, naive_sequences(">" + text));
    check(Format::tsv, "\xEF\xBB\xBFx\n" + text, naive_lines(text), true);
  });
}

TEST_F(Sharding, SeveralFilesEmptyOnesAndOneHugeLine) {
  const std::vector<std::string> contents{"", "a\nb", "", std::string(300'000, 'x'), "\n", "c\r\nd\r\n", ""};
  std::vector<std::string> expected;
  std::vector<CorpusFile> files;
  for (std::size_t k = 0; k < contents.size(); ++k) {
    files.push_back({folder_.write("file" + std::to_string(k), contents[k]), static_cast<Index>(contents[k].size())});
    for (const std::string& line : naive_lines(contents[k])) expected.push_back(line);
  }
  const Corpus corpus = corpus_of(Format::text, files);
  for (int ranks = 1; ranks <= 9; ++ranks) EXPECT_EQ(read_documents(corpus, ranks), expected) << ranks;
}

TEST_F(Sharding, BatchesEndButDocumentsAreWhole) {
  std::string content;
  for (int k = 0; k < 40'000; ++k) content += std::string(static_cast<std::size_t>(k % 7), 'a') + "\n";
  content += std::string(200'000, 'b');
  check(Format::text, content, naive_lines(content));
}

TEST_F(Sharding, MaxTokensCutsEachDocument) {
  Corpus corpus = corpus_of(Format::text, {{folder_.write("file", "abcdef\n\nab\nabc"), 14}});
  corpus.options.max_tokens = 3;
  EXPECT_EQ(read_documents(corpus, 2), (std::vector<std::string>{"abc", "", "ab", "abc"}));
}

TEST_F(Sharding, WhiteSpaceOfSequencesIsRemoved) {
  check(Format::fasta, "\n  \r\n>one >more\r\nAC GT\r\n\tAC\r\n\n>two\n>three\nA", {"ACGTAC", "", "A"});
}

TEST_F(Sharding, DataBeforeTheFirstHeaderIsRefused) {
  const Corpus corpus = corpus_of(Format::fasta, {{folder_.write("file", "\nACGT\n>one\nA\n"), 13}});
  for (int ranks = 1; ranks <= 4; ++ranks) expect_contains(error_of([&] { read_documents(corpus, ranks); }), {"file, line 2", "'>name'"});
}

TEST_F(Sharding, AShortRowIsRefusedWithItsLineAtEveryRankCount) {
  Corpus corpus = corpus_of(Format::tsv, {{folder_.write("file", "a\tb\nc\td\ne\ng\th\n"), 14}});
  corpus.files[0].column = 1;
  for (int ranks = 1; ranks <= 9; ++ranks)
    expect_contains(error_of([&] { read_documents(corpus, ranks); }), {"file, line 3", "1 columns", "--column 1"});
}

TEST(Parts, CompressedFilesGoWholeToTheLeastLoadedRank) {
  const std::vector<CorpusFile> files{{"a", 10, true}, {"b", 70, true}, {"plain", 9, false}, {"c", 30, true}, {"d", 40, true}};
  std::vector<int> owner(5, -1);
  for (int rank = 0; rank < 2; ++rank) {
    for (const Part& part : parts_of(files, rank, 2)) {
      if (part.file == 2) continue;
      EXPECT_EQ(owner[part.file], -1);
      owner[part.file] = rank;
      EXPECT_EQ(part.stride, 1);
    }
  }
  EXPECT_EQ(owner, (std::vector<int>{0, 0, -1, 1, 1}));
}

TEST(Parts, FewerCompressedFilesThanRanksAreReadInTurn) {
  const std::vector<CorpusFile> files{{"a", 10, true}, {"b", 70, true}};
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<Part> parts = parts_of(files, rank, 3);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[1].first, rank);
    EXPECT_EQ(parts[1].stride, 3);
  }
}

TEST(Parts, PlainBytesAreCutEvenlyEvenWhereTheyAreMany) {
  const Index huge = (Index{1} << 62) - 1;
  Index next = 0;
  for (int rank = 0; rank < 1000; ++rank) {
    const std::vector<Part> parts = parts_of({{"a", huge, false}}, rank, 1000);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].range.begin, next);
    EXPECT_NEAR(static_cast<double>(parts[0].range.end - next), static_cast<double>(huge) / 1000, 2.0 + 1e3);
    next = parts[0].range.end;
  }
  EXPECT_EQ(next, huge);
}

}  // namespace
}  // namespace posgeom
