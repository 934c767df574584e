#pragma once
#include <limits>

#include "posgeom/geometry/monotonicity.hpp"
#include "posgeom/geometry/stress.hpp"

namespace posgeom {

/// Sums over all pairs of one encoding at one dimension against H.
struct CellSums {
  double d_squared = 0;    ///< sum D^2
  double d_h = 0;          ///< sum D H
  double residual = 0;     ///< sum (D - H)^2
  double d_variation = 0;  ///< sum (D - mean D)^2
  double covariation = 0;  ///< sum (D - mean D) (H - mean H)
  double smallest = 0;     ///< min D; not read where there are no pairs
  ViolationCount violations;
  double spearman = std::numeric_limits<double>::quiet_NaN();
};

/// The seven numbers of one cell.
struct StressCell {
  double raw, scaled, scale, violation_rate, min_separation, pearson, spearman;
};

/// All NaN: the encoding is undefined at this dimension.
StressCell undefined_cell();
/// `h_variation`: sum (H - mean H)^2. Undefined denominators: see StressTable.
StressCell finish_cell(const CellSums& sums, const HellingerSummary& summary, double h_variation);
void append(StressColumns& columns, const StressCell& cell);

/// 1 - mean(H)^2 / mean(H^2); NaN where sum H^2 = 0.
double constant_baseline(double sum, double sum_squared, Index pair_count);

/// Distances that differ by less than this share of the largest one are tied.
inline constexpr double tie_share = 1e-9;

}  // namespace posgeom
