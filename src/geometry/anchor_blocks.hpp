#pragma once
#include <algorithm>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// The m rows in blocks (of HellingerRows::row_block unless another size is given), dealt to the ranks in turn. A round is one block a
/// rank; in the last one some have none.
class AnchorBlocks {
 public:
  struct Block {
    Index first = 0;
    Index count = 0;  ///< 0: nothing in this round
  };
  AnchorBlocks(const Communicator& comm, Index rows, Index size = HellingerRows::row_block)
      : rows_(rows), rank_(comm.rank()), ranks_(comm.size()), size_(size) {}
  /// The same on every rank.
  Index rounds() const { return (rows_ + size_ * ranks_ - 1) / (size_ * ranks_); }
  Block block(Index round) const {
    const Index first = std::min((round * ranks_ + rank_) * size_, rows_);
    return {first, std::min(size_, rows_ - first)};
  }

 private:
  Index rows_;
  Index rank_;
  Index ranks_;
  Index size_;
};

}  // namespace posgeom
