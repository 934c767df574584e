#pragma once
#include <limits>
#include <span>

#include "geometry/packed_tile.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Sums over some pairs; D - shift and H - mean_h keep the digits of the variances.
struct PairMoments {
  double shifted = 0;          ///< sum (D - shift)
  double shifted_squared = 0;  ///< sum (D - shift)^2
  double cross = 0;            ///< sum (D - shift) (H - mean_h)
  double squared = 0;          ///< sum D^2
  double product = 0;          ///< sum D H
  double residual = 0;         ///< sum (D - H)^2
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
};

/// A tile's squared distances and Hellinger distances. Its pairs are the columns c > r + diagonal, c < width, of its rows r < count. Whole
/// vectors and groups of rows are read: up to padded_count(count) rows, and 7 doubles beyond the last one, must exist and be finite.
struct PairTileView {
  double* squared;  ///< rows of PackedTile::stride(width)
  const double* h;  ///< rows of `width`
  Index count;
  Index width;
  Index diagonal;
};

/// A dimension at which the pairs are summed.
struct PairCell {
  Index end;     ///< after so many of the packed columns
  double shift;  ///< of its D
};

/// Adds the packed columns to the tile's squared distances, one after the other, and sums the pairs at each cell on the way: the distances
/// stay in registers from one cell to the next. moments[cell]; at most PairMomentSums::most_cells, by `end`.
class PairMomentSums {
 public:
  static constexpr Index most_cells = 32;
  PairMomentSums();
  void add(const PackedTile& packed, const PairTileView& tile, std::span<const PairCell> cells, double mean_h,
           std::span<PairMoments> moments);

 private:
  AlignedVector<double> sums_;  ///< [cells][8][lanes], in the order of PairMoments
};

}  // namespace posgeom
