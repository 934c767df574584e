#include "geometry/smacof_start.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace posgeom {
namespace {

constexpr double perturbation = 1e-2;

/// <0, 0, >0 for rows i and j of `s`, in some order of all sparse rows.
int compare_rows(const SquareRootDistributions& s, std::int32_t i, std::int32_t j) {
  const auto a = static_cast<std::size_t>(i);
  const auto b = static_cast<std::size_t>(j);
  const Index count = s.row_end[a] - s.row_begin[a];
  if (const Index other = s.row_end[b] - s.row_begin[b]; count != other) return count < other ? -1 : 1;
  if (s.row_begin[a] == s.row_begin[b]) return 0;
  for (Index e = 0; e < count; ++e) {
    const auto at_a = static_cast<std::size_t>(s.row_begin[a] + e);
    const auto at_b = static_cast<std::size_t>(s.row_begin[b] + e);
    if (s.column[at_a] != s.column[at_b]) return s.column[at_a] < s.column[at_b] ? -1 : 1;
    if (s.value[at_a] != s.value[at_b]) return s.value[at_a] < s.value[at_b] ? -1 : 1;
  }
  return 0;
}

/// Calls `each(begin, end)` for every run of at least two rows of `order` that are the same.
template <class Same, class Each>
void for_runs(const std::vector<std::int32_t>& order, Same&& same, Each&& each) {
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && same(order[begin], order[end])) ++end;
    if (end - begin > 1) each(order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
}

}  // namespace

SmacofStart::SmacofStart(const SquareRootDistributions& s, const Coordinates& start, Index d)
    : m_(start.rows), d_(d), rows_(static_cast<std::size_t>(start.rows * d), 0.0) {
  for (Index k = 0; k < std::min(d, start.stored); ++k) {
    for (Index i = 0; i < m_; ++i) rows_[static_cast<std::size_t>(i * d + k)] = start.values[static_cast<std::size_t>(i + k * m_)];
  }
  // Centred first: far from the origin, rows that differ may end up equal.
  for (Index k = 0; k < d; ++k) {
    double sum = 0;
    for (Index i = 0; i < m_; ++i) sum += rows_[static_cast<std::size_t>(i * d + k)];
    for (Index i = 0; i < m_; ++i) rows_[static_cast<std::size_t>(i * d + k)] -= sum / static_cast<double>(m_);
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(m_));
  std::iota(order.begin(), order.end(), 0);
  std::vector<bool> is_tied(order.size(), false);
  for (Index k = 0; k < d; ++k) {
    const auto value = [&](std::int32_t i) { return rows_[static_cast<std::size_t>(i * d + k)]; };
    std::ranges::sort(order, {}, value);
    for_runs(
        order, [&](std::int32_t i, std::int32_t j) { return value(i) == value(j); },
        [&](auto begin, auto end) { std::for_each(begin, end, [&](std::int32_t i) { is_tied[static_cast<std::size_t>(i)] = true; }); });
  }
  for (std::int32_t i = 0; i < m_; ++i) {
    if (is_tied[static_cast<std::size_t>(i)]) tied_.push_back(i);
  }
  const auto row = [&](std::int32_t i) { return std::span(rows_).subspan(static_cast<std::size_t>(i * d), static_cast<std::size_t>(d)); };
  order = tied_;
  std::ranges::sort(order, [&](std::int32_t i, std::int32_t j) {
    const int in_s = compare_rows(s, i, j);
    return in_s != 0 ? in_s < 0 : std::ranges::lexicographical_compare(row(i), row(j));
  });
  for_runs(
      order, [&](std::int32_t i, std::int32_t j) { return compare_rows(s, i, j) == 0 && std::ranges::equal(row(i), row(j)); },
      [&](auto begin, auto end) { groups_.emplace_back(begin, end); });
}

std::vector<double> SmacofStart::perturbed(std::uint64_t seed) const {
  double sum = 0;
  for (const double x : rows_) sum += x * x;
  const double size = sum > 0 ? perturbation * std::sqrt(sum / static_cast<double>(rows_.size())) : perturbation;
  const Coordinates noise = random_encoding(RandomKind::uniform, seed, tied_, d_);
  std::vector<double> rows = rows_;
  for (std::size_t t = 0; t < tied_.size(); ++t) {
    for (Index k = 0; k < d_; ++k)
      rows[static_cast<std::size_t>(tied_[t] * d_ + k)] += size * noise.values[t + static_cast<std::size_t>(k) * tied_.size()];
  }
  return rows;
}

std::vector<double> SmacofStart::joined(std::vector<double> rows) const {
  for (const std::vector<std::int32_t>& group : groups_) {
    for (Index k = 0; k < d_; ++k) {
      double sum = 0;
      for (const std::int32_t i : group) sum += rows[static_cast<std::size_t>(i * d_ + k)];
      for (const std::int32_t i : group) rows[static_cast<std::size_t>(i * d_ + k)] = sum / static_cast<double>(group.size());
    }
  }
  return rows;
}

}  // namespace posgeom
