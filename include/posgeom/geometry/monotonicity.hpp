#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// Ordered pairs (j, k) of one or more anchors i with |i-j| < |i-k|, and those of them with D_ij > D_ik + tie.
struct ViolationCount {
  Count violations = 0;
  Count comparisons = 0;
  ViolationCount& operator+=(const ViolationCount& other) {
    violations += other.violations;
    comparisons += other.comparisons;
    return *this;
  }
  /// NaN where there are no comparisons.
  double rate() const;
};

/// Counts inversions of distance against lag, exactly, in O(m log m) an anchor (merge sort). Keeps its buffers between calls.
class ViolationCounter {
 public:
  /// `positions`: true indices, ascending.
  explicit ViolationCounter(std::span<const std::int32_t> positions);
  /// `distances`: D_ij for all rows j, [m]; `anchor`: row index of i; `tie`: 1e-9 times the largest D of the whole matrix.
  ViolationCount count(std::span<const double> distances, Index anchor, double tie);

 private:
  std::vector<std::int32_t> positions_;
  std::vector<double> by_lag_;
  std::vector<double> merged_;
};

}  // namespace posgeom
