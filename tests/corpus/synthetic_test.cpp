#include "posgeom/corpus/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

SyntheticOptions options(SyntheticKind kind, Index positions = 8, Index vocab_size = 12) {
  SyntheticOptions o;
  o.kind = kind;
  o.positions = positions;
  o.vocab_size = vocab_size;
  o.lengths = {DocumentLengths::Law::uniform, 1, static_cast<double>(positions)};
  return o;
}

TEST(Synthetic, RowsAreDistributions) {
  for (const SyntheticKind kind : {SyntheticKind::planted, SyntheticKind::drift, SyntheticKind::stationary}) {
    SyntheticOptions o = options(kind, 5, 17);
    o.overlap = 0.25;
    const SyntheticCorpus corpus(o);
    const Index k = corpus.component_count();
    EXPECT_EQ(k, kind == SyntheticKind::stationary ? 1 : 3);
    for (Index c = 0; c < k; ++c) {
      double sum = 0;
      for (Index v = 0; v < o.vocab_size; ++v) sum += corpus.components()[static_cast<std::size_t>(c * o.vocab_size + v)];
      EXPECT_NEAR(sum, 1, 1e-14);
    }
    for (Index i = 0; i < o.positions; ++i) {
      double sum = 0;
      for (Index c = 0; c < k; ++c) sum += corpus.weights()[static_cast<std::size_t>(i * k + c)];
      EXPECT_NEAR(sum, 1, 1e-14);
    }
  }
}

TEST(Synthetic, PlantedComponentsShareNoToken) {
  const SyntheticCorpus corpus(options(SyntheticKind::planted));
  for (Index c = 0; c < 3; ++c) {
    for (Index v = 0; v < 12; ++v) EXPECT_EQ(corpus.components()[static_cast<std::size_t>(c * 12 + v)] > 0, v % 3 == c);
  }
}

/// Pearson's statistic of the tokens at each position, standardised: mean 0, variance 1 where the law is the exact one.
TEST(Synthetic, TokensFollowTheExactDistributions) {
  for (const SyntheticKind kind : {SyntheticKind::planted, SyntheticKind::drift, SyntheticKind::stationary}) {
    const SyntheticOptions o = options(kind);
    const SyntheticCorpus corpus(o);
    const Index k = corpus.component_count();
    std::vector<double> seen(static_cast<std::size_t>(o.positions * o.vocab_size), 0);
    std::vector<Token> tokens;
    for (Index d = 0; d < 40000; ++d) {
      tokens.clear();
      corpus.append_document(d, tokens);
      for (std::size_t i = 0; i < tokens.size(); ++i)
        ++seen[i * static_cast<std::size_t>(o.vocab_size) + static_cast<std::size_t>(tokens[i])];
    }
    double statistic = 0, freedom = 0;
    for (Index i = 0; i < o.positions; ++i) {
      double total = 0;
      for (Index v = 0; v < o.vocab_size; ++v) total += seen[static_cast<std::size_t>(i * o.vocab_size + v)];
      freedom -= 1;
      for (Index v = 0; v < o.vocab_size; ++v) {
        double p = 0;
        for (Index c = 0; c < k; ++c)
          p += corpus.weights()[static_cast<std::size_t>(i * k + c)] * corpus.components()[static_cast<std::size_t>(c * o.vocab_size + v)];
        const double expected = p * total;
        const double difference = seen[static_cast<std::size_t>(i * o.vocab_size + v)] - expected;
        statistic += difference * difference / expected;
        ++freedom;
      }
    }
    EXPECT_LT(std::abs(statistic - freedom) / std::sqrt(2 * freedom), 3.5) << name_of(kind);
  }
}

TEST(Synthetic, DocumentsDependOnTheirIndexAlone) {
  const SyntheticCorpus corpus(options(SyntheticKind::drift));
  std::vector<Token> alone, after;
  corpus.append_document(7, alone);
  for (Index d = 0; d < 7; ++d) corpus.append_document(d, after);
  const std::size_t begin = after.size();
  corpus.append_document(7, after);
  EXPECT_EQ(alone, std::vector<Token>(after.begin() + static_cast<std::ptrdiff_t>(begin), after.end()));
}

TEST(Synthetic, LengthsFollowTheirLaw) {
  struct Case {
    const char* text;
    double mean, spread;
  };
  for (const Case& c :
       {Case{"fixed:9", 9, 0}, Case{"uniform:3:8", 5.5, 1.708}, Case{"geometric:6", 6, 5.477}, Case{"lognormal:20:0", 20, 0}}) {
    SyntheticOptions o = options(SyntheticKind::stationary, 100000, 5);
    o.lengths = document_lengths_named(c.text);
    const SyntheticCorpus corpus(o);
    double sum = 0, squares = 0;
    constexpr Index documents = 4000;
    std::vector<Token> tokens;
    for (Index d = 0; d < documents; ++d) {
      const double length = corpus.append_document(d, tokens);
      sum += length;
      squares += length * length;
    }
    const double mean = sum / documents;
    EXPECT_NEAR(mean, c.mean, 5 * c.spread / std::sqrt(documents) + 1e-12) << c.text;
    EXPECT_NEAR(std::sqrt(std::max(0.0, squares / documents - mean * mean)), c.spread, 0.1 * c.spread + 1e-6) << c.text;
  }
}

TEST(Synthetic, RefusesWhatIsNoLaw) {
  for (const char* text : {"", "fixed", "fixed:0", "fixed:x", "uniform:5", "uniform:8:3", "geometric:0.5", "lognormal:20",
                           "lognormal:20:-1", "zipf:3", "fixed:3:4", "fixed:1e300", "fixed:nan"}) {
    try {
      document_lengths_named(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("--synth-lengths: found '" + std::string(text) + "'"), std::string::npos) << error.what();
    }
  }
  SyntheticOptions few = options(SyntheticKind::planted, 4, 2);
  EXPECT_THROW(SyntheticCorpus{few}, Error);
  EXPECT_THROW(synthetic_kind_named("flat"), Error);
}

}  // namespace
}  // namespace posgeom
