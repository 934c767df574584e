#include "posgeom/geometry/monotonicity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// How many of a changing set of ranks 0 .. size-1 lie below a rank: a binary indexed tree (Fenwick 1994).
class RankSet {
 public:
  explicit RankSet(std::size_t size) : tree_(size + 1, 0) {}
  void add(std::size_t rank, Count change) {
    for (std::size_t k = rank + 1; k < tree_.size(); k += k & (~k + 1)) tree_[k] += change;
    total_ += change;
  }
  Count below(std::size_t rank) const {
    Count sum = 0;
    for (std::size_t k = rank; k > 0; k -= k & (~k + 1)) sum += tree_[k];
    return sum;
  }
  Count from(std::size_t rank) const { return total_ - below(rank); }

 private:
  std::vector<Count> tree_;
  Count total_ = 0;
};

}  // namespace

double ViolationCount::rate() const {
  return comparisons == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(violations) / static_cast<double>(comparisons);
}

ViolationCounter::ViolationCounter(std::span<const std::int32_t> positions)
    : positions_(positions.begin(), positions.end()), by_lag_(positions.size()), inversions_(positions.size()) {}

ViolationCount ViolationCounter::count(std::span<const double> distances, Index anchor, double tie) {
  expects(distances.size() == positions_.size() && anchor >= 0 && anchor < std::ssize(positions_), "one distance a position");
  const auto i = static_cast<std::size_t>(anchor);
  // Outwards from the anchor on both sides. Two rows at one lag are not compared: in ascending order they are no inversion.
  std::size_t left = i;
  std::size_t right = i + 1;
  std::size_t filled = 0;
  Count equal_lags = 0;
  while (left > 0 && right < positions_.size()) {
    const std::int32_t left_lag = positions_[i] - positions_[left - 1];
    const std::int32_t right_lag = positions_[right] - positions_[i];
    if (left_lag < right_lag) {
      by_lag_[filled++] = distances[--left];
    } else if (right_lag < left_lag) {
      by_lag_[filled++] = distances[right++];
    } else {
      const auto [low, high] = std::minmax(distances[--left], distances[right++]);
      by_lag_[filled++] = low;
      by_lag_[filled++] = high;
      ++equal_lags;
    }
  }
  while (left > 0) by_lag_[filled++] = distances[--left];
  while (right < positions_.size()) by_lag_[filled++] = distances[right++];

  const auto others = static_cast<Count>(filled);
  return {inversions_.count(std::span(by_lag_).first(filled), tie), others * (others - 1) / 2 - equal_lags};
}

ViolationCount count_lag_violations(std::span<const double> lag_distances, double tie) {
  // An anchor with a rows on one side and b >= a on the other meets lags 1..a twice and a+1..b once. Let inversions(q) be the pairs among
  // lags 1..q and crossing(a, b) those with p <= a < q <= b. Its violations are 4 inversions(a) + 2 crossing(a, b) from pairs with a lag
  // met twice, and inversions(b) - inversions(a) - crossing(a, b) from the others. Both ends of the sequence give the same number.
  const Index m = std::ssize(lag_distances);
  if (m < 3) return {};
  const auto lags = static_cast<std::size_t>(m - 1);
  const auto distance = [&](std::size_t lag) { return lag_distances[lag]; };
  std::vector<double> sorted(lag_distances.begin() + 1, lag_distances.end());
  std::ranges::sort(sorted);
  const auto rank_of = [&](double x) { return static_cast<std::size_t>(std::ranges::lower_bound(sorted, x) - sorted.begin()); };
  // The lowest rank whose distance is above x.
  const auto rank_above = [&](double x) { return static_cast<std::size_t>(std::ranges::upper_bound(sorted, x) - sorted.begin()); };
  // The number of ranks whose distance x exceeds by more than the tie.
  const auto rank_within = [&](double x) {
    return static_cast<std::size_t>(std::ranges::partition_point(sorted, [&](double y) { return x > y + tie; }) - sorted.begin());
  };

  std::vector<Count> inversions(lags + 1, 0);
  RankSet seen(lags);
  for (std::size_t q = 1; q <= lags; ++q) {
    inversions[q] = inversions[q - 1] + seen.from(rank_above(distance(q) + tie));
    seen.add(rank_of(distance(q)), 1);
  }
  RankSet near(lags);             // lags 1..a
  RankSet far = std::move(seen);  // lags a+1..b
  Count crossing = 0;
  ViolationCount total;
  for (std::size_t a = 0, b = lags;; ++a, --b) {
    const Count anchors = a == b ? 1 : 2;
    total.violations += anchors * (3 * inversions[a] + inversions[b] + crossing);
    const auto others = static_cast<Count>(lags);
    total.comparisons += anchors * (others * (others - 1) / 2 - static_cast<Count>(a));
    if (a + 2 > b) break;
    // Lag b leaves the far set, lag a+1 moves from the far set to the near one.
    crossing -= near.from(rank_above(distance(b) + tie));
    far.add(rank_of(distance(b)), -1);
    crossing -= near.from(rank_above(distance(a + 1) + tie));
    far.add(rank_of(distance(a + 1)), -1);
    crossing += far.below(rank_within(distance(a + 1)));
    near.add(rank_of(distance(a + 1)), 1);
  }
  return total;
}

}  // namespace posgeom
