#include "counts/counting_support.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 23;

void expect_equal(const WholeCounts& found, const WholeCounts& expected) {
  EXPECT_EQ(found.documents, expected.documents);
  EXPECT_EQ(found.empty, expected.empty);
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.longest, expected.longest);
  EXPECT_EQ(found.tables.size(), expected.tables.size());
  for (std::size_t k = 0; k < std::min(found.tables.size(), expected.tables.size()); ++k) {
    EXPECT_EQ(found.tables[k].length, expected.tables[k].length);
    EXPECT_EQ(found.tables[k].shuffled, expected.tables[k].shuffled);
    EXPECT_TRUE(found.tables[k].all == expected.tables[k].all) << "table " << k;
    EXPECT_TRUE(found.tables[k].half_a == expected.tables[k].half_a) << "half a of table " << k;
  }
}

std::string describe(const CountOptions& options, Index unit_bytes) {
  std::string text(name_of(options.sequences));
  for (const Index n : options.lengths) text += " " + std::to_string(n);
  const NoiseOptions& noise = options.noise;
  return text + (options.drop_last_block ? " drop" : "") + (noise.shuffle ? " shuffle" : "") +
         (noise.split ? " split by " + std::to_string(static_cast<int>(noise.split_by)) : "") + " units of " + std::to_string(unit_bytes);
}

class CountCorpus : public testing::TestWithParam<Sequences> {
 protected:
  void expect_naive(const Documents& documents, const CountOptions& options, Index unit_bytes, const CountHooks& hooks = {}) {
    SCOPED_TRACE(describe(options, unit_bytes));
    Corpus corpus = open_documents(folder_, documents, vocab, unit_bytes);
    const std::vector<int> halves = naive_halves(std::ssize(documents), options.noise);
    expect_equal(gather(world(), count_corpus(world(), corpus, options, hooks)), naive_count(documents, options, vocab, halves));
  }
  Folder folder_;
};

TEST_P(CountCorpus, EqualsTheNaiveCountForEveryCombination) {
  const Documents documents = some_documents(150, 60, vocab);
  for (const std::vector<Index>& lengths : {std::vector<Index>{1}, {7}, {3, 16, 40}, {5, 1000}}) {
    for (const bool split : {false, true}) {
      for (const bool shuffle : {false, true}) {
        for (const Index unit_bytes : {0, 37, 700}) {
          CountOptions options = count_options(GetParam(), lengths);
          options.noise = {.split = split, .shuffle = shuffle, .seed = 5};
          if (split && lengths.size() == 3) options.noise.split_by = SplitBy::block, options.noise.block = 4;
          options.drop_last_block = unit_bytes == 700;
          expect_naive(documents, options, unit_bytes);
        }
      }
    }
  }
}

TEST_P(CountCorpus, StreamsAroundOneLength) {
  constexpr Index n = 12;
  for (const Index size : {n - 1, n, n + 1, 2 * n, 2 * n + 1, Index{1}, Index{0}}) {
    for (const Index documents : {1, 3}) {
      Documents some(static_cast<std::size_t>(documents));
      for (Index k = 0; k < size; ++k) some[static_cast<std::size_t>(k * documents / size)].push_back(static_cast<Token>(k % vocab));
      for (const bool drop : {false, true}) {
        CountOptions options = count_options(GetParam(), {n});
        options.drop_last_block = drop;
        options.noise = {.split = true, .shuffle = true};
        for (const Index unit_bytes : {0, 16}) expect_naive(some, options, unit_bytes);
      }
    }
  }
}

TEST_P(CountCorpus, EmptyDocumentsAnywhere) {
  CountOptions options = count_options(GetParam(), {3});
  options.noise = {.split = true, .shuffle = true};
  for (const Documents& documents : {Documents{{}, {1, 2}}, {{1, 2}, {}}, {{}, {}, {}}, {{1}, {}, {}, {2, 3, 4, 5}, {}}, {}}) {
    for (const Index unit_bytes : {0, 1, 5}) expect_naive(documents, options, unit_bytes);
  }
}

TEST_P(CountCorpus, MessagesAndMemorySoSmallThatRowsAreHandedOverAllTheTime) {
  const Documents documents = some_documents(200, 50, vocab, 3);
  for (const Index chunk : {1, 3, 100}) {
    for (const bool all : {false, true}) {
      CountOptions options = count_options(GetParam(), {4, 33});
      options.chunk = chunk;
      options.noise = {.split = all, .shuffle = all};
      expect_naive(documents, options, 100);
    }
  }
}

