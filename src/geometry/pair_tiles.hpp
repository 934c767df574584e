#pragma once
#include <algorithm>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// The pairs i < j of m rows in tiles of height x width that stay in a core's cache while all dimensions pass over them. Tiles are dealt to
/// the ranks in turn; a round is one tile a rank. Each tile is the same whatever the rank count, and so are the sums over it.
class PairTiles {
 public:
  static constexpr Index height = 48;  ///< HellingerRows::row_block: higher tiles would take a second panel in the cache
  static constexpr Index width = 256;
  /// Doubles of a tile's buffer: whole vectors are read, so many beyond its last row.
  static constexpr std::size_t room = static_cast<std::size_t>(height * width) + 8;

  struct Tile {
    Index first = 0;    ///< rows first .. first+count-1
    Index count = 0;    ///< 0: nothing in this round
    Index j_begin = 0;  ///< against rows j_begin .. j_begin+width-1, j_begin <= first + count; a multiple of 8
    Index width = 256;
    /// The first column of row r that belongs to a pair i < j.
    Index row_begin(Index r) const { return std::clamp<Index>(first + r + 1 - j_begin, 0, width); }
    Index pair_count() const {
      Index pairs = 0;
      for (Index r = 0; r < count; ++r) pairs += width - row_begin(r);
      return pairs;
    }
  };

  PairTiles(const Communicator& comm, Index rows) : rows_(rows), rank_(comm.rank()), ranks_(comm.size()) {
    for (Index first = 0; first < rows; first += height) {
      begin_.push_back(total_);
      total_ += (rows - first + width - 1) / width;
    }
  }
  /// The same on every rank.
  Index rounds() const { return (total_ + ranks_ - 1) / ranks_; }
  Tile tile(Index round) const {
    const Index at = round * ranks_ + rank_;
    if (at >= total_) return {};
    const Index block = std::upper_bound(begin_.begin(), begin_.end(), at) - begin_.begin() - 1;
    const Index first = block * height;
    const Index j_begin = first + (at - begin_[static_cast<std::size_t>(block)]) * width;
    return {first, std::min(height, rows_ - first), j_begin, std::min(width, rows_ - j_begin)};
  }

 private:
  Index rows_;
  Index rank_;
  Index ranks_;
  Index total_ = 0;
  std::vector<Index> begin_;  ///< the first tile of each block of rows
};

}  // namespace posgeom
