#include <cmath>

#include "counts/counting_support.hpp"

/// Counts of resampled documents and blocks.
namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index vocab = 23;

/// Cells of replicate r by the definition: every unit as often as its weight says.
std::vector<Count> naive_replicate(const Documents& documents, const CountOptions& options, Index length, Index replicate) {
  std::vector<Count> cells(static_cast<std::size_t>(length * vocab));
  Index place = 0;
  Index tokens = 0;
  for (const auto& document : documents) tokens += std::ssize(document);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    for (std::size_t i = 0; i < documents[d].size(); ++i, ++place) {
      const auto position = static_cast<Index>(i);
      Index unit = static_cast<Index>(d);
      Index at = position;
      if (options.sequences == Sequences::document && position >= length) continue;
      if (options.sequences == Sequences::chunk) at = position % length;
      if (options.sequences == Sequences::packed) {
        if (options.drop_last_block && place >= tokens / length * length) continue;
        unit = place / length;
        at = place % length;
      }
      cells[static_cast<std::size_t>(at * vocab + documents[d][i])] += bootstrap_weight(options.resampling.seed, replicate, unit);
    }
  }
  return cells;
}

class Bootstrap : public ::testing::TestWithParam<Sequences> {};

TEST_P(Bootstrap, CountsEveryUnitAsOftenAsItsWeightSays) {
  const Folder folder;
  const Documents documents = some_documents(150, 40, vocab);
  for (const bool drop : {false, true}) {
    for (const Index unit_bytes : {0, 300}) {
      Corpus corpus = open_documents(folder, documents, vocab, unit_bytes);
      CountOptions options = count_options(GetParam(), {5, 16});
      options.resampling = {.first = 2, .count = 3, .seed = 9};
      options.drop_last_block = drop;
      const CorpusCounts counts = count_corpus(world(), corpus, options);
      const bool one = GetParam() == Sequences::document;
      ASSERT_EQ(counts.tables.size(), one ? 3U : 6U);
      for (const CountTable& table : counts.tables) {
        const std::vector<Count> found = gather(world(), table.all, table.length, vocab);
        EXPECT_EQ(found, naive_replicate(documents, options, table.length, table.replicate)) << table.length << " " << table.replicate;
      }
      EXPECT_EQ(counts.tables.front().replicate, 2);
      EXPECT_EQ(counts.tables.back().replicate, 4);
      EXPECT_EQ(counts.document_count, 150);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfEach, Bootstrap, ::testing::Values(Sequences::document, Sequences::chunk, Sequences::packed),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(BootstrapWeights, ArePoissonOfMeanOneAndDifferBySeedAndReplicate) {
  constexpr Index draws = 20000;
  std::vector<Index> times(8);
  Index same_seed = 0, same_replicate = 0;
  double sum = 0, squares = 0;
  for (Index unit = 0; unit < draws; ++unit) {
    const Index weight = bootstrap_weight(1, 0, unit);
    ++times[static_cast<std::size_t>(std::min<Index>(weight, 7))];
    sum += static_cast<double>(weight);
    squares += static_cast<double>(weight * weight);
    same_seed += weight == bootstrap_weight(2, 0, unit) ? 1 : 0;
    same_replicate += weight == bootstrap_weight(1, 1, unit) ? 1 : 0;
  }
  EXPECT_NEAR(sum / draws, 1, 5 / std::sqrt(draws));
  EXPECT_NEAR(squares / draws, 2, 5 * std::sqrt(11.0 / draws));
  double probability = std::exp(-1.0);
  double collision = 0;
  for (int k = 0; k < 7; probability /= ++k) {
    EXPECT_NEAR(static_cast<double>(times[static_cast<std::size_t>(k)]), draws * probability, 5 * std::sqrt(draws * probability)) << k;
    collision += probability * probability;
  }
  for (const Index same : {same_seed, same_replicate})
    EXPECT_NEAR(static_cast<double>(same), draws * collision, 5 * std::sqrt(draws * collision));
}

}  // namespace
}  // namespace posgeom
