#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "posgeom/mpi/collective.hpp"

namespace posgeom {

/// A sum of squares as scale^2 * sum with scale the largest magnitude: it neither overflows at 1e200 nor vanishes at 1e-200, and NaN and
/// infinities stay visible (as NaN).
struct ScaledSum {
  double scale = 0;
  double sum = 0;

  double root() const { return scale * std::sqrt(sum); }
  void add(double x, double weight = 1) {
    const double magnitude = std::abs(x);
    if (!std::isfinite(x)) {
      sum = std::numeric_limits<double>::quiet_NaN();
    } else if (magnitude > scale) {
      const double ratio = scale / magnitude;
      sum = weight + sum * ratio * ratio;
      scale = magnitude;
    } else if (magnitude > 0) {
      const double ratio = magnitude / scale;
      sum += weight * ratio * ratio;
    }
  }
};

/// **Collective.** The sum over the ranks; bit-equal on all of them (the reduction alone does not promise that), so that they can decide by
/// it.
inline double sum_over_ranks(const Communicator& comm, double value) {
  double total = all_reduce(comm, value);
  broadcast(comm, std::span(&total, 1));
  return total;
}

/// **Collective.** sqrt of the sums of all ranks together, bit-equal on all of them.
inline double root_over_ranks(const Communicator& comm, const ScaledSum& mine) {
  const double scale = all_reduce(comm, mine.scale, Reduction::maximum);
  const double ratio = scale > 0 ? mine.scale / scale : 1.0;
  return scale * std::sqrt(sum_over_ranks(comm, mine.sum * ratio * ratio));
}

/// **Collective.** The same for each of the sums.
inline std::vector<double> roots_over_ranks(const Communicator& comm, std::span<const ScaledSum> mine) {
  std::vector<double> scales;
  std::vector<double> sums;
  for (const ScaledSum& sum : mine) scales.push_back(sum.scale);
  all_reduce(comm, std::span(scales), Reduction::maximum);
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const double ratio = scales[k] > 0 ? mine[k].scale / scales[k] : 1.0;
    sums.push_back(mine[k].sum * ratio * ratio);
  }
  all_reduce(comm, std::span(sums));
  broadcast(comm, std::span(sums));
  for (std::size_t k = 0; k < mine.size(); ++k) sums[k] = scales[k] * std::sqrt(sums[k]);
  return sums;
}

}  // namespace posgeom
