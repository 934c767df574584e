#include "geometry/centred_rows.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "geometry/compensated_sum.hpp"
#include "geometry/rows.hpp"

namespace posgeom {
namespace {

// Measured (one core, AVX-512): the dense kernel of GramProducts does 3.7e10 operations a second, the sparse one 1.4e10.
static_assert(dense_share >= 2, "what CentredColumns says of the variance of other columns");

/// Puts the entries from `begin` on in the order of their numbers, where S had them in another one.
void sort_entries(CentredRows& x, Index begin) {
  if (std::is_sorted(x.column.begin() + begin, x.column.end())) return;
  std::vector<std::pair<std::int32_t, double>> entries;
  for (auto e = static_cast<std::size_t>(begin); e < x.column.size(); ++e) entries.emplace_back(x.column[e], x.value[e]);
  std::ranges::sort(entries, {}, &std::pair<std::int32_t, double>::first);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    x.column[static_cast<std::size_t>(begin) + k] = entries[k].first;
    x.value[static_cast<std::size_t>(begin) + k] = entries[k].second;
  }
}

}  // namespace

CentredColumns centred_columns(const SquareRootDistributions& s) {
  const auto count = static_cast<std::size_t>(s.column_count);
  std::vector<Index> holders(count, 0);
  for (Index i = 0; i < s.row_count(); ++i) {
    for (Index e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_end[static_cast<std::size_t>(i)]; ++e)
      ++holders[static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)])];
  }
  const std::vector<double> mean = column_means(s);
  enum class Kind { dense, frequent, rare };
  const auto kind_of = [&](std::size_t c) {
    if (dense_share * holders[c] > s.row_count()) return Kind::dense;
    return is_frequent(holders[c], s.row_count()) ? Kind::frequent : Kind::rare;
  };
  CentredColumns columns{.rows = s.row_count(), .number = std::vector<std::int32_t>(count), .holders = {}, .mean = {}};
  for (const Kind kind : {Kind::dense, Kind::frequent, Kind::rare}) {
    for (std::size_t c = 0; c < count; ++c) {
      if (kind_of(c) != kind) continue;
      columns.number[c] = static_cast<std::int32_t>(std::ssize(columns.holders));
      columns.holders.push_back(holders[c]);
      columns.mean.push_back(mean[c]);
    }
    if (kind == Kind::dense) columns.dense_count = std::ssize(columns.holders);
    if (kind == Kind::frequent) columns.frequent_count = std::ssize(columns.holders);
  }
  return columns;
}

CentredRows centred_rows(const SquareRootDistributions& s, const CentredColumns& columns, std::span<const Index> rows) {
  CentredRows x;
  std::vector<Index> source;  // of each stored row
  std::unordered_map<Index, Index> by_storage;
  for (const Index i : rows) {
    const auto at = static_cast<std::size_t>(i);
    const bool empty = s.row_begin[at] == s.row_end[at];
    const auto [found, is_new] = by_storage.try_emplace(empty ? Index{-1} : s.row_begin[at], std::ssize(source));
    x.place.push_back(found->second);
    if (is_new) source.push_back(i);
  }
  const Index width = columns.dense_count;
  const std::size_t stored = source.size();
  x.dense.resize(stored * static_cast<std::size_t>(width));
  x.begin.assign(1, 0);
  Index most = 0;
  for (const Index row : source) most += s.row_end[static_cast<std::size_t>(row)] - s.row_begin[static_cast<std::size_t>(row)];
  x.column.reserve(static_cast<std::size_t>(most));  // of pages that are not used nothing is taken
  x.value.reserve(static_cast<std::size_t>(most));
  for (std::size_t p = 0; p < stored; ++p) {
    const auto row = static_cast<std::size_t>(source[p]);
    double* dense = x.dense.data() + p * static_cast<std::size_t>(width);
    for (Index k = 0; k < width; ++k) dense[k] = -columns.mean[static_cast<std::size_t>(k)];
    for (auto e = static_cast<std::size_t>(s.row_begin[row]); e < static_cast<std::size_t>(s.row_end[row]); ++e) {
      const std::int32_t number = columns.number[static_cast<std::size_t>(s.column[e])];
      if (number < width) {
        dense[number] += s.value[e];
      } else {
        x.column.push_back(number);
        x.value.push_back(s.value[e]);
      }
    }
    sort_entries(x, x.begin.back());
    x.begin.push_back(std::ssize(x.column));
  }
  for (std::size_t p = 0; p < stored; ++p) {
    CompensatedSum along;
    for (auto e = static_cast<std::size_t>(x.begin[p]); e < static_cast<std::size_t>(x.begin[p + 1]); ++e)
      along.add(x.value[e] * columns.mean[static_cast<std::size_t>(x.column[e])]);
    x.along_mean.push_back(along.value());
  }
  CompensatedSum squared;
  for (auto k = static_cast<std::size_t>(width); k < columns.mean.size(); ++k) squared.add(columns.mean[k] * columns.mean[k]);
  x.mean_squared = squared.value();
  return x;
}

}  // namespace posgeom
