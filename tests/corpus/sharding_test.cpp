#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "corpus/unit_walk.hpp"
#include "corpus_files.hpp"
#include "support/scale.hpp"

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
  /// One file of this content gives `expected` for every size of units and every number of ranks, compressed too.
  void check(Format format, const std::string& content, const std::vector<std::string>& expected, bool header = false) {
    Corpus corpus = corpus_of(format, {{folder_.write("file", content), static_cast<Index>(content.size())}}, header);
    for (const Index unit_bytes : {1, 2, 3, 5, 0}) {
      corpus.options.unit_bytes = content.size() < 1000 || unit_bytes == 0 ? unit_bytes : 10'000 * unit_bytes;
      for (const int ranks : {1, 2, 3, 9}) {
        ASSERT_EQ(read_documents(corpus, ranks), expected)
            << testing::PrintToString(content.substr(0, 100)) << ", units of " << unit_bytes << ", " << ranks << " ranks";
      }
    }
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
  const std::vector<std::string> contents{
      "", "a\nb", "", std::string(static_cast<std::size_t>(testing_support::scaled(300'000, 30'000)), 'x'), "\n", "c\r\nd\r\n", ""};
  std::vector<std::string> expected;
  std::vector<CorpusFile> files;
  for (std::size_t k = 0; k < contents.size(); ++k) {
    files.push_back({folder_.write("file" + std::to_string(k), contents[k]), static_cast<Index>(contents[k].size())});
    for (const std::string& line : naive_lines(contents[k])) expected.push_back(line);
  }
  Corpus corpus = corpus_of(Format::text, files);
  for (const Index unit_bytes : {1, 7, 100'000, 0}) {
    corpus.options.unit_bytes = unit_bytes;
    for (int ranks = 1; ranks <= 9; ranks += unit_bytes == 1 ? 4 : 1) EXPECT_EQ(read_documents(corpus, ranks), expected) << ranks;
  }
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
  Corpus corpus = corpus_of(Format::fasta, {{folder_.write("file", "\nACGT\n>one\nA\n"), 13}});
  corpus.options.unit_bytes = 3;
  for (int ranks = 1; ranks <= 4; ++ranks) expect_contains(error_of([&] { read_documents(corpus, ranks); }), {"file, line 2", "'>name'"});
}

TEST_F(Sharding, AShortRowIsRefusedWithItsLineAtEveryRankCount) {
  Corpus corpus = corpus_of(Format::tsv, {{folder_.write("file", "a\tb\nc\td\ne\ng\th\n"), 14}});
  corpus.files[0].column = 1;
  corpus.options.unit_bytes = 3;
  for (int ranks = 1; ranks <= 9; ++ranks)
    expect_contains(error_of([&] { read_documents(corpus, ranks); }), {"file, line 3", "1 columns", "--column 1"});
}

/// Units of `unit_bytes` bytes each.
FileRest known_file(Index units, Index unit_bytes) { return {units, false, units * unit_bytes}; }
FileRest streamed_file(Index bytes) { return {-1, true, bytes}; }

TEST(Shares, StreamedFilesGoWholeToTheLeastLoadedRank) {
  const std::vector<FileRest> files{streamed_file(10), streamed_file(70), known_file(1, 9), streamed_file(30), streamed_file(40)};
  for (const bool whole : {false, true}) {
    std::vector<int> owner(5, -1);
    for (int rank = 0; rank < 2; ++rank) {
      for (const FileShare& share : share_units(files, rank, 2, whole, [](UnitId) { return 9; })) {
        EXPECT_FALSE(share.in_turn);
        EXPECT_EQ(owner[static_cast<std::size_t>(share.file)], -1);
        owner[static_cast<std::size_t>(share.file)] = rank;
      }
    }
    EXPECT_EQ(owner, (std::vector<int>{0, 0, 1, 1, 1}));
  }
}

TEST(Shares, FewerStreamedFilesThanRanksAreReadInTurn) {
  std::vector<FileRest> files{streamed_file(10), streamed_file(0), streamed_file(70)};
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<FileShare> shares = share_units(files, rank, 3, false, [](UnitId) { return 0; });
    ASSERT_EQ(shares.size(), 2U) << "a file without anything left is nobody's";
    for (const FileShare& share : shares) EXPECT_TRUE(share.in_turn && share.streamed && share.end == -1);
    EXPECT_EQ(shares[1].file, 2);
  }
  int owners = 0;
  for (int rank = 0; rank < 3; ++rank) owners += static_cast<int>(share_units(files, rank, 3, true, [](UnitId) { return 0; }).size());
  EXPECT_EQ(owners, 2) << "whole files, where that was asked for";
}

TEST(Shares, KnownBytesAreCutEvenlyEvenWhereTheyAreMany) {
  const Index units = 65536, bytes = (Index{1} << 46) - 1;
  Index next = 0;
  for (int rank = 0; rank < 100; ++rank) {
    const std::vector<FileShare> shares = share_units({known_file(units, bytes)}, rank, 100, false, [](UnitId) { return bytes; });
    ASSERT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares[0].first, next);
    EXPECT_NEAR(static_cast<double>(shares[0].end - next), 655.36, 1.0);
    EXPECT_EQ(shares[0].bytes, (shares[0].end - next) * bytes);
    next = shares[0].end;
  }
  EXPECT_EQ(next, units);
}

TEST(Shares, EveryUnitThatIsLeftIsGivenOnceAndWhatIsLeftIsBalanced) {
  std::uint32_t state = 3;
  const auto draw = [&state](Index below) {
    state = state * 1664525 + 1013904223;
    return static_cast<Index>(state >> 8) % below;
  };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<FileRest> files;
    std::vector<std::vector<Index>> weights;
    Index total = 0, largest = 0;
    for (Index file = draw(5); file >= 0; --file) {
      std::vector<Index>& of_file = weights.emplace_back();
      for (Index unit = draw(30); unit > 0; --unit) of_file.push_back(draw(3) == 0 ? 0 : 1 + draw(50));
      files.push_back({std::ssize(of_file), false, std::accumulate(of_file.begin(), of_file.end(), Index{0})});
      total += files.back().bytes;
      for (const Index weight : of_file) largest = std::max(largest, weight);
    }
    const auto weight = [&](UnitId id) { return weights[static_cast<std::size_t>(id.file)][static_cast<std::size_t>(id.unit)]; };
    for (int ranks = 1; ranks <= 7; ++ranks) {
      std::vector<std::pair<Index, Index>> given;
      for (int rank = 0; rank < ranks; ++rank) {
        Index mine = 0;
        for (const FileShare& share : share_units(files, rank, ranks, false, weight)) {
          Index bytes = 0;
          for (Index unit = share.first; unit < share.end; ++unit) {
            bytes += weight({share.file, unit});
            if (weight({share.file, unit}) > 0) given.emplace_back(share.file, unit);
          }
          EXPECT_EQ(bytes, share.bytes);
          mine += bytes;
        }
        EXPECT_LE(std::abs(mine - total / ranks), largest + 1);
      }
      std::vector<std::pair<Index, Index>> expected;
      for (Index file = 0; file < std::ssize(files); ++file) {
        for (Index unit = 0; unit < files[static_cast<std::size_t>(file)].unit_count; ++unit) {
          if (weight({file, unit}) > 0) expected.emplace_back(file, unit);
        }
      }
      EXPECT_EQ(given, expected) << "consecutive, in the order of the corpus";
    }
  }
}

}  // namespace
}  // namespace posgeom
