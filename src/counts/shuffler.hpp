#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "counts/count_tables.hpp"

namespace posgeom {

/// The shuffle null of one length: tokens permuted within each sequence, counted into a table. A sequence is given in pieces, in order; its
/// permutation depends on seed, length and what identifies the sequence, on nothing else.
class Shuffler {
 public:
  Shuffler(CountTables::Entry& entry, std::uint64_t seed) : entry_(&entry), seed_(seed) {}

  bool open() const { return open_; }
  /// Tokens of the open sequence so far.
  Index size() const { return std::ssize(tokens_); }
  Index bytes() const {
    return static_cast<Index>(tokens_.capacity() * sizeof(Token) + places_.capacity() * sizeof(std::uint32_t) + halves_.capacity());
  }

  /// Document, or document and window, or block.
  void begin(Index first, Index second = 0);
  /// Tokens of half `half` follow.
  template <class Id>
  void append(std::span<const Id> ids, int half) {
    tokens_.insert(tokens_.end(), ids.begin(), ids.end());
    if (entry_->halves.size() > 1) halves_.resize(tokens_.size(), static_cast<std::uint8_t>(half));
  }
  /// Permutes the sequence, and counts it.
  void end();
  /// Forgets the sequence.
  void drop();

 private:
  void add_mixed();

  CountTables::Entry* entry_;
  std::uint64_t seed_;
  Index first_ = 0, second_ = 0;
  bool open_ = false;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint8_t> halves_;  ///< of each token, with split: they go where their tokens go
};

}  // namespace posgeom
