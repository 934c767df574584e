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

namespace detail {

struct KeyedPlace {
  std::uint64_t key = 0;    ///< a number, as an unsigned integer of the same order
  std::uint32_t place = 0;  ///< where it stood
};

/// Pairs (a, b) of a sequence, a before b, with a > b + tie: exact, any ties. A radix sort gives ranks, a bit set counts those seen.
class InversionCounter {
 public:
  explicit InversionCounter(std::size_t longest);
  /// `values`: at most `longest` numbers; tie >= 0.
  Count count(std::span<const double> values, double tie);

 private:
  std::vector<KeyedPlace> sorted_;
  std::vector<KeyedPlace> scratch_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::uint32_t> bound_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint16_t> seen_in_block_;
  std::vector<std::uint32_t> seen_from_;
};

}  // namespace detail

/// Counts inversions of distance against lag, exactly, in about O(m) an anchor. Keeps its buffers between calls.
class ViolationCounter {
 public:
  /// `positions`: true indices, ascending.
  explicit ViolationCounter(std::span<const std::int32_t> positions);
  /// `distances`: D_ij for all rows j, [m]; `anchor`: row index of i; `tie`: 1e-9 times the largest D of the whole matrix.
  ViolationCount count(std::span<const double> distances, Index anchor, double tie);

 private:
  std::vector<std::int32_t> positions_;
  std::vector<double> by_lag_;
  detail::InversionCounter inversions_;
};

/// The counts of all anchors at once where the distance is a function of the lag and the m positions are consecutive; `lag_distances`: D at
/// lags 0 .. m-1. Exactly what ViolationCounter gives over all anchors, in O(m log m) altogether.
ViolationCount count_lag_violations(std::span<const double> lag_distances, double tie);

}  // namespace posgeom
