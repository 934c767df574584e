#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "geometry/pair_ranks.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {

namespace detail {

/// One boundary while it is looked for: the number whose place in the order over all ranks is `target` has a key from low + (prefix <<
/// shift).
struct BoundarySearch {
  Count target = 0;
  std::uint64_t prefix = 0;
  Count less = 0;  ///< numbers below that key
};

/// Bits to refine at once: histograms of at most 32 MB.
inline int digit_bits(std::size_t histograms, int bits_left) {
  constexpr int widest = 16;
  constexpr int counters = 22;
  return std::min({bits_left, widest, std::max(1, counters - static_cast<int>(std::bit_width(histograms)))});
}

}  // namespace detail

/// **Collective.** Boundaries, ascending, that cut `total` numbers into at most `buckets` buckets, each at most 1/16 larger than total /
/// buckets. `for_each(visit)` visits the keys of this rank's numbers.
template <class ForEach>
std::vector<RankBoundary> find_boundaries(const Communicator& comm, Count total, Index buckets, ForEach for_each) {
  if (buckets <= 1 || total == 0) return {};
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  collective(comm, "finding the range of distances", [&] {
    for_each([&](std::uint64_t key) {
      low = std::min(low, key);
      high = std::max(high, key);
    });
  });
  low = all_reduce(comm, low, Reduction::minimum);
  high = all_reduce(comm, high, Reduction::maximum);

  std::vector<detail::BoundarySearch> open;
  for (Index b = 1; b < buckets; ++b) open.push_back({.target = static_cast<Count>(WideCount{total} * b / buckets)});
  const Count small = std::max<Count>(1, total / (16 * buckets));
  std::vector<RankBoundary> found;
  // A constant has no bits left: one pass finds its key to stand apart.
  for (auto shift = static_cast<int>(std::bit_width(high - low)); !open.empty();) {
    std::vector<std::uint64_t> prefixes;
    for (const auto& search : open) {
      if (prefixes.empty() || prefixes.back() != search.prefix) prefixes.push_back(search.prefix);
    }
    const int bits = detail::digit_bits(prefixes.size(), shift);
    const int next_shift = shift - bits;
    const std::size_t width = std::size_t{1} << bits;
    std::vector<Count> histogram = collective(comm, "counting distances by their bits", [&] {
      std::vector<Count> counts(prefixes.size() * width, 0);
      for_each([&](std::uint64_t key) {
        const std::uint64_t digits = (key - low) >> next_shift;
        const auto place = std::ranges::lower_bound(prefixes, digits >> bits);
        if (place == prefixes.end() || *place != digits >> bits) return;
        ++counts[static_cast<std::size_t>(place - prefixes.begin()) * width + (digits & (width - 1))];
      });
      return counts;
    });
    all_reduce(comm, std::span(histogram));

    std::vector<detail::BoundarySearch> still_open;
    for (detail::BoundarySearch search : open) {
      const auto at = static_cast<std::size_t>(std::ranges::lower_bound(prefixes, search.prefix) - prefixes.begin()) * width;
      std::size_t bin = 0;
      while (search.less + histogram[at + bin] <= search.target) search.less += histogram[at + bin++];
      search.prefix = (search.prefix << bits) | bin;
      const Count count = histogram[at + bin];
      if (next_shift == 0) {
        found.push_back({low + search.prefix, search.less, count});
      } else if (count <= small) {
        found.push_back({low + (search.prefix << next_shift), search.less, 0});
      } else {
        still_open.push_back(search);
      }
    }
    open = std::move(still_open);
    shift = next_shift;
  }
  std::ranges::sort(found, {}, &RankBoundary::key);
  const auto repeated = std::ranges::unique(found, {}, &RankBoundary::key);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

}  // namespace posgeom
