#include "posgeom/geometry/rarefy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/rarefy_sampling.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// A table's dimensions and documents, without rows.
PositionCounts without_rows(const PositionCounts& counts, Index length) {
  PositionCounts table;
  table.length = length;
  table.vocab_size = counts.vocab_size;
  table.document_count = counts.document_count;
  table.empty_document_count = counts.empty_document_count;
  table.token_count = counts.token_count;
  table.longest_document = counts.longest_document;
  table.indptr.push_back(0);
  return table;
}

/// Rows as they are handed from rank to rank.
struct DrawnRows {
  std::vector<Index> types;  ///< of each row
  std::vector<Token> token;
  std::vector<Count> count;
};

void draw_row(KeyedWords words, const PositionCounts& counts, Index i, Count total, DrawnRows& rows) {
  const auto tokens = counts.tokens_at(i);
  const auto occurrences = counts.counts_at(i);
  const Index before = std::ssize(rows.token);
  Count left = counts.position_total[static_cast<std::size_t>(i)];
  Count draws = total;
  for (std::size_t e = 0; e < tokens.size() && draws > 0; ++e) {
    left -= occurrences[e];
    const Count kept = sampling::hypergeometric(words, occurrences[e], left, draws);
    if (kept == 0) continue;
    draws -= kept;
    rows.token.push_back(tokens[e]);
    rows.count.push_back(kept);
  }
  expects(draws == 0, "a position's total is the sum of its counts");
  rows.types.push_back(std::ssize(rows.token) - before);
}

}  // namespace

PositionCounts second_half(const PositionCounts& corpus, const PositionCounts& half_a, Index length, std::string_view what) {
  expects(length >= 1 && length <= corpus.length, "a length that was counted");
  if (half_a.length < length || half_a.vocab_size != corpus.vocab_size) {
    throw Error(fmt::format(
        "the noise analysis: half a of {} has {} positions and V = {}, expected at least {} positions and V = {}; count the corpus again",
        what, half_a.length, half_a.vocab_size, length, corpus.vocab_size));
  }
  PositionCounts rest = without_rows(corpus, length);
  for (Index i = 0; i < length; ++i) {
    const auto tokens = corpus.tokens_at(i);
    const auto occurrences = corpus.counts_at(i);
    const auto part_tokens = half_a.tokens_at(i);
    const auto part_occurrences = half_a.counts_at(i);
    const auto refuse = [&](Token token, Count part, Count whole) {
      throw Error(fmt::format(
          "the noise analysis: half a of {} holds token {} at position {} {} times, expected at most the {} times of the whole; "
          "these tables are not of one corpus: count it again",
          what, token, i, part, whole));
    };
    std::size_t a = 0;
    Count total = 0;
    for (std::size_t e = 0; e < tokens.size(); ++e) {
      Count part = 0;
      if (a < part_tokens.size() && part_tokens[a] < tokens[e]) refuse(part_tokens[a], part_occurrences[a], 0);
      if (a < part_tokens.size() && part_tokens[a] == tokens[e]) part = part_occurrences[a++];
      if (part > occurrences[e]) refuse(tokens[e], part, occurrences[e]);
      if (part == occurrences[e]) continue;
      rest.token.push_back(tokens[e]);
      rest.count.push_back(occurrences[e] - part);
      total += occurrences[e] - part;
    }
    if (a < part_tokens.size()) refuse(part_tokens[a], part_occurrences[a], 0);
    rest.position_total.push_back(total);
    rest.indptr.push_back(std::ssize(rest.token));
  }
  return rest;
}

PositionCounts rarefied(const Communicator& comm, const PositionCounts& counts, Index length, std::span<const std::int32_t> positions,
                        Count total, std::uint64_t seed, RarefiedTable table) {
  expects(length >= 1 && length <= counts.length && total >= 1, "a length that was counted, and tokens to draw");
  const Index rows = std::ssize(positions);
  const auto bound = [&](int rank) { return rows * rank / comm.size(); };
  const DrawnRows mine = collective(comm, "rarefying the counts", [&] {
    DrawnRows drawn;
    for (Index k = bound(comm.rank()); k < bound(comm.rank() + 1); ++k) {
      const Index i = positions[static_cast<std::size_t>(k)];
      expects(i < length && counts.position_total[static_cast<std::size_t>(i)] >= total, "a position with enough tokens");
      const KeyedWords words(
          {.seed = seed, .first = static_cast<std::uint64_t>(i), .second = static_cast<std::uint64_t>(table), .purpose = Purpose::rarefy});
      draw_row(words, counts, i, total, drawn);
    }
    return drawn;
  });
  PositionCounts drawn = without_rows(counts, length);
  const std::vector<Index> types = all_gather(comm, std::span<const Index>(mine.types));
  drawn.token = all_gather(comm, std::span<const Token>(mine.token));
  drawn.count = all_gather(comm, std::span<const Count>(mine.count));
  std::size_t row = 0;
  for (Index i = 0; i < length; ++i) {
    const bool listed = row < positions.size() && positions[row] == i;
    drawn.position_total.push_back(listed ? total : 0);
    drawn.indptr.push_back(drawn.indptr.back() + (listed ? types[row] : 0));
    if (listed) ++row;
  }
  return drawn;
}

}  // namespace posgeom
