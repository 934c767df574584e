#pragma once
#include <span>
#include <vector>

#include "geometry/compensated_sum.hpp"
#include "geometry/stress_cell.hpp"

namespace posgeom {

/// One request of Coordinates while its pairs are swept. Its memory beyond the coordinates is a few doubles a dimension.
class CoordinateSweep {
 public:
  /// `request` must outlive this and hold Coordinates of `rows` rows.
  CoordinateSweep(const StressRequest& request, Index rows);

  /// Pairs (i, j > i) of the anchors first .. first+count-1; `h` is count x (m - first), columns first .. m-1; `squared` holds 16 m
  /// doubles.
  void add_pairs(Index first, Index count, std::span<const double> h, double mean_h, std::span<double> squared);
  /// **Collective.** Between the passes: the sums of all ranks.
  void combine_pairs(const Communicator& comm);
  /// Triples of the anchors first .. first+count-1; `squared` holds 16 m doubles, `distances` m.
  void add_triples(Index first, Index count, ViolationCounter& counter, std::span<double> squared, std::span<double> distances);
  /// **Collective.** After the second pass.
  StressColumns finish(const Communicator& comm, const HellingerSummary& summary, double h_variation);

 private:
  /// Calls body(cell, squared distances so far) for each width, adding the columns in between.
  template <class Body>
  void for_widths(Index first, Index count, Index j_begin, std::span<double> squared, Body body) const;

  const Coordinates* x_;
  Index rows_;
  std::vector<Index> cell_of_dimension_;  ///< -1: undefined
  std::vector<Index> width_;              ///< [cells] columns that count, ascending: dimensions beyond `stored` share a cell
  std::vector<double> shift_;             ///< [cells] root mean square of D
  std::vector<CompensatedSum> sums_;      ///< [cells][6], as in PairMoments
  std::vector<double> smallest_;
  std::vector<double> largest_;
  std::vector<Count> violations_;  ///< [cells][2]: violations, comparisons
};

}  // namespace posgeom
