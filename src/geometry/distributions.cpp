#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "geometry/rows.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::pair<Unreached, std::string_view>, 3> unreached_names{
    {{Unreached::drop, "drop"}, {Unreached::uniform, "uniform"}, {Unreached::zero, "zero"}}};

/// How the rows hold a token: by most rows, by many, by few.
constexpr int kinds = 3;

/// The columns by kind, the most held first, so that every row begins with those; each kind ascending in token id.
struct Columns {
  std::vector<std::int32_t> of_token;  ///< [V]; -1 where no reached position holds the token
  std::array<Index, kinds> end{};      ///< of each kind
  Index used = 0;
};

Columns columns_of_tokens(const PositionCounts& counts, const std::vector<bool>& reached, const ColumnRule& rule) {
  std::vector<std::int32_t> holders(static_cast<std::size_t>(counts.vocab_size), 0);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    for (const Token token : counts.tokens_at(static_cast<Index>(i))) {
      expects(token >= 0 && token < counts.vocab_size, "token ids below the vocabulary size");
      ++holders[static_cast<std::size_t>(token)];
    }
  }
  const auto kind_of = [&](Index holding) {
    const bool frequent = rule.frequent(holding), dense = rule.dense(holding);
    return dense && frequent ? 0 : dense || frequent ? 1 : 2;
  };
  Columns columns;
  columns.of_token.assign(holders.size(), -1);
  for (int kind = 0; kind < kinds; ++kind) {
    for (std::size_t v = 0; v < holders.size(); ++v) {
      if (holders[v] > 0 && kind_of(holders[v]) == kind) columns.of_token[v] = static_cast<std::int32_t>(columns.used++);
    }
    columns.end[static_cast<std::size_t>(kind)] = columns.used;
  }
  return columns;
}

/// Appends a position's distribution, its tokens kind by kind.
void append_row(SquareRootDistributions& s, const PositionCounts& counts, Index i, const Columns& columns, double factor) {
  const auto tokens = counts.tokens_at(i);
  const auto occurrences = counts.counts_at(i);
  const auto total = static_cast<double>(counts.position_total[static_cast<std::size_t>(i)]);
  Index begin = 0;
  for (const Index end : columns.end) {
    for (std::size_t e = 0; e < tokens.size() && begin < end; ++e) {
      const std::int32_t column = columns.of_token[static_cast<std::size_t>(tokens[e])];
      if (column < begin || column >= end) continue;
      s.column.push_back(column);
      s.value.push_back(factor * std::sqrt(static_cast<double>(occurrences[e]) / total));
    }
    begin = end;
  }
}

/// Appends the uniform distribution over the whole vocabulary: 1/V for each token that occurs, the others' share in one last column.
void append_uniform_row(SquareRootDistributions& s, Index used, Index vocab_size, double factor) {
  const auto share = [&](Index tokens) { return factor * std::sqrt(static_cast<double>(tokens) / static_cast<double>(vocab_size)); };
  for (Index c = 0; c < used; ++c) {
    s.column.push_back(static_cast<std::int32_t>(c));
    s.value.push_back(share(1));
  }
  if (used < vocab_size) {
    s.column.push_back(static_cast<std::int32_t>(used));
    s.value.push_back(share(vocab_size - used));
    s.column_count = used + 1;
  }
}

}  // namespace

std::string_view name_of(Unreached unreached) {
  return std::ranges::find(unreached_names, unreached, &std::pair<Unreached, std::string_view>::first)->second;
}

Unreached unreached_named(std::string_view name) {
  const auto found = std::ranges::find(unreached_names, name, &std::pair<Unreached, std::string_view>::second);
  if (found == unreached_names.end()) {
    throw Error(fmt::format("--unreached: found '{}', expected one of drop, uniform, zero", name), ErrorKind::usage);
  }
  return found->first;
}

