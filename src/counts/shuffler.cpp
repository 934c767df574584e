#include "counts/shuffler.hpp"

#include <algorithm>
#include <utility>

#include "counts/philox.hpp"

namespace posgeom {

void Shuffler::begin(Index first, Index second) {
  drop();
  first_ = first;
  second_ = second;
  open_ = true;
}

void Shuffler::drop() {
  tokens_.clear();
  halves_.clear();
  open_ = false;
}

void Shuffler::end() {
  const KeyedWords words({.seed = seed_,
                          .length = static_cast<std::uint64_t>(entry_->kind.length),
                          .first = static_cast<std::uint64_t>(first_),
                          .second = static_cast<std::uint64_t>(second_),
                          .purpose = Purpose::shuffle});
  const auto size = static_cast<std::uint32_t>(tokens_.size());
  // Most sequences lie in one half; the order of equals does not matter then.
  const bool mixed = !halves_.empty() && std::ranges::find(halves_, halves_[0] ^ 1U) != halves_.end();
  if (mixed) {
    permute(words, size, [this](std::uint32_t i, std::uint32_t j) {
      std::swap(tokens_[i], tokens_[j]);
      std::swap(halves_[i], halves_[j]);
    });
  } else {
    permute(words, size, [this](std::uint32_t i, std::uint32_t j) { std::swap(tokens_[i], tokens_[j]); });
  }
  for (std::size_t begin = 0; begin < tokens_.size();) {
    std::size_t end = mixed ? begin + 1 : tokens_.size();
    while (end < tokens_.size() && halves_[end] == halves_[begin]) ++end;
    const std::size_t half = halves_.empty() ? 0 : halves_[begin];
    entry_->halves[half].add(static_cast<Index>(begin), std::span<const Token>(tokens_).subspan(begin, end - begin));
    begin = end;
  }
  drop();
}

}  // namespace posgeom
