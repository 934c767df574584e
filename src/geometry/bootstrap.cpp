#include "posgeom/geometry/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "posgeom/error.hpp"

namespace posgeom {

Interval percentile_interval(std::span<const double> replicates, double alpha) {
  expects(alpha > 0 && alpha < 1, "alpha between 0 and 1");
  std::vector<double> sorted;
  std::ranges::copy_if(replicates, std::back_inserter(sorted), [](double x) { return !std::isnan(x); });
  if (sorted.empty()) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::ranges::sort(sorted);
  // 40 times 0.025 must be 1, not one unit in the last place less.
  const auto k = static_cast<std::size_t>(std::max(1.0, std::floor(static_cast<double>(sorted.size() + 1) * alpha / 2 + 1e-9)));
  return {sorted[k - 1], sorted[sorted.size() - k]};
}

Interval basic_interval(double estimate, const Interval& percentile) {
  return {2 * estimate - percentile.high, 2 * estimate - percentile.low};
}

Rankings rank_encodings(std::span<const double> values, Index replicates, Index encodings, Index dimensions) {
  expects(std::ssize(values) == replicates * encodings * dimensions, "a value for each replicate, encoding and dimension");
  Rankings rankings;
  rankings.best.assign(static_cast<std::size_t>(encodings * dimensions), 0.0);
  rankings.modal_rank.assign(rankings.best.size(), 0);
  rankings.modal_share.assign(static_cast<std::size_t>(dimensions), 0.0);
  for (Index d = 0; d < dimensions; ++d) {
    std::map<std::vector<Index>, Index> times;
    for (Index r = 0; r < replicates; ++r) {
      const auto value = [&](Index e) { return values[static_cast<std::size_t>((r * encodings + e) * dimensions + d)]; };
      std::vector<Index> order;
      for (Index e = 0; e < encodings; ++e) {
        if (!std::isnan(value(e))) order.push_back(e);
      }
      std::ranges::stable_sort(order, {}, value);
      if (order.empty()) continue;
      rankings.best[static_cast<std::size_t>(order.front() * dimensions + d)] += 1 / static_cast<double>(replicates);
      ++times[order];
    }
    if (times.empty()) continue;
    const auto modal = std::ranges::max_element(times, {}, [](const auto& ranking) { return ranking.second; });
    rankings.modal_share[static_cast<std::size_t>(d)] = static_cast<double>(modal->second) / static_cast<double>(replicates);
    for (std::size_t place = 0; place < modal->first.size(); ++place)
      rankings.modal_rank[static_cast<std::size_t>(modal->first[place] * dimensions + d)] = static_cast<std::int32_t>(place + 1);
  }
  return rankings;
}

}  // namespace posgeom
