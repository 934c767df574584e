#pragma once
#include <span>
#include <vector>

#include "geometry/compensated_sum.hpp"
#include "geometry/pair_kernels.hpp"
#include "geometry/pair_moments.hpp"
#include "geometry/pair_tiles.hpp"
#include "geometry/stress_cell.hpp"

namespace posgeom {

/// Room for the squared distances of a few whole rows, in parts of PairTiles::width columns, and for the distances of one.
struct TripleBuffers {
  /// Rows at a time: few, so that they stay in a core's cache.
  static constexpr Index row_block = 24;
  explicit TripleBuffers(Index rows)
      : squared(static_cast<std::size_t>(row_block * SquaredDistances::stride(rows))), distances(static_cast<std::size_t>(rows)) {}
  /// The part that begins at column j_begin.
  std::span<double> part(Index j_begin) { return std::span(squared).subspan(static_cast<std::size_t>(row_block * j_begin)); }
  AlignedVector<double> squared;
  AlignedVector<double> distances;
};

/// One request of Coordinates while its pairs are swept. Its memory beyond the coordinates is a few doubles a dimension.
class CoordinateSweep {
 public:
  /// `request` must outlive this and hold Coordinates of `rows` rows.
  CoordinateSweep(const StressRequest& request, Index rows);

  /// A tile's pairs; `h` is count x width, `squared` has room for a tile, both with 8 doubles to spare.
  void add_pairs(const PairTiles::Tile& tile, std::span<const double> h, double mean_h, std::span<double> squared);
  /// **Collective.** Between the passes: the sums of all ranks.
  void combine_pairs(const Communicator& comm);
  /// Triples of the anchors first .. first+count-1, count <= TripleBuffers::row_block.
  void add_triples(Index first, Index count, ViolationCounter& counter, TripleBuffers& buffers);
  /// **Collective.** After the last pass.
  StressColumns finish(const Communicator& comm, const HellingerSummary& summary, double h_variation);

  /// Distinct cells: requested dimensions with the same columns share one.
  Index cell_count() const { return std::ssize(width_); }
  /// Adds to a tile's squared distances (as for add_pairs) the columns by which `cell` is wider than the cell before it.
  void add_columns(const PairTiles::Tile& tile, Index cell, std::span<double> squared);
  /// The largest D of a cell, after combine_pairs().
  double largest(Index cell) const { return largest_[static_cast<std::size_t>(cell)]; }
  void set_spearman(Index cell, double value) { spearman_[static_cast<std::size_t>(cell)] = value; }

 private:
  void add_moments(std::size_t cell, const PairMoments& sum);

  const Coordinates* x_;
  Index rows_;
  PairMomentSums moment_sums_;
  std::vector<PairCell> batch_;
  std::vector<PairMoments> batch_moments_;
  SquaredDistances tile_distances_;
  std::vector<Index> cell_of_dimension_;  ///< -1: undefined
  std::vector<Index> width_;              ///< [cells] columns that count, ascending: dimensions beyond `stored` share a cell
  std::vector<double> shift_;             ///< [cells] root mean square of D
  std::vector<CompensatedSum> sums_;      ///< [cells][6], as in PairMoments
  std::vector<double> smallest_;
  std::vector<double> largest_;
  std::vector<Count> violations_;  ///< [cells][2]: violations, comparisons
  std::vector<double> spearman_;
};

}  // namespace posgeom
