#include "pipeline/length_size.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace posgeom {
namespace {

/// Positions with about equally many tokens.
struct Level {
  double tokens = 0;
  Index rows = 0;
};

/// The tokens at all positions of one length, at most.
Index tokens_counted(const Config& config, const CorpusEstimate& corpus, Index length) {
  if (config.sequences != Sequences::document || corpus.document_count == 0) return corpus.token_count;
  const bool all = corpus.token_count / length < corpus.document_count;
  return all ? corpus.token_count : corpus.document_count * length;
}

/// Levels of the corpus's positions below `length`. Without a sample of documents' lengths all get as many: that shows most types.
std::vector<Level> levels_of(const Config& config, const CorpusEstimate& corpus, Index length) {
  const auto all = static_cast<double>(tokens_counted(config, corpus, length));
  if (config.sequences != Sequences::document || corpus.position_total.empty()) return {{all / static_cast<double>(length), length}};
  const double factor = all / static_cast<double>(std::max<Count>(corpus.sampled_tokens, 1));
  // Steps of a quarter octave.
  std::map<int, Level> levels;
  for (Index i = 0; i < length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double tokens = at < corpus.position_total.size() ? factor * static_cast<double>(corpus.position_total[at]) : 0;
    Level& level = levels[tokens > 0 ? static_cast<int>(std::floor(4 * std::log2(tokens))) : -1000];
    level.tokens += tokens;
    ++level.rows;
  }
  std::vector<Level> found;
  found.reserve(levels.size());
  for (const auto& [step, level] : levels) found.push_back({level.tokens / static_cast<double>(level.rows), level.rows});
  return found;
}

/// The positions that are kept, where that is known.
Index rows_of(const Config& config, const CorpusEstimate& corpus, Index length) {
  const bool known = corpus.token_certainty == Certainty::exact && corpus.whole_sample && !corpus.position_total.empty();
  if (!known || config.sequences != Sequences::document || config.positions.unreached != Unreached::drop) return length;
  const Count least = std::max<Count>(1, config.positions.min_count);
  const auto reached = std::ranges::count_if(corpus.position_total.begin(),
                                             corpus.position_total.begin() + std::min(length, std::ssize(corpus.position_total)),
                                             [&](Count n) { return n >= least; });
  return std::max<Index>(1, reached);
}

/// Rows that tokens reach, and the others that are kept.
ColumnRule rule_of(const Config& config, const std::vector<Level>& levels, Index rows) {
  ColumnRule rule{.reached = rows, .uniform = config.positions.unreached == Unreached::uniform};
  if (config.positions.unreached == Unreached::drop) return rule;
  for (const Level& level : levels) {
    if (level.tokens <= 0) rule.others += level.rows;
  }
  rule.reached -= rule.others;
  return rule;
}

/// S of positions that hold draws from a sample's distribution.
RowsSize drawn_rows(const std::vector<Count>& unigram, const std::vector<Level>& levels, const ColumnRule& rule, double share) {
  RowsSize size;
  size.rows = rule.reached + rule.others;
  const auto total = static_cast<double>(std::accumulate(unigram.begin(), unigram.end(), Count{0}));
  double nonzeros = 0, dense_nonzeros = 0;
  for (const Count count : unigram) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / total;
    double holders = 0;
    for (const Level& level : levels)
      holders +=
          static_cast<double>(level.rows) * (p < 1 ? -std::expm1(share * level.tokens * std::log1p(-p)) : std::min(level.tokens, 1.0));
    nonzeros += holders;
    ++size.columns;
    if (rule.filled()) nonzeros += 1;
    const bool dense = rule.dense(holders);
    if (dense || rule.frequent(holders)) ++size.frequent;
    if (dense) {
      ++size.dense;
      dense_nonzeros += holders;
    }
  }
  size.dense = stored_dense(size.dense, rule.distinct(), size.rows);
  size.nonzeros = static_cast<Index>(nonzeros) + 1;
  size.dense_nonzeros = static_cast<Index>(dense_nonzeros);
  return size;
}

