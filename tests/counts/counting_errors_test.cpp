
#include "counts/count_tables.hpp"
#include "counts/counting_support.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 40;

class CountingErrors : public testing::Test {
 protected:
  Folder folder_;
};

TEST_F(CountingErrors, OneRanksFailureEndsAllWithItsPlace) {
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{150}, std::size_t{299}}) {
      Documents documents = some_documents(300, 30, vocab, 5);
      documents[bad] = {static_cast<Token>(vocab)};  // the first id that there is not
      Corpus corpus = open_documents(folder_, documents, vocab, 80);
      expect_contains(error_of([&] { count_corpus(world(), corpus, count_options(sequences, {8})); }),
                      {"documents.txt", "line " + std::to_string(bad + 1), "w" + std::to_string(vocab)});
    }
  }
}

TEST_F(CountingErrors, AFileThatShrankOrWentIsRefusedOnEveryRank) {
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    for (const bool remove : {false, true}) {
      Corpus corpus = open_documents(folder_, some_documents(300, 30, vocab, 5), vocab, 80);
      if (world().is_root() && remove) std::filesystem::remove(corpus.files[0].path);
      if (world().is_root() && !remove) std::filesystem::resize_file(corpus.files[0].path, 50);
      barrier(world());
      expect_contains(error_of([&] { count_corpus(world(), corpus, count_options(sequences, {8})); }), {"documents.txt"});
    }
  }
}

TEST_F(CountingErrors, AFileThatShrinksWhileItIsCounted) {
  Corpus corpus = open_documents(folder_, some_documents(3000, 60, vocab, 5), vocab, 300);
  int rounds = 0;
  CountHooks hooks;
  hooks.round_seconds = 0;
  hooks.progress = [&](const CountStatus& status) {
    if (!status.indexing && ++rounds == 2 && world().is_root()) std::filesystem::resize_file(corpus.files[0].path, 500);
  };
  expect_contains(error_of([&] { count_corpus(world(), corpus, count_options(Sequences::document, {8}), hooks); }), {"documents.txt"});
}

TEST_F(CountingErrors, AnIdThatThereIsNotInOneRanksPartOfATokenFile) {
  for (const std::size_t bad : {0, 70000, 149999}) {
    std::vector<std::uint16_t> ids(150000, 3);
    ids[bad] = static_cast<std::uint16_t>(vocab);
    CorpusOptions options;
    options.paths = {folder_.write("ids.bin", std::string(reinterpret_cast<const char*>(ids.data()), 2 * ids.size()))};
    options.format = Format::raw16;
    options.vocab_size = vocab;
    options.separator.choice = Separator::Choice::none;
    options.unit_bytes = 20000;
    Corpus corpus = open_corpus(world(), options);
    expect_contains(error_of([&] { count_corpus(world(), corpus, count_options(Sequences::packed, {64})); }),
                    {"ids.bin", std::to_string(vocab)});
  }
}

TEST_F(CountingErrors, LengthsOutOfRange) {
  Corpus corpus = open_documents(folder_, {{1, 2}}, vocab);
  for (const Index length : {Index{0}, Index{-3}, Index{1} << 31U, Index{1} << 62U}) {
    expect_contains(error_of([&] { count_corpus(world(), corpus, count_options(Sequences::document, {length})); }),
                    {"--lengths", std::to_string(length), "from 1 to 2147483647"});
  }
  EXPECT_THROW(count_corpus(world(), corpus, count_options(Sequences::document, {})), CollectiveError);
  EXPECT_THROW(count_corpus(world(), corpus, count_options(Sequences::document, {3, 3})), CollectiveError);
  EXPECT_THROW(count_corpus(world(), corpus, count_options(Sequences::document, {3, 2})), CollectiveError);
}

class CountingMemory : public CountingErrors {
 protected:
  static constexpr Index vocab_size = 3000;
  Documents documents_ = some_documents(3000, 60, vocab_size, 8);

  CountOptions options_for(Sequences sequences, Index memory_bytes) const {
    CountOptions options = count_options(sequences, {50});
    options.memory_bytes = memory_bytes;
    options.chunk = 1000;
    return options;
  }
  bool fits(Corpus& corpus, const CountOptions& options) const {
    try {
      count_corpus(world(), corpus, options);
      return true;
    } catch (const CollectiveError&) {
      return false;
    }
  }
};

TEST_F(CountingMemory, TooLittleIsRefusedWithWhatWouldDo) {
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    Corpus corpus = open_documents(folder_, documents_, vocab_size, 5000);
    const std::string text = error_of([&] { count_corpus(world(), corpus, options_for(sequences, 100000)); });
    expect_contains(text, {"--memory", "found --memory 98 KiB", "rank", "needs", "would do"});
    const std::size_t end = text.find(" KiB would do"), begin = text.rfind(' ', end - 1);
    ASSERT_NE(end, std::string::npos) << text;  // the text is the same on every rank
    EXPECT_EQ(text.substr(begin - 8, 8), "--memory") << text;
    const Index advised = std::stoll(text.substr(begin + 1, end - begin - 1));
    EXPECT_TRUE(fits(corpus, options_for(sequences, advised << 10U))) << "the advice works: " << text;
  }
}

/// With a memory that buffers nearly fill, others' rows are handed over again and again.
TEST_F(CountingMemory, HandingOverAgainAndAgainGivesTheSameCounts) {
  const Documents documents = some_documents(2000, 60, vocab, 9);
  for (const Sequences sequences : {Sequences::document, Sequences::packed}) {
    for (const bool noise : {false, true}) {
      Corpus corpus = open_documents(folder_, documents, vocab, 4000);
      CountOptions options = count_options(sequences, {50});
      options.noise = {.split = noise, .shuffle = noise};
      options.chunk = 1000;
      const WholeCounts expected = naive_count(documents, options, vocab, naive_halves(std::ssize(documents), options.noise));
      int most_rounds = 0, tried = 0;
      Index tokens = 0;
      for (const auto& document : documents) tokens += std::ssize(document);
      for (Index memory = 20000; memory < (Index{32} << 20U) && tried < 40 && most_rounds <= 5; memory += memory / 100) {
        options.memory_bytes = memory;
        const MemoryShares shares = memory_shares(options, world().size(), tokens);
        const Index buffers = CountTables(options, vocab, shares, world().rank(), world().size()).bytes() + 16 * shares.message;
        if (buffers < memory / 100 * 85 || buffers > memory) continue;
        ++tried;
        if (!fits(corpus, options)) continue;
        int rounds = 0;
        CountHooks hooks;
        hooks.round_seconds = 1e9;  // so that a round ends for want of memory, or at the end
        hooks.progress = [&](const CountStatus& status) { rounds += status.indexing ? 0 : 1; };
        EXPECT_TRUE(gather(world(), count_corpus(world(), corpus, options, hooks)) == expected) << memory;
        most_rounds = std::max(most_rounds, rounds);
      }
      EXPECT_GT(most_rounds, 5) << tried << " sizes";
    }
  }
}

}  // namespace
}  // namespace posgeom
