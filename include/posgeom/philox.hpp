#pragma once
#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "posgeom/types.hpp"

namespace posgeom {

/// What a stream of random words is for: streams of one seed with different purposes have nothing in common.
enum class Purpose : std::uint64_t { half = 1, shuffle = 2, rarefy = 3, null = 4, start = 5, synthetic = 6, resample = 7 };

/// One of 0 .. bound - 1, each equally likely, from a random word; nothing where another word must be drawn (Lemire 2019).
inline std::optional<std::uint32_t> below(std::uint32_t bound, std::uint32_t word) {
  const std::uint64_t product = std::uint64_t{word} * bound;
  const auto low = static_cast<std::uint32_t>(product);
  if (low < bound && low < -bound % bound) [[unlikely]]
    return std::nullopt;
  return static_cast<std::uint32_t>(product >> 32U);
}

/// Random words that depend on nothing but their key (Philox4x64-10, Salmon et al. 2011): the same on every rank, in any order of reading.
class KeyedWords {
 public:
  struct Key {
    std::uint64_t seed = 0;
    std::uint64_t length = 0;  ///< n, where a stream belongs to one length
    std::uint64_t first = 0, second = 0;
    Purpose purpose = Purpose::half;
  };
  explicit KeyedWords(const Key& key)
      : key_{{key.seed, key.length}}, counter_{{key.first, key.second, 0, static_cast<std::uint64_t>(key.purpose)}} {}

  /// The next words, in whole blocks of 8: blocks do not depend on each other, so that the processor works on several at a time.
  void fill(std::span<std::uint32_t> words) {
    for (std::size_t begin = 0; begin + block_words <= words.size(); begin += block_words, ++counter_[2]) {
      const r123::Philox4x64::ctr_type block = r123::Philox4x64()(counter_, key_);
      for (std::size_t k = 0; k < block_words; k += 2) {
        words[begin + k] = static_cast<std::uint32_t>(block[k / 2]);
        words[begin + k + 1] = static_cast<std::uint32_t>(block[k / 2] >> 32U);
      }
    }
  }
  static constexpr std::size_t block_words = 8;

  /// One word after the other; not together with fill().
  std::uint32_t next() {
    if (used_ == block_words) {
      fill(words_);
      used_ = 0;
    }
    return words_[used_++];
  }
  /// One of 0 .. bound - 1, each equally likely.
  std::uint32_t below(std::uint32_t bound) {
    while (true) {
      if (const auto chosen = posgeom::below(bound, next())) return *chosen;
    }
  }
  /// The middle of one of 2^52 equal parts of (0, 1): never 0 or 1.
  double unit() {
    const std::uint64_t high = next() >> 6U;
    const std::uint64_t low = next() >> 6U;
    return (static_cast<double>((high << 26U) | low) + 0.5) * 0x1p-52;
  }

 private:
  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  std::array<std::uint32_t, block_words> words_{};
  std::size_t used_ = block_words;
};

/// Fisher and Yates's shuffle; every permutation of the (fewer than 2^32) values is equally likely. `swap(i, j)` exchanges two of them.
template <class Swap>
void permute(KeyedWords words, std::uint32_t size, Swap&& swap) {
  constexpr std::size_t block = KeyedWords::block_words;
  std::array<std::uint32_t, 64 * block> drawn;
  for (std::uint32_t left = size; left > 1;) {
    const std::size_t count = std::min(drawn.size(), (std::size_t{left} + block - 2) / block * block);
    words.fill(std::span(drawn).first(count));
    for (std::size_t k = 0; k < count && left > 1; ++k) {
      const auto chosen = below(left, drawn[k]);
      if (chosen) swap(--left, *chosen);
    }
  }
}

/// The half, 0 (a) or 1 (b), of what `key` stands for.
inline int half_of(std::uint64_t seed, std::uint64_t key) {
  std::array<std::uint32_t, KeyedWords::block_words> words;
  KeyedWords({.seed = seed, .first = key, .purpose = Purpose::half}).fill(words);
  return static_cast<int>(words[0] & 1U);
}

}  // namespace posgeom