/// The same for a corpus of which the sample is a part: later text brings types that the sample has not, and other ones often. What the
/// sample brought beyond its own first part is followed at half of that pace: on novels and reviews, from a million tokens, that left 2 to
/// 6 % of the nonzeros out, nothing 4 to 12 %.
RowsSize expected_rows(const CorpusEstimate& corpus, const std::vector<Level>& levels, const ColumnRule& rule, double share) {
  RowsSize size = drawn_rows(corpus.unigram, levels, rule, share);
  if (corpus.early_unigram.empty()) return size;
  const auto tokens_of = [](const std::vector<Count>& unigram) {
    return static_cast<double>(std::accumulate(unigram.begin(), unigram.end(), Count{0}));
  };
  const double early = tokens_of(corpus.early_unigram), sampled = tokens_of(corpus.unigram), all = static_cast<double>(corpus.token_count);
  if (early <= 0 || sampled <= early || all <= sampled) return size;
  const auto before = static_cast<double>(drawn_rows(corpus.early_unigram, levels, rule, share).nonzeros);
  const double pace = std::log(static_cast<double>(size.nonzeros) / before) / std::log(sampled / early);
  const double growth = std::exp(0.5 * std::max(0.0, pace) * std::log(all / sampled));
  size.nonzeros = static_cast<Index>(static_cast<double>(size.nonzeros) * growth);
  size.columns = std::min(static_cast<Index>(static_cast<double>(size.columns) * growth), std::max(corpus.vocab_size, size.columns));
  return size;
}

/// The levels of one half, brought to as many tokens as the noise analysis draws.
std::vector<Level> rarefied_levels(const Config& config, const std::vector<Level>& levels) {
  const auto fullest = std::ranges::max_element(levels, {}, &Level::tokens)->tokens / 2;
  auto total = static_cast<double>(config.noise_analysis.rarefy);
  if (config.noise_analysis.rarefy == 0) {
    total = fullest;
    for (const Level& level : levels) {
      if (level.tokens / 2 >= 0.01 * fullest) total = std::min(total, level.tokens / 2);
    }
  }
  std::vector<Level> rarefied;
  for (const Level& level : levels) {
    if (level.tokens / 2 >= total) rarefied.push_back({total, level.rows});
  }
  return rarefied;
}

/// The most that so many tokens, or unknown ones (0), can give.
RowsSize most_rows(Index rows, Index vocab_size, Index tokens) {
  const Index columns = std::max<Index>(vocab_size, 1);
  RowsSize size{.rows = rows, .columns = columns, .nonzeros = rows * columns};
  if (tokens > 0) size.nonzeros = std::min(size.nonzeros, tokens);
  if (size.nonzeros == rows * columns) {
    size.frequent = size.dense = columns;
    size.dense_nonzeros = size.nonzeros;
  } else {
    size.frequent = std::min(columns, frequent_share * size.nonzeros / std::max<Index>(rows, 1));
  }
  return size;
}

}  // namespace

Index stored_dense(Index dense, Index distinct, Index rows) { return (dense * distinct + rows - 1) / std::max<Index>(rows, 1); }

LengthSize size_of(const Config& config, const CorpusEstimate& corpus, Index length) {
  LengthSize size;
  const bool types_known = corpus.vocab_size > 0 && corpus.vocab_certainty != Certainty::at_least;
  const bool tokens_known = corpus.token_count > 0 && corpus.token_certainty != Certainty::at_least;
  size.rows = rows_of(config, corpus, length);
  size.types = types_known ? corpus.vocab_size : 0;
  size.rank = types_known ? std::min(size.rows, corpus.vocab_size) : size.rows;
  const Index tokens = tokens_known ? tokens_counted(config, corpus, length) : 0;
  size.whole = most_rows(size.rows, corpus.vocab_size, tokens);
  size.half = most_rows(size.rows, corpus.vocab_size, (tokens + 1) / 2);
  size.rarefied = size.half;
  size.tokens = static_cast<double>(tokens);
  if (!tokens_known || corpus.unigram.empty()) return size;
  const std::vector<Level> levels = levels_of(config, corpus, length);
  size.tokens = 0;
  for (const Level& level : levels) size.tokens += level.tokens * static_cast<double>(level.rows);
  const auto least = [](const RowsSize& most, const RowsSize& drawn) { return drawn.nonzeros < most.nonzeros ? drawn : most; };
  size.whole = least(size.whole, expected_rows(corpus, levels, rule_of(config, levels, size.rows), 1));
  const ColumnRule of_halves{.reached = size.rows};
  size.half = least(size.half, expected_rows(corpus, levels, of_halves, 0.5));
  size.rarefied = least(size.half, expected_rows(corpus, rarefied_levels(config, levels), of_halves, 1));
  return size;
}

LengthSize size_of(const LengthNeeds& counted) {
  LengthSize size;
  size.whole = counted.rows;
  size.rows = size.whole.rows = std::max<Index>(counted.rows.rows, 1);
  size.types = counted.types;
  size.rank = std::min(size.rows, counted.types);
  size.half = most_rows(size.rows, counted.types, (counted.nonzeros + 1) / 2);
  size.half.frequent = std::min(size.half.frequent, size.whole.frequent);
  size.rarefied = size.half;
  size.tokens = static_cast<double>(counted.nonzeros);
  return size;
}

}  // namespace posgeom
