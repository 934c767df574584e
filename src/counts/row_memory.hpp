#pragma once
#include <map>
#include <set>
#include <utility>

#include "counts/huge_buffer.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Memory of rows, taken from the system in large slabs: a table is mostly written for the first time, and to get it by small pages would
/// cost more than the counting. Blocks are cut from the smallest gap that holds them; gaps that touch become one.
class RowMemory {
 public:
  struct Block {
    std::byte* data = nullptr;
    Index bytes = 0;
  };

  /// `row_bytes`: of a usual row; `table_bytes`: of all of them. Both only set the size of the slabs.
  RowMemory(Index row_bytes, Index table_bytes);

  /// Not cleared; aligned to 64 bytes, of which `bytes` is a multiple. Throws std::bad_alloc.
  Block allocate(Index bytes);
  /// Slabs without blocks go back to the system, but for one.
  void release(Block& block);
  Index bytes() const { return bytes_; }

 private:
  void add_slab(Index bytes);
  void add_gap(std::byte* data, Index bytes);
  void remove_gap(std::byte* data, Index bytes);

  Index slab_bytes_;
  Index bytes_ = 0;
  Index empty_slabs_ = 0;
  std::map<std::byte*, HugeBuffer> slabs_;          ///< by their beginnings
  std::map<std::byte*, Index> gaps_;                ///< beginning -> bytes
  std::set<std::pair<Index, std::byte*>> by_size_;  ///< the same
};

}  // namespace posgeom
