#pragma once
#include "geometry/aligned_vector.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Some columns of a tile's two sets of rows of a matrix (column-major), in the order in which the kernels over pairs read them.
class PackedTile {
 public:
  static constexpr Index group = 6;   ///< rows whose numbers are in registers together
  static constexpr Index lanes = 8;   ///< columns of the tile likewise: a vector
  static constexpr Index depth = 64;  ///< columns of x at a time, at most

  /// Numbers of a tile are stored in rows of whole vectors: a tile of `width` columns has this stride, and `padded_count` rows.
  static constexpr Index stride(Index width) { return (width + lanes - 1) / lanes * lanes; }
  static constexpr Index padded_count(Index count) { return (count + group - 1) / group * group; }

  /// For tiles of at most `count` x `width` of x, which has `rows` rows.
  PackedTile(const double* x, Index rows, Index count, Index width);

  /// Columns k_begin .. k_begin+columns-1 of rows first .. first+count-1 and j_begin .. j_begin+width-1. Beyond a tile's last row and
  /// column are those that follow, and beyond x's the last one again: finite numbers that nobody reads.
  void pack(Index first, Index count, Index j_begin, Index width, Index k_begin, Index columns);

  Index columns() const { return columns_; }
  const double* anchors(Index g) const { return anchors_.data() + g * columns_ * group; }  ///< [column][row of the group]
  const double* others(Index v) const { return others_.data() + v * columns_ * lanes; }    ///< [column][lane]

 private:
  void pack_anchors(const double* block, Index first, Index count);
  void pack_others(const double* block, Index j_begin, Index width);

  const double* x_;
  Index rows_;
  Index columns_ = 0;
  AlignedVector<double> anchors_;  ///< [group of rows][column][row]
  AlignedVector<double> others_;   ///< [vector of columns][column][lane]
};

}  // namespace posgeom
