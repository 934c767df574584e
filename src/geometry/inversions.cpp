#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "geometry/radix_sort.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/monotonicity.hpp"
#include "posgeom/simd.hpp"

namespace posgeom::detail {
namespace {

constexpr std::uint32_t word_bits = 64;
constexpr std::uint32_t block_words = 8;
constexpr std::uint32_t block_bits = word_bits * block_words;
constexpr std::uint32_t lanes = 16;  ///< counts of blocks that are raised together
/// steps[w][k]: 1 where k <= w.
constexpr auto steps = [] {
  std::array<std::array<std::uint16_t, block_words>, block_words> table{};
  for (std::uint32_t w = 0; w < block_words; ++w) {
    for (std::uint32_t k = 0; k <= w; ++k) table[w][k] = 1;
  }
  return table;
}();

}  // namespace

/// For each place in turn: how many ranks seen so far are at least bound[place]; then rank[place] is seen. A bit a rank; for each word of
/// 64 how many of its block's bits stand in it and the words above, for each block of 512 how many in it and the blocks above: few
/// operations a place.
POSGEOM_SIMD static Count count_seen(const std::uint32_t* rank, const std::uint32_t* bound, std::size_t size, std::uint64_t* bits,
                                     std::uint16_t* seen_in_block, std::uint32_t* seen_from) {
  Count found = 0;
  for (std::size_t place = 0; place < size; ++place) {
    const std::uint32_t word = bound[place] / word_bits;
    const std::uint64_t below = bits[word] & ~(~std::uint64_t{0} << bound[place] % word_bits);
    found += seen_from[word / block_words + 1] + seen_in_block[word] - static_cast<std::uint32_t>(std::popcount(below));

    const std::uint32_t own_word = rank[place] / word_bits;
    const std::uint32_t own_block = own_word / block_words;
    bits[own_word] |= std::uint64_t{1} << rank[place] % word_bits;
    std::uint16_t* in_block = seen_in_block + std::size_t{own_block} * block_words;
    const std::uint16_t* step = steps[own_word % block_words].data();
    for (std::uint32_t k = 0; k < block_words; ++k) in_block[k] = static_cast<std::uint16_t>(in_block[k] + step[k]);
    for (std::uint32_t k = 0; k <= own_block; k += lanes) {
      for (std::uint32_t l = 0; l < lanes; ++l) seen_from[k + l] += k + l <= own_block ? 1 : 0;
    }
  }
  return found;
}

InversionCounter::InversionCounter(std::size_t longest) : sorted_(longest), scratch_(longest), rank_(longest), bound_(longest) {
  expects(longest < std::numeric_limits<std::uint32_t>::max() - block_bits, "ranks in 32 bits");
  const std::size_t blocks = longest / block_bits + 2;  // a bound may be one past the last rank, and its block is followed by one more
  bits_.resize(blocks * block_words);
  seen_in_block_.resize(bits_.size());
  seen_from_.resize((blocks + lanes - 1) / lanes * lanes);
}

Count InversionCounter::count(std::span<const double> values, double tie) {
  const std::size_t size = values.size();
  sorted_.resize(size);
  scratch_.resize(size);
  for (std::size_t place = 0; place < size; ++place) sorted_[place] = {key_of(values[place]), static_cast<std::uint32_t>(place)};
  sort_by_key(sorted_, scratch_);
  // bound: the lowest rank whose number exceeds this place's by more than the tie. It ascends with the rank.
  std::size_t bound = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const double limit = number_of(sorted_[rank].key) + tie;
    while (bound < size && number_of(sorted_[bound].key) <= limit) ++bound;
    rank_[sorted_[rank].place] = static_cast<std::uint32_t>(rank);
    bound_[sorted_[rank].place] = static_cast<std::uint32_t>(bound);
  }
  std::ranges::fill(bits_, 0);
  std::ranges::fill(seen_in_block_, std::uint16_t{0});
  std::ranges::fill(seen_from_, 0);
  return count_seen(rank_.data(), bound_.data(), size, bits_.data(), seen_in_block_.data(), seen_from_.data());
}

}  // namespace posgeom::detail
