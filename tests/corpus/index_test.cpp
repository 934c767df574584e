#include <gtest/gtest.h>

#include "corpus/corpus_index.hpp"
#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

class Indexing : public testing::Test {
 protected:
  Corpus open(Format format, const std::vector<std::string>& contents, bool packed, Index unit_bytes) {
    Corpus corpus;
    corpus.options.format = format;
    corpus.options.unit_bytes = unit_bytes;
    for (std::size_t k = 0; k < contents.size(); ++k) {
      const bool pack = packed && k % 3 != 1;
      const std::string bytes = pack ? compress(contents[k], "gz") : contents[k];
      corpus.files.push_back({folder_.write(std::to_string(k) + (pack ? "p" : "t"), bytes), std::ssize(bytes), pack});
    }
    corpus.tokenizer = bytes_tokenizer();
    corpus.vocab_size = 256;
    return corpus;
  }
  TemporaryFolder folder_;
};

/// Documents and tokens before each unit, by reading every unit on one rank.
void expect_index(const Corpus& corpus, const ReadOptions& options) {
  ASSERT_NE(corpus.index, nullptr);
  Index documents = 0, tokens = 0;
  ASSERT_EQ(corpus.index->files.size(), corpus.files.size());
  for (Index file = 0; file < std::ssize(corpus.files); ++file) {
    const auto source = open_text_units(corpus, file, options);
    Index unit = 0;
    for (; source->open(unit); ++unit) {
      const UnitSize before = corpus.index->before({file, unit});
      EXPECT_EQ(before.documents, options.document_index ? documents : -1) << file << ' ' << unit;
      EXPECT_EQ(before.tokens, options.stream ? tokens : -1) << file << ' ' << unit;
      TokenBatch batch;
      while (source->next(batch)) {
      }
      documents += std::ssize(batch.pieces);
      tokens += batch.token_count();
    }
    EXPECT_EQ(corpus.index->unit_count(file), unit);
  }
  EXPECT_EQ(indexed_document_count(corpus), options.document_index ? documents : -1);
  EXPECT_EQ(indexed_token_count(corpus), options.stream ? tokens : -1);
}

TEST_F(Indexing, SaysWhatComesBeforeEachUnitOnEveryRank) {
  const std::vector<std::string> lines{"one\ntwo\n\nfour",    "", "\n\n\nfive\n" + std::string(90, 'x') + "\nend", "a\n", "b",
                                       std::string(300, '\n')};
  for (const bool packed : {false, true}) {
    for (const Index unit_bytes : {1, 7, 100, 0}) {
      for (const ReadOptions options : {ReadOptions{false, true}, ReadOptions{true}, ReadOptions{true, true}, ReadOptions{true, true, 5}}) {
        Corpus corpus = open(Format::text, lines, packed, unit_bytes);
        EXPECT_TRUE(index_corpus(world(), corpus, options));
        expect_index(corpus, options);
        if (HasFailure()) return;
      }
    }
  }
  const std::vector<std::string> fasta{">a\nAC\nGT\n>b\n", "\n>c\nA", ""};
  for (const bool packed : {false, true}) {
    Corpus corpus = open(Format::fasta, fasta, packed, 4);
    index_corpus(world(), corpus, {false, true});
    expect_index(corpus, {false, true});
    EXPECT_EQ(indexed_document_count(corpus), 3);
  }
}

TEST_F(Indexing, DocumentsAloneAreCountedWithoutATokenizer) {
  Corpus corpus = open(Format::text, {"a\nb\n", "c"}, true, 0);
  corpus.tokenizer.reset();
  EXPECT_TRUE(index_corpus(world(), corpus, {false, true}));
  EXPECT_EQ(indexed_document_count(corpus), 3);
  EXPECT_FALSE(index_corpus(world(), corpus, {})) << "nothing is needed, nothing is read";
}

TEST_F(Indexing, ErrorsAndStopsReachEveryRank) {
  const std::string text = "a\tb\nc\td\ne\ng\th\n";
  Corpus corpus = open(Format::tsv, {text}, false, 3);
  corpus.files[0].column = 1;
  for (const ReadOptions options : {ReadOptions{false, true}, ReadOptions{true}}) {
    try {
      index_corpus(world(), corpus, options);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const CollectiveError& error) {
      expect_contains(error.what(), {"0t, line 3", "1 columns", "--column 1"});
    }
    EXPECT_EQ(corpus.index, nullptr);
  }
  corpus.files[0].column = 0;
  const int last = world().size() - 1;
  try {
    index_corpus(world(), corpus, {false, true}, [last](Index done, Index total) {
      EXPECT_LE(done, total);
      if (world().rank() == last) throw Error("stopped here", ErrorKind::stopped);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CollectiveError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::stopped);
    expect_contains(error.what(), {"stopped here"});
  }
}

TEST_F(Indexing, PartsOfTheRanksTogetherAreTheWhole) {
  std::vector<std::string> contents{"one\ntwo\n\nfour\n", "", std::string(100, 'x') + "\n", "a\nb\nc\n", "d\n"};
  std::string whole;
  for (const std::string& content : contents) whole += content;
  std::erase(whole, '\n');
  for (const bool packed : {false, true}) {
    for (const Sharing sharing : {Sharing::runs, Sharing::in_turn}) {
      for (const Index overlap : {0, 6}) {
        Corpus corpus = open(Format::text, contents, packed, 9);
        const ReadOptions options{true, true, overlap};
        index_corpus(world(), corpus, options);
        std::vector<Count> seen(static_cast<std::size_t>(indexed_token_count(corpus) * 256), 0);
        DocumentReader reader(corpus, options, world().rank(), world().size(), sharing);
        TokenBatch batch;
        while (reader.next(batch)) {
          for (Index k = 0; k < batch.own_tokens; ++k)
            ++seen.at(static_cast<std::size_t>((batch.stream_position + k) * 256 + batch.wide[static_cast<std::size_t>(k)]));
        }
        all_reduce(world(), std::span<Count>(seen));
        ASSERT_EQ(std::ssize(seen), std::ssize(whole) * 256);
        for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], static_cast<unsigned char>(whole[k / 256]) == k % 256 ? 1 : 0);
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
