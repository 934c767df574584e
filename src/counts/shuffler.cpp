#include "counts/shuffler.hpp"

#include <algorithm>
#include <utility>

#include "posgeom/philox.hpp"

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
  if (mixed) {
    add_mixed();
  } else if (!tokens_.empty()) {
    entry_->halves[halves_.empty() ? 0 : halves_[0]].add(0, std::span<const Token>(tokens_));
  }
  drop();
}

/// Each token to its half's table: after the permutation, tokens of either half stand everywhere.
void Shuffler::add_mixed() {
  places_.resize(tokens_.size() + 1);
  for (std::uint8_t half = 0; half < 2; ++half) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      // Without a branch, which would be as good as random.
      places_[count] = static_cast<std::uint32_t>(i);
      count += halves_[i] == half ? 1 : 0;
    }
    entry_->halves[half].add_at(std::span<const std::uint32_t>(places_).first(count), tokens_);
  }
}

}  // namespace posgeom
