#include <algorithm>

#include "pipeline/length_size.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {
namespace {

/// S of the first `length` positions of a table, as square_root_distributions() makes it.
RowsSize rows_size(const Config& config, const PositionCounts& counts, Index length) {
  const Count least = std::max<Count>(1, config.positions.min_count);
  std::vector<Index> holders(static_cast<std::size_t>(counts.vocab_size), 0);
  Index reached = 0;
  for (Index i = 0; i < length; ++i) {
    if (counts.position_total[static_cast<std::size_t>(i)] < least) continue;
    ++reached;
    for (const Token token : counts.tokens_at(i)) ++holders[static_cast<std::size_t>(token)];
  }
  const ColumnRule rule{.reached = reached,
                        .others = config.positions.unreached == Unreached::drop ? 0 : length - reached,
                        .uniform = config.positions.unreached == Unreached::uniform};
  RowsSize size{.rows = rule.reached + rule.others};
  for (const Index holding : holders) {
    if (holding == 0) continue;
    ++size.columns;
    size.nonzeros += holding + (rule.filled() ? 1 : 0);
    const bool dense = rule.dense(holding);
    if (dense || rule.frequent(holding)) ++size.frequent;
    if (!dense) continue;
    ++size.dense;
    size.dense_nonzeros += holding;
  }
  size.dense = stored_dense(size.dense, rule.distinct(), size.rows);
  return size;
}

/// Of the first `length` positions of a table.
LengthNeeds needs_of(const Config& config, const PositionCounts& counts, Index length) {
  LengthNeeds needs;
  needs.length = length;
  needs.rows = rows_size(config, counts, length);
  needs.nonzeros = counts.indptr[static_cast<std::size_t>(length)];
  std::vector<bool> seen(static_cast<std::size_t>(counts.vocab_size), false);
  for (Index k = 0; k < needs.nonzeros; ++k) seen[static_cast<std::size_t>(counts.token[static_cast<std::size_t>(k)])] = true;
  needs.types = std::count(seen.begin(), seen.end(), true);
  const auto total = [&](Index i) { return counts.position_total[static_cast<std::size_t>(i)]; };
  for (needs.reached = length; needs.reached > 0 && total(needs.reached - 1) == 0;) --needs.reached;
  needs.positions = length;
  if (config.positions.unreached == Unreached::drop) {
    while (needs.positions > 0 && total(needs.positions - 1) < config.positions.min_count) --needs.positions;
  }
  return needs;
}

}  // namespace

std::vector<LengthNeeds> needs_of_lengths(const StageContext& context, const CountedCorpus& counted) {
  const std::vector<Index>& lengths = context.config.lengths;
  const std::string path = counts_path(context.config);
  std::vector<LengthNeeds> needs;
  if (counted.summary.sequences == Sequences::document) {  // one table serves all
    const PositionCounts counts = read_counts(context.comm, path, lengths.back());
    for (const Index length : lengths) needs.push_back(needs_of(context.config, counts, length));
  } else {
    for (const Index length : lengths) needs.push_back(needs_of(context.config, read_counts(context.comm, path, length), length));
  }
  return needs;
}

}  // namespace posgeom
