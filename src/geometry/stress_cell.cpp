#include "geometry/stress_cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace posgeom {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether values with this sum of squares about their mean are constant up to 1e-12 of their root mean square.
bool is_constant(double variation, double sum_squared) { return !(variation > 1e-24 * sum_squared); }

}  // namespace

StressCell undefined_cell() { return {nan, nan, nan, nan, nan, nan, nan}; }

StressCell finish_cell(const CellSums& sums, const HellingerSummary& summary, double h_variation) {
  StressCell cell = undefined_cell();
  const double h_squared = summary.sum_squared;
  if (h_squared > 0) {
    cell.raw = sums.residual / h_squared;
  } else {
    cell.raw = sums.d_squared > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  if (sums.d_squared > 0) cell.scale = sums.d_h / sums.d_squared;
  if (sums.d_squared > 0 && h_squared > 0) {
    // Near a perfect fit 1 - (...) is all rounding; the difference of raw and scaled stress, (1 - alpha*)^2 sum D^2 / sum H^2, is not.
    const double from_raw = cell.raw - (1 - cell.scale) * (1 - cell.scale) * (sums.d_squared / h_squared);
    const double direct = 1 - sums.d_h / sums.d_squared * (sums.d_h / h_squared);
    cell.scaled = std::clamp(cell.raw < 0.5 ? from_raw : direct, 0.0, 1.0);
  }
  cell.violation_rate = sums.violations.rate();
  if (summary.pair_count > 0) cell.min_separation = sums.smallest;
  if (!is_constant(sums.d_variation, sums.d_squared) && !is_constant(h_variation, h_squared)) {
    cell.pearson = std::clamp(sums.covariation / (std::sqrt(sums.d_variation) * std::sqrt(h_variation)), -1.0, 1.0);
    cell.spearman = sums.spearman;
  }
  return cell;
}

void append(StressColumns& columns, const StressCell& cell) {
  columns.raw.push_back(cell.raw);
  columns.scaled.push_back(cell.scaled);
  columns.scale.push_back(cell.scale);
  columns.violation_rate.push_back(cell.violation_rate);
  columns.min_separation.push_back(cell.min_separation);
  columns.pearson.push_back(cell.pearson);
  columns.spearman.push_back(cell.spearman);
}

double constant_baseline(double sum, double sum_squared, Index pair_count) {
  if (!(sum_squared > 0)) return nan;
  return std::clamp(1 - sum / static_cast<double>(pair_count) * (sum / sum_squared), 0.0, 1.0);
}

}  // namespace posgeom
