#pragma once
#include <Random123/philox.h>

#include <cstdint>
#include <span>
#include <utility>

#include "posgeom/types.hpp"

namespace posgeom {

/// What a stream of random words is for: streams of one seed with different purposes have nothing in common.
enum class Purpose : std::uint64_t { half = 1, shuffle = 2 };

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

  std::uint32_t next() {
    if (used_ == 8) {
      words_ = r123::Philox4x64()(counter_, key_);
      ++counter_[2];
      used_ = 0;
    }
    const std::uint64_t word = words_[used_ / 2];
    return static_cast<std::uint32_t>(used_++ % 2 == 0 ? word : word >> 32U);
  }

  /// One of 0 .. bound - 1, each equally likely (Lemire 2019).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t rejected = -bound % bound;
      while (static_cast<std::uint32_t>(product) < rejected) product = std::uint64_t{next()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32U);
  }

 private:
  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  r123::Philox4x64::ctr_type words_{};
  std::uint32_t used_ = 8;
};

/// Fisher and Yates's shuffle; every permutation of the (fewer than 2^32) values is equally likely. `swap(i, j)` exchanges two of them.
template <class Swap>
void permute(KeyedWords words, std::uint32_t size, Swap&& swap) {
  for (std::uint32_t left = size; left > 1; --left) swap(left - 1, words.below(left));
}

/// The half, 0 (a) or 1 (b), of what `key` stands for.
inline int half_of(std::uint64_t seed, std::uint64_t key) {
  return static_cast<int>(KeyedWords({.seed = seed, .first = key, .purpose = Purpose::half}).next() & 1U);
}

}  // namespace posgeom
