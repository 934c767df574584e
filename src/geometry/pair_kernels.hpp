#pragma once
#include <limits>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// Squared distances between the rows of a matrix (column-major, `rows` rows), a block of columns at a time. The columns of a tile are
/// packed first, so that the inner loop reads its operands one after the other.
class SquaredDistances {
 public:
  /// Squared distances are stored in rows of whole vectors: a tile of `width` columns has this stride, and `padded_count` rows.
  static constexpr Index stride(Index width) { return (width + lanes - 1) / lanes * lanes; }
  static constexpr Index padded_count(Index count) { return (count + group - 1) / group * group; }

  /// For tiles of at most `count` x `width`.
  SquaredDistances(const double* x, Index rows, Index count, Index width);
  /// Adds (x_ik - x_jk)^2 over the columns k_begin <= k < k_end to squared[r * stride(width) + c], i = first + r, r < count, j = j_begin +
  /// c, c < width. Each number is summed in the order of k: its bits don't depend on the tile, nor on the order of i and j.
  void add(Index first, Index count, Index j_begin, Index width, Index k_begin, Index k_end, double* squared);

 private:
  static constexpr Index group = 6;   ///< rows whose sums are in registers together
  static constexpr Index lanes = 8;   ///< columns likewise: a vector
  static constexpr Index depth = 64;  ///< columns of x that are packed at a time
  friend void add_packed(const double* anchors, Index groups, const double* others, Index vectors, Index columns, double* squared);
  friend void pack_group(const double* x, Index rows, Index columns, double* packed);

  const double* x_;
  Index rows_;
  std::vector<double> anchors_;  ///< [group of rows][k][row]
  std::vector<double> others_;   ///< [vector of columns][k][lane]
};

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
/// vectors are read: 7 doubles beyond the last row of either must exist and be finite numbers or zero.
struct PairTileView {
  const double* squared;
  Index squared_stride;
  const double* h;
  Index h_stride;
  Index count;
  Index width;
  Index diagonal;
};
PairMoments pair_moments(const PairTileView& tile, double shift, double mean_h);

/// roots[c] = sqrt(squared[c]), c < count.
void square_roots(const double* squared, Index count, double* roots);

}  // namespace posgeom
