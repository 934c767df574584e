#pragma once
#include <algorithm>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// The m rows in blocks of HellingerRows::row_block, dealt to the ranks in turn. A round is one block a rank; in the last one some have
/// none.
class AnchorBlocks {
 public:
  struct Block {
    Index first = 0;
    Index count = 0;  ///< 0: nothing in this round
  };
  AnchorBlocks(const Communicator& comm, Index rows) : rows_(rows), rank_(comm.rank()), ranks_(comm.size()) {}
  /// The same on every rank.
  Index rounds() const { return (rows_ + size * ranks_ - 1) / (size * ranks_); }
  Block block(Index round) const {
    const Index first = std::min((round * ranks_ + rank_) * size, rows_);
    return {first, std::min(size, rows_ - first)};
  }

 private:
  static constexpr Index size = HellingerRows::row_block;
  Index rows_;
  Index rank_;
  Index ranks_;
};

}  // namespace posgeom
