#include "geometry/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "geometry/compensated_sum.hpp"

namespace posgeom {
namespace {

struct Row {
  std::span<const std::int32_t> column;
  std::span<const double> value;
};

Row row_of(const SquareRootDistributions& s, Index i) {
  const auto begin = static_cast<std::size_t>(s.row_begin[static_cast<std::size_t>(i)]);
  const auto count = static_cast<std::size_t>(s.row_end[static_cast<std::size_t>(i)]) - begin;
  return {std::span(s.column).subspan(begin, count), std::span(s.value).subspan(begin, count)};
}

/// 64-bit FNV-1a over whole words: only to sort rows into buckets, equality is tested on the entries.
std::uint64_t bucket_of(const Row& row) {
  std::uint64_t hash = 14695981039346656037U;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 1099511628211U;
    hash ^= hash >> 29;
  };
  for (std::size_t e = 0; e < row.column.size(); ++e) {
    mix(static_cast<std::uint64_t>(row.column[e]));
    mix(std::bit_cast<std::uint64_t>(row.value[e]));
  }
  return hash;
}

}  // namespace

std::vector<double> column_means(const SquareRootDistributions& s) {
  std::vector<CompensatedSum> sums(static_cast<std::size_t>(s.column_count));
  for (Index i = 0; i < s.row_count(); ++i) {
    const Row row = row_of(s, i);
    for (std::size_t e = 0; e < row.column.size(); ++e) sums[static_cast<std::size_t>(row.column[e])].add(row.value[e]);
  }
  std::vector<double> means(sums.size());
  std::ranges::transform(sums, means.begin(), [&s](const CompensatedSum& sum) { return sum.value() / static_cast<double>(s.row_count()); });
  return means;
}

double largest_squared_norm(const SquareRootDistributions& s) {
  double largest = 0;
  for (Index i = 0; i < s.row_count(); ++i) {
    double sum = 0;
    for (const double x : row_of(s, i).value) sum += x * x;
    largest = std::max(largest, sum);
  }
  return largest;
}

std::vector<Index> first_equal_row(const SquareRootDistributions& s) {
  std::vector<Index> first(static_cast<std::size_t>(s.row_count()));
  std::unordered_map<Index, Index> by_storage;  // rows that share storage need no comparison
  std::unordered_multimap<std::uint64_t, Index> by_bucket;
  for (Index i = 0; i < s.row_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    first[at] = i;
    const Row row = row_of(s, i);
    if (!row.value.empty()) {
      const auto [stored, inserted] = by_storage.try_emplace(s.row_begin[at], i);
      if (!inserted) {
        first[at] = first[static_cast<std::size_t>(stored->second)];
        continue;
      }
    }
    const std::uint64_t bucket = bucket_of(row);
    const auto [begin, end] = by_bucket.equal_range(bucket);
    const auto same = std::find_if(begin, end, [&](const auto& entry) {
      const Row other = row_of(s, entry.second);
      return std::ranges::equal(other.column, row.column) && std::ranges::equal(other.value, row.value);
    });
    if (same == end) {
      by_bucket.emplace(bucket, i);
    } else {
      first[at] = same->second;
    }
  }
  return first;
}

}  // namespace posgeom
