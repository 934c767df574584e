#include "geometry/split_rows.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "geometry/compensated_sum.hpp"
#include "geometry/rows.hpp"

namespace posgeom {
namespace {

// Measured (one core, AVX-512): the dense kernel of RowProducts does 3.7e10 to 5e10 operations a second, the sparse one 1.4e10 to 2e10.
static_assert(dense_share >= 2, "what centred_columns() says of the variance of other columns");

/// The distinct rows of S: of those that share storage, the first.
std::vector<Index> distinct_rows(const SquareRootDistributions& s, std::span<const Index> rows, std::vector<Index>& place) {
  std::vector<Index> distinct;
  std::unordered_map<Index, Index> by_storage;
  for (const Index i : rows) {
    const auto at = static_cast<std::size_t>(i);
    const bool empty = s.row_begin[at] == s.row_end[at];
    const auto [found, is_new] = by_storage.try_emplace(empty ? Index{-1} : s.row_begin[at], std::ssize(distinct));
    place.push_back(found->second);
    if (is_new) distinct.push_back(i);
  }
  return distinct;
}

std::vector<Index> holders_among(const SquareRootDistributions& s, std::span<const Index> rows) {
  std::vector<Index> holders(static_cast<std::size_t>(s.column_count), 0);
  for (const Index i : rows) {
    for (Index e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_end[static_cast<std::size_t>(i)]; ++e)
      ++holders[static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)])];
  }
  return holders;
}

enum class Kind { dense, frequent, rare };

/// Numbers the columns by kind.
template <class KindOf>
SplitColumns numbered(std::span<const Index> holders, KindOf kind_of) {
  SplitColumns columns;
  columns.number.resize(holders.size());
  for (const Kind kind : {Kind::dense, Kind::frequent, Kind::rare}) {
    for (std::size_t c = 0; c < holders.size(); ++c) {
      if (kind_of(c) != kind) continue;
      columns.number[c] = static_cast<std::int32_t>(std::ssize(columns.holders));
      columns.holders.push_back(holders[c]);
    }
    if (kind == Kind::dense) columns.dense_count = std::ssize(columns.holders);
    if (kind == Kind::frequent) columns.frequent_count = std::ssize(columns.holders);
  }
  return columns;
}

/// Fills the entries of T by copies in the order of their numbers.
void copy_entries(const SquareRootDistributions& s, const SplitColumns& columns, std::span<const Index> source, SplitRows& x) {
  std::vector<std::pair<std::int32_t, double>> entries;
  for (std::size_t p = 0; p < source.size(); ++p) {
    const auto row = static_cast<std::size_t>(source[p]);
    entries.clear();
    for (auto e = static_cast<std::size_t>(s.row_begin[row]); e < static_cast<std::size_t>(s.row_end[row]); ++e) {
      const std::int32_t number = columns.number[static_cast<std::size_t>(s.column[e])];
      if (number >= columns.dense_count) entries.emplace_back(number, s.value[e]);
    }
    std::ranges::sort(entries, {}, &std::pair<std::int32_t, double>::first);
    x.begin[p] = std::ssize(x.own_value);
    for (const auto& [number, value] : entries) {
      x.own_column.push_back(number);
      x.own_value.push_back(value);
    }
    x.end[p] = std::ssize(x.own_value);
  }
  x.column = x.own_column.data();
  x.value = x.own_value.data();
}

/// Where the numbers of the columns that are not dense are S's own, its entries serve.
void find_entries(const SquareRootDistributions& s, const SplitColumns& columns, std::span<const Index> source, SplitRows& x) {
  x.column = s.column.data();
  x.value = s.value.data();
  for (std::size_t p = 0; p < source.size(); ++p) {
    const auto row = static_cast<std::size_t>(source[p]);
    x.end[p] = s.row_end[row];
    x.begin[p] = std::lower_bound(x.column + s.row_begin[row], x.column + s.row_end[row], columns.dense_count) - x.column;
  }
}