SquareRootDistributions square_root_distributions(const PositionCounts& counts, Index length, const HellingerOptions& options) {
  expects(length >= 1 && length <= counts.length, "a length that was counted");
  expects(counts.vocab_size >= 1, "a vocabulary");
  const Count least = std::max<Count>(1, options.min_count);
  std::vector<bool> reached(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < reached.size(); ++i) reached[i] = counts.position_total[i] >= least;

  SquareRootDistributions s;
  s.length = length;
  const Index reached_rows = std::ranges::count(reached, true);
  const Index others = options.unreached != Unreached::drop ? length - reached_rows : 0;
  const Columns columns =
      columns_of_tokens(counts, reached, {.reached = reached_rows, .others = others, .uniform = options.unreached == Unreached::uniform});
  s.column_count = columns.used;
  const double factor = options.unit_range ? 1 / std::numbers::sqrt2 : 1.0;
  Index uniform_begin = -1;
  for (Index i = 0; i < length; ++i) {
    const bool kept = reached[static_cast<std::size_t>(i)];
    if (!kept && options.unreached == Unreached::drop) continue;
    s.position.push_back(narrow_to_int(i, "a position"));
    s.total.push_back(kept ? counts.position_total[static_cast<std::size_t>(i)] : 0);
    if (!kept && options.unreached == Unreached::uniform && uniform_begin >= 0) {
      s.row_begin.push_back(uniform_begin);
      s.row_end.push_back(uniform_begin + s.column_count);
      continue;
    }
    s.row_begin.push_back(std::ssize(s.value));
    if (kept) {
      append_row(s, counts, i, columns, factor);
    } else if (options.unreached == Unreached::uniform) {
      uniform_begin = std::ssize(s.value);
      append_uniform_row(s, columns.used, counts.vocab_size, factor);
    }
    s.row_end.push_back(std::ssize(s.value));
  }
  if (s.position.empty()) {
    const auto totals = std::span(counts.position_total).first(static_cast<std::size_t>(length));
    throw Error(fmt::format(
        "--unreached drop leaves no position: the fullest of the first {} positions holds {} tokens, --min-count is {}; lower it, "
        "or use --unreached uniform or zero",
        length, std::ranges::max(totals), least));
  }
  return s;
}

SquareRootDistributions square_root_distributions(const Communicator& comm, const PositionCounts& counts, Index length,
                                                  const HellingerOptions& options) {
  const Communicator node = comm.split_by_node();
  SquareRootDistributions s = collective(comm, "forming the square-root distributions", [&] {
    return node.is_root() ? square_root_distributions(counts, length, options) : SquareRootDistributions{};
  });
  broadcast(node, std::span(&s.length, 1));
  broadcast(node, std::span(&s.column_count, 1));
  broadcast_resized(node, s.position);
  broadcast_resized(node, s.total);
  broadcast_resized(node, s.row_begin);
  broadcast_resized(node, s.row_end);
  s.column = share_on_node(node, std::move(s.column));
  s.value = share_on_node(node, std::move(s.value));
  return s;
}

double gram_trace(const SquareRootDistributions& s) {
  // Column by column, sum (x - mean)^2 over the entries and mean^2 for each row without one: no difference of large numbers.
  const std::vector<double> mean = column_means(s);
  std::vector<Index> entries(mean.size(), 0);
  double trace = 0;
  for (Index i = 0; i < s.row_count(); ++i) {
    double sum = 0;
    for (Index e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_end[static_cast<std::size_t>(i)]; ++e) {
      const auto c = static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)]);
      const double difference = s.value[static_cast<std::size_t>(e)] - mean[c];
      sum += difference * difference;
      ++entries[c];
    }
    trace += sum;
  }
  double absent = 0;
  for (std::size_t c = 0; c < mean.size(); ++c) absent += static_cast<double>(s.row_count() - entries[c]) * mean[c] * mean[c];
  return trace + absent;
}

}  // namespace posgeom