/// Ids of 16 and of 32 bits, the last of them ending each document.
TEST_P(CountCorpus, TokenFilesGiveTheCountsOfTheirDocuments) {
  const Documents documents = some_documents(300, 60, vocab, 6);
  std::string narrow, wide;
  const auto put = [&](Token id) {
    for (int byte = 0; byte < 4; ++byte) wide += static_cast<char>(id >> (8 * byte));
    for (int byte = 0; byte < 2; ++byte) narrow += static_cast<char>(id >> (8 * byte));
  };
  for (const auto& document : documents) {
    for (const Token token : document) put(token);
    put(vocab);
  }
  for (const Format format : {Format::raw16, Format::raw32}) {
    for (const Index unit_bytes : {0, 150}) {
      CorpusOptions corpus_options;
      corpus_options.paths = {folder_.write("tokens.bin", format == Format::raw16 ? narrow : wide)};
      corpus_options.format = format;
      corpus_options.vocab_size = vocab + 1;
      corpus_options.separator = {Separator::Choice::given, vocab};
      corpus_options.unit_bytes = unit_bytes;
      Corpus corpus = open_corpus(world(), corpus_options);
      CountOptions options = count_options(GetParam(), {5, 32});
      options.noise = {.split = true, .shuffle = true};
      expect_equal(gather(world(), count_corpus(world(), corpus, options)),
                   naive_count(documents, options, vocab + 1, naive_halves(std::ssize(documents), options.noise)));
    }
  }
}

TEST_P(CountCorpus, ProgressReachesTheEnd) {
  const Documents documents = some_documents(300, 40, vocab, 4);
  CountStatus last;
  int rounds = 0;
  CountHooks hooks;
  hooks.round_seconds = 0;
  hooks.progress = [&](const CountStatus& status) {
    if (status.indexing) return;
    EXPECT_GE(status.bytes_done, last.bytes_done);
    EXPECT_GE(status.tokens, last.tokens);
    last = status;
    ++rounds;
  };
  expect_naive(documents, count_options(GetParam(), {8}), 200, hooks);
  Index tokens = 0;
  for (const auto& document : documents) tokens += std::ssize(document);
  EXPECT_EQ(last.tokens, tokens);
  EXPECT_EQ(last.bytes_done, last.bytes_total);
  EXPECT_GT(last.bytes_total, 0);
  EXPECT_GT(rounds, 3);
  EXPECT_EQ(all_reduce(world(), rounds, Reduction::minimum), all_reduce(world(), rounds, Reduction::maximum));
}

INSTANTIATE_TEST_SUITE_P(Sequences, CountCorpus, testing::Values(Sequences::document, Sequences::chunk, Sequences::packed),
                         [](const auto& param) { return std::string(name_of(param.param)); });

TEST(SequencesNamed, ListsTheNames) {
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    EXPECT_EQ(sequences_named(name_of(sequences)), sequences);
  }
  expect_contains(error_of([] { sequences_named("pack"); }), {"--sequences", "'pack'", "document, chunk, packed"});
}

TEST(OwnedPositions, CoverEveryPositionOnce) {
  for (const Index length : {0, 1, 2, 5, 12, 13}) {
    for (const int ranks : {1, 2, 3, 5, 20}) {
      Index next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const OwnedPositions own = owned_positions(length, rank, ranks);
        EXPECT_EQ(own.first, next);
        EXPECT_LE(own.rows, (length + ranks - 1) / ranks);
        next += own.rows;
      }
      EXPECT_EQ(next, length);
    }
  }
}

TEST(ReadOptionsFor, AsksForNoMoreThanIsNeeded) {
  const auto with = [](Sequences sequences, bool split, bool shuffle, SplitBy by = SplitBy::document) {
    CountOptions options = count_options(sequences, {4, 9});
    options.noise = {.split = split, .shuffle = shuffle, .split_by = by};
    return read_options_for(options);
  };
  for (const Sequences sequences : {Sequences::document, Sequences::chunk}) {
    EXPECT_FALSE(with(sequences, true, true).stream);
    EXPECT_FALSE(with(sequences, false, false).document_index);
    EXPECT_FALSE(with(sequences, true, false, SplitBy::column).document_index);
    EXPECT_TRUE(with(sequences, true, false).document_index);
    EXPECT_TRUE(with(sequences, true, false, SplitBy::block).document_index);
    EXPECT_TRUE(with(sequences, false, true).document_index);
    EXPECT_EQ(with(sequences, true, true).overlap, 0);
  }
  EXPECT_TRUE(with(Sequences::packed, false, false).stream);
  EXPECT_FALSE(with(Sequences::packed, false, true).document_index) << "blocks are numbered, documents need not be";
  EXPECT_TRUE(with(Sequences::packed, true, false).document_index);
  EXPECT_EQ(with(Sequences::packed, true, false).overlap, 0);
  EXPECT_EQ(with(Sequences::packed, false, true).overlap, 8);
}

}  // namespace
}  // namespace posgeom
