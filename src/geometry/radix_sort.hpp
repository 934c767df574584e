#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace posgeom {

/// A number as an unsigned key of the same order, and back.
inline std::uint64_t key_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits >> 63U) != 0 ? ~bits : bits | (std::uint64_t{1} << 63U);
}
inline double number_of(std::uint64_t key) { return std::bit_cast<double>((key >> 63U) != 0 ? key & ~(std::uint64_t{1} << 63U) : ~key); }

/// Ascending by the member `key`, an unsigned 64-bit number, by digits from the lowest: no branch depends on the data. Fewer than 2^32
/// values; `scratch` is as long.
template <class Keyed>
void sort_by_key(std::vector<Keyed>& values, std::vector<Keyed>& scratch) {
  constexpr unsigned digit_bits = 11;
  constexpr unsigned digit_count = 6;
  constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
  // Below this many numbers comparisons are quicker than the counts of six digits.
  constexpr std::size_t shortest_radix_sort = 1024;
  if (values.size() < shortest_radix_sort) {
    std::ranges::sort(values, {}, &Keyed::key);
    return;
  }
  const auto digit = [](std::uint64_t key, unsigned d) { return static_cast<unsigned>(key >> (d * digit_bits)) & (digit_values - 1); };
  std::array<std::array<std::uint32_t, digit_values>, digit_count> begin{};
  for (const Keyed& value : values) {
    for (unsigned d = 0; d < digit_count; ++d) ++begin[d][digit(value.key, d)];
  }
  for (unsigned d = 0; d < digit_count; ++d) {
    if (begin[d][digit(values.front().key, d)] == values.size()) continue;  // one digit for all
    std::uint32_t sum = 0;
    for (std::uint32_t& entry : begin[d]) sum += std::exchange(entry, sum);
    for (const Keyed& value : values) scratch[begin[d][digit(value.key, d)]++] = value;
    values.swap(scratch);
  }
}

}  // namespace posgeom
