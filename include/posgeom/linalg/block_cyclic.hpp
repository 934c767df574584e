#pragma once
#include <algorithm>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// One dimension of a block-cyclic distribution (ScaLAPACK's, source process 0): blocks of `block` indices are dealt to `processes` in
/// turn.
struct BlockCyclic {
  Index extent = 0;   ///< global length, >= 0
  Index block = 1;    ///< block size, >= 1
  int processes = 1;  ///< processes in this dimension, >= 1
  int process = 0;    ///< this process's coordinate

  /// A run of consecutive indices that one process holds consecutively too.
  struct Run {
    Index global = 0;  ///< first global index
    Index local = 0;   ///< its local index here
    Index count = 0;
  };

  /// How many of the indices this process holds (ScaLAPACK's numroc).
  constexpr Index local_extent() const {
    const Index full = extent / block;
    Index count = full / processes * block;
    const Index left = full % processes;
    if (process < left) {
      count += block;
    } else if (process == left) {
      count += extent % block;
    }
    return count;
  }
  /// The process that holds global index g.
  constexpr int owner(Index g) const { return static_cast<int>(g / block % processes); }
  /// The index of g within its owner.
  constexpr Index local(Index g) const { return g / block / processes * block + g % block; }
  /// The global index of this process's local index l (indxl2g).
  constexpr Index global(Index l) const { return (l / block * processes + process) * block + l % block; }
  /// This process's blocks in ascending order; loop over these, do not convert indices one by one.
  std::vector<Run> blocks() const {
    std::vector<Run> runs;
    Index local_begin = 0;
    for (Index begin = process * block; begin < extent; begin += block * processes) {
      const Index count = std::min(block, extent - begin);
      runs.push_back({begin, local_begin, count});
      local_begin += count;
    }
    return runs;
  }
};

}  // namespace posgeom