bool numbered_as_in_s(const SplitColumns& columns) {
  for (std::size_t c = 0; c < columns.number.size(); ++c) {
    const auto own = static_cast<std::int32_t>(c);
    if (columns.number[c] != own && (own >= columns.dense_count || columns.number[c] >= columns.dense_count)) return false;
  }
  return true;
}

void fill_dense(const SquareRootDistributions& s, const SplitColumns& columns, std::span<const Index> source, SplitRows& x) {
  const Index width = columns.dense_count;
  x.dense.resize(source.size() * static_cast<std::size_t>(width));
  for (std::size_t p = 0; p < source.size() && width > 0; ++p) {
    const auto row = static_cast<std::size_t>(source[p]);
    double* dense = x.dense.data() + p * static_cast<std::size_t>(width);
    for (Index k = 0; k < width; ++k) dense[k] = -columns.mean[static_cast<std::size_t>(k)];
    for (auto e = static_cast<std::size_t>(s.row_begin[row]); e < static_cast<std::size_t>(s.row_end[row]); ++e) {
      const std::int32_t number = columns.number[static_cast<std::size_t>(s.column[e])];
      if (number < width) dense[number] += s.value[e];
    }
  }
}

void sum_means(const SplitColumns& columns, SplitRows& x) {
  for (std::size_t p = 0; p < x.along_mean.size(); ++p) {
    CompensatedSum along;
    for (Index e = x.begin[p]; e < x.end[p]; ++e) along.add(x.value[e] * columns.mean[static_cast<std::size_t>(x.column[e])]);
    x.along_mean[p] = along.value();
  }
  CompensatedSum squared;
  for (auto k = static_cast<std::size_t>(columns.dense_count); k < columns.mean.size(); ++k) squared.add(columns.mean[k] * columns.mean[k]);
  x.mean_squared = squared.value();
}

}  // namespace

Index SplitRows::entries() const {
  Index count = 0;
  for (std::size_t p = 0; p < begin.size(); ++p) count += end[p] - begin[p];
  return count;
}

std::vector<Index> all_rows(const SquareRootDistributions& s) {
  std::vector<Index> rows(static_cast<std::size_t>(s.row_count()));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

SplitColumns centred_columns(const SquareRootDistributions& s) {
  const std::vector<Index> rows = all_rows(s);
  std::vector<Index> place;
  const std::vector<Index> distinct = distinct_rows(s, rows, place);
  const std::vector<Index> holders = holders_among(s, rows);
  const std::vector<Index> distinct_holders = distinct.size() == rows.size() ? holders : holders_among(s, distinct);
  SplitColumns columns = numbered(holders, [&](std::size_t c) {
    if (dense_share * holders[c] > s.row_count()) return Kind::dense;
    return is_frequent(distinct_holders[c], std::ssize(distinct)) ? Kind::frequent : Kind::rare;
  });
  columns.rows = s.row_count();
  const std::vector<double> mean = column_means(s);
  columns.mean.resize(mean.size());
  for (std::size_t c = 0; c < mean.size(); ++c) columns.mean[static_cast<std::size_t>(columns.number[c])] = mean[c];
  return columns;
}

SplitColumns sparse_columns(const SquareRootDistributions& s) {
  std::vector<Index> place;
  const std::vector<Index> distinct = distinct_rows(s, all_rows(s), place);
  const std::vector<Index> holders = holders_among(s, distinct);
  SplitColumns columns =
      numbered(holders, [&](std::size_t c) { return is_frequent(holders[c], std::ssize(distinct)) ? Kind::frequent : Kind::rare; });
  columns.rows = std::ssize(distinct);
  return columns;
}

SplitRows split_rows(const SquareRootDistributions& s, const SplitColumns& columns, std::span<const Index> rows) {
  SplitRows x;
  const std::vector<Index> source = distinct_rows(s, rows, x.place);
  x.begin.resize(source.size());
  x.end.resize(source.size());
  x.along_mean.resize(source.size());
  if (numbered_as_in_s(columns)) {
    find_entries(s, columns, source, x);
  } else {
    copy_entries(s, columns, source, x);
  }
  fill_dense(s, columns, source, x);
  if (!columns.mean.empty()) sum_means(columns, x);
  return x;
}

}  // namespace posgeom
