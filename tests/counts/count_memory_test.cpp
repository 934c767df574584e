#include <cmath>
#include <fstream>

#include "counts/counting_support.hpp"
#include "counts/position_table.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 20000;

CountOptions options_for(Index length, bool split = false, bool shuffle = false) {
  CountOptions options = count_options(Sequences::packed, {length});
  options.noise = {.split = split, .shuffle = shuffle};
  return options;
}

std::vector<Count> uneven() {
  std::vector<Count> unigram;
  for (Index v = 1; v <= vocab; ++v) unigram.push_back(1000000 / v);
  return unigram;
}

TEST(CountMemory, GrowsWithWhatIsKept) {
  const Index tokens = Index{1} << 40U;
  const Index plain = count_memory(options_for(4096), vocab, tokens, {}, 1);
  EXPECT_GT(plain, 4096 * vocab * 12) << "compressed rows of a full table";
  EXPECT_LT(plain, 4096 * vocab * 12 + (Index{600} << 20U));
  for (const bool split : {false, true}) {
    EXPECT_GT(count_memory(options_for(4096, split, !split), vocab, tokens, {}, 1), 2 * 4096 * vocab * 12) << "of two tables";
  }
  EXPECT_GT(count_memory(options_for(4096, true, true), vocab, tokens, {}, 1), 4 * 4096 * vocab * 12);
  EXPECT_EQ(count_memory(options_for(4096), vocab, 0, {}, 1), plain) << "an unknown number of tokens fills every cell";
}

TEST(CountMemory, FallsWithTheRanksAndTheTokens) {
  Index before = count_memory(options_for(8192), vocab, Index{1} << 34U, {}, 1);
  for (const int ranks : {2, 4, 8}) {
    const Index with = count_memory(options_for(8192), vocab, Index{1} << 34U, {}, ranks);
    EXPECT_LT(with, before);
    before = with;
  }
  EXPECT_LT(count_memory(options_for(8192), vocab, 1000000, {}, 1), count_memory(options_for(8192), vocab, 100000000, {}, 1));
  EXPECT_LT(count_memory(options_for(8192), vocab, 100000000, uneven(), 1), count_memory(options_for(8192), vocab, 100000000, {}, 1));
}

TEST(CountMemory, OthersRowsAreHandedOverWhereMemoryIsLimited) {
  CountOptions options = options_for(16384);
  const Index free = count_memory(options, vocab, Index{1} << 34U, {}, 64);
  options.memory_bytes = Index{300} << 20U;
  const Index limited = count_memory(options, vocab, Index{1} << 34U, {}, 64);
  EXPECT_LE(limited, options.memory_bytes);
  EXPECT_GT(free, options.memory_bytes);
}

TEST(CountMemory, NoOverflowForTheLargestTables) {
  CountOptions options = options_for(131072, true, true);
  EXPECT_GT(count_memory(options, 262144, Index{10000} << 30U, {}, 1), Index{131072} * 262144 * 12 * 3);
}

#if !defined(__SANITIZE_ADDRESS__)

Index of_status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size())) << 10U;
  }
  return -1;
}

TEST(CountMemory, IsWhatCountingTakes) {
  // Ids drawn with frequencies as 1 / (v + 1): a few megabytes of rows more than MPI's and the allocator's noise.
  const Folder folder;
  constexpr Index tokens = 8000000;
  std::vector<Count> unigram(static_cast<std::size_t>(vocab));
  std::string bytes;
  Dice dice(3);
  for (Index k = 0; k < tokens; ++k) {
    const auto id =
        std::min(static_cast<Index>(std::exp(static_cast<double>(dice(1 << 30)) / (1 << 30) * std::log(vocab + 1.0)) - 1), vocab - 1);
    ++unigram[static_cast<std::size_t>(id)];
    bytes += static_cast<char>(id & 255);
    bytes += static_cast<char>(id >> 8U);
  }
  CorpusOptions corpus_options;
  corpus_options.paths = {folder.write("tokens.bin", bytes)};
  corpus_options.format = Format::raw16;
  corpus_options.vocab_size = vocab;
  corpus_options.separator.choice = Separator::Choice::none;
  for (const Index length : {512, 4096}) {
    Corpus corpus = open_corpus(world(), corpus_options);
    std::ofstream("/proc/self/clear_refs") << "5";  // the high-water mark begins anew
    const Index before = of_status("VmRSS:");
    if (of_status("VmHWM:") > before + (Index{8} << 20U)) GTEST_SKIP() << "the system does not let the high-water mark be reset";
    const CorpusCounts counts = count_corpus(world(), corpus, options_for(length));
    const Index most = all_reduce(world(), of_status("VmHWM:") - before, Reduction::maximum);
    EXPECT_EQ(counts.token_count, tokens);
    const Index expected = count_memory(options_for(length), vocab, tokens, unigram, world().size());
    EXPECT_NEAR(static_cast<double>(most), static_cast<double>(expected), 0.15 * static_cast<double>(expected) + double(Index{8} << 20U));
  }
}

#endif

}  // namespace
}  // namespace posgeom
