#include "geometry/noise_null.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "geometry/rarefy_sampling.hpp"
#include "posgeom/error.hpp"

namespace posgeom::noise {
namespace {

/// Types expected so often in a row, or more, are drawn by binomials; the others' draws cost less one by one.
constexpr double head_mean = 4;

/// Vose's alias table (1991) of weights: column k stands for itself with probability keep[k], else for alias[k].
void make_alias_table(std::span<const Count> weights, std::vector<double>& keep, std::vector<std::uint32_t>& alias) {
  const std::size_t n = weights.size();
  keep.assign(n, 1.0);
  alias.resize(n);
  std::iota(alias.begin(), alias.end(), std::uint32_t{0});
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> level(n);
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::size_t k = 0; k < n; ++k) {
    level[k] = static_cast<double>(weights[k]) * (static_cast<double>(n) / total);
    (level[k] < 1 ? small : large).push_back(static_cast<std::uint32_t>(k));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t s = small.back();
    const std::uint32_t l = large.back();
    small.pop_back();
    keep[s] = level[s];
    alias[s] = l;
    level[l] -= 1 - level[s];
    if (level[l] < 1) {
      large.pop_back();
      small.push_back(l);
    }
  }
}

}  // namespace

NullRows::NullRows(std::vector<Count> pooled, Count total) : pooled_(std::move(pooled)), total_(total) {
  std::erase(pooled_, 0);
  std::ranges::sort(pooled_, std::greater());
  expects(!pooled_.empty() && total >= 1 && std::ssize(pooled_) < Index{1} << 31, "a distribution, and tokens to draw");
  const double all = std::accumulate(pooled_.begin(), pooled_.end(), 0.0);
  const auto in_head = [&](Count c) { return static_cast<double>(total) * static_cast<double>(c) >= head_mean * all; };
  head_count_ = std::ranges::partition_point(pooled_, in_head) - pooled_.begin();
  Count left = std::accumulate(pooled_.begin(), pooled_.end(), Count{0});
  for (const Count c : std::span(pooled_).first(static_cast<std::size_t>(head_count_))) {
    conditional_.push_back(static_cast<double>(c) / static_cast<double>(left));
    shift_.push_back(std::sqrt(static_cast<double>(c) / all));
    left -= c;
  }
  make_alias_table(std::span(pooled_).subspan(static_cast<std::size_t>(head_count_)), keep_, alias_);
  drawn_.assign(keep_.size(), 0);
}

void NullRows::draw(std::uint64_t seed, Index replicate, Index first, Index rows) {
  rows_ = rows;
  head_.resize(static_cast<std::size_t>(head_count_ * rows));
  by_row_.clear();
  row_end_.clear();
  for (Index k = 0; k < rows; ++k) {
    draw_row(KeyedWords({.seed = seed,
                         .first = static_cast<std::uint64_t>(replicate),
                         .second = static_cast<std::uint64_t>(first + k),
                         .purpose = Purpose::null}),
             k);
  }
  sort_by_type();
}

void NullRows::draw_row(KeyedWords words, Index k) {
  Count left = total_;
  for (std::size_t t = 0; t < conditional_.size(); ++t) {
    const Count count = sampling::binomial(words, left, conditional_[t]);
    left -= count;
    head_[t * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(k)] =
        static_cast<float>(std::sqrt(static_cast<double>(count) / static_cast<double>(total_)) - shift_[t]);
  }
  touched_.clear();
  for (; left > 0 && !keep_.empty(); --left) {
    const std::uint32_t column = words.below(static_cast<std::uint32_t>(keep_.size()));
    const std::uint32_t type = (words.next() + 0.5) * 0x1p-32 < keep_[column] ? column : alias_[column];
    if (drawn_[type]++ == 0) touched_.push_back(type);
  }
  for (const std::uint32_t type : touched_) by_row_.push_back({type, std::exchange(drawn_[type], 0)});
  row_end_.push_back(std::ssize(by_row_));
}

void NullRows::sort_by_type() {
  std::uint32_t levels = 0;  // types of the tail are rare: few counts
  for (const Drawn& drawn : by_row_) levels = std::max(levels, drawn.count);
  const auto key = [levels](const Drawn& drawn) { return std::size_t{drawn.type} * levels + drawn.count - 1; };
  place_.assign(keep_.size() * levels + 1, 0);
  for (const Drawn& drawn : by_row_) ++place_[key(drawn) + 1];
  for (std::size_t k = 1; k < place_.size(); ++k) place_[k] += place_[k - 1];
  groups_.clear();
  group_end_.clear();
  for (std::size_t type = 0; type < keep_.size(); ++type) {
    for (std::uint32_t level = 0; level < levels; ++level) {
      const std::size_t k = type * levels + level;
      if (place_[k + 1] > place_[k]) groups_.push_back({level + 1, place_[k + 1]});
    }
    group_end_.push_back(std::ssize(groups_));
  }
  row_.resize(by_row_.size());
  std::size_t e = 0;
  for (std::size_t k = 0; k < row_end_.size(); ++k) {
    for (; e < static_cast<std::size_t>(row_end_[k]); ++e)
      row_[static_cast<std::size_t>(place_[key(by_row_[e])]++)] = static_cast<std::uint32_t>(k);
  }
  root_.clear();
  for (std::uint32_t count = 0; count <= levels; ++count) root_.push_back(std::sqrt(count / static_cast<double>(total_)));
}

std::vector<Count> NullRows::counts_of(Index k) const {
  std::vector<Count> counts(pooled_.size(), 0);
  for (Index t = 0; t < head_count_; ++t) {
    const double value = static_cast<double>(head_[static_cast<std::size_t>(t * rows_ + k)]) + shift_[static_cast<std::size_t>(t)];
    counts[static_cast<std::size_t>(t)] = static_cast<Count>(std::llround(value * value * static_cast<double>(total_)));
  }
  for (Index t = 0; t < std::ssize(group_end_); ++t) {
    for (auto g = static_cast<std::size_t>(group_begin(t)); g < static_cast<std::size_t>(group_end_[static_cast<std::size_t>(t)]); ++g) {
      const auto rows = std::span(row_)
                            .first(static_cast<std::size_t>(groups_[g].end))
                            .subspan(static_cast<std::size_t>(g == 0 ? 0 : groups_[g - 1].end));
      if (std::ranges::binary_search(rows, static_cast<std::uint32_t>(k)))
        counts[static_cast<std::size_t>(head_count_ + t)] = groups_[g].count;
    }
  }
  return counts;
}

}  // namespace posgeom::noise
