#include "geometry/centred_rows.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "geometry/compensated_sum.hpp"
#include "geometry/rows.hpp"

namespace posgeom {
namespace {

/// A column is dense where more than one row in so many holds it. Measured (one core, AVX-512): the dense kernel of GramProducts
/// does 3.7e10 operations a second, the sparse one 1.4e10. At least 2: see CentredColumns.
constexpr Index dense_share = 3;

}  // namespace

CentredColumns centred_columns(const SquareRootDistributions& s) {
  const auto count = static_cast<std::size_t>(s.column_count);
  std::vector<Index> holders(count, 0);
  for (Index i = 0; i < s.row_count(); ++i) {
    for (Index e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_end[static_cast<std::size_t>(i)]; ++e)
      ++holders[static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)])];
  }
  const std::vector<double> mean = column_means(s);
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](std::int32_t c) { return holders[static_cast<std::size_t>(c)]; });

  CentredColumns columns{.rows = s.row_count(), .dense_count = 0, .number = std::vector<std::int32_t>(count), .holders = {}, .mean = {}};
  for (std::size_t k = 0; k < count; ++k) {
    const auto c = static_cast<std::size_t>(order[k]);
    columns.number[c] = static_cast<std::int32_t>(k);
    columns.holders.push_back(holders[c]);
    columns.mean.push_back(mean[c]);
    if (dense_share * holders[c] > s.row_count()) ++columns.dense_count;
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
  // Entries are dealt to the rows in the order of their numbers: first their places are counted, then each column's holders are visited.
  std::vector<Index> column_end(columns.holders.size() + 1, 0);
  x.begin.assign(stored + 1, 0);
  const auto each_entry = [&](std::size_t p, auto body) {
    const auto row = static_cast<std::size_t>(source[p]);
    for (auto e = static_cast<std::size_t>(s.row_begin[row]); e < static_cast<std::size_t>(s.row_end[row]); ++e)
      body(columns.number[static_cast<std::size_t>(s.column[e])], s.value[e]);
  };
  for (std::size_t p = 0; p < stored; ++p) {
    double* dense = x.dense.data() + p * static_cast<std::size_t>(width);
    for (Index k = 0; k < width; ++k) dense[k] = -columns.mean[static_cast<std::size_t>(k)];
    each_entry(p, [&](std::int32_t number, double value) {
      if (number < width) {
        dense[number] += value;
      } else {
        ++column_end[static_cast<std::size_t>(number)];
        ++x.begin[p + 1];
      }
    });
  }
  std::partial_sum(x.begin.begin(), x.begin.end(), x.begin.begin());
  std::exclusive_scan(column_end.begin(), column_end.end(), column_end.begin(), Index{0});
  struct Holder {
    std::uint32_t row;
    double value;
  };
  std::vector<Holder> by_column(static_cast<std::size_t>(x.begin.back()));
  for (std::size_t p = 0; p < stored; ++p) {
    each_entry(p, [&](std::int32_t number, double value) {
      if (number >= width)
        by_column[static_cast<std::size_t>(column_end[static_cast<std::size_t>(number)]++)] = {static_cast<std::uint32_t>(p), value};
    });
  }
  x.column.resize(by_column.size());
  x.value.resize(by_column.size());
  std::vector<Index> next = x.begin;
  Index at = 0;
  for (std::size_t k = 0; k < columns.holders.size(); ++k) {
    for (; at < column_end[k]; ++at) {
      const Holder& holder = by_column[static_cast<std::size_t>(at)];
      const auto place = static_cast<std::size_t>(next[holder.row]++);
      x.column[place] = static_cast<std::int32_t>(k);
      x.value[place] = holder.value;
    }
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
