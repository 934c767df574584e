#pragma once
#include "geometry/packed_tile.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Squared distances between the rows of a matrix (column-major, `rows` rows), a block of columns at a time.
class SquaredDistances {
 public:
  static constexpr Index stride(Index width) { return PackedTile::stride(width); }
  static constexpr Index padded_count(Index count) { return PackedTile::padded_count(count); }

  /// For tiles of at most `count` x `width`.
  SquaredDistances(const double* x, Index rows, Index count, Index width) : packed_(x, rows, count, width) {}
  /// Adds (x_ik - x_jk)^2 over the columns k_begin <= k < k_end to squared[r * stride(width) + c], i = first + r, r < count, j = j_begin +
  /// c, c < width. Each number is summed in the order of k: its bits don't depend on the tile, nor on the order of i and j.
  void add(Index first, Index count, Index j_begin, Index width, Index k_begin, Index k_end, double* squared);

  /// What it packs columns in, for kernels that go over the same tiles.
  PackedTile& packed() { return packed_; }

 private:
  PackedTile packed_;
};

/// roots[c] = sqrt(squared[c]), c < count.
void square_roots(const double* squared, Index count, double* roots);

}  // namespace posgeom
