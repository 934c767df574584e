#pragma once
#include <algorithm>
#include <cmath>

#include "posgeom/types.hpp"

namespace posgeom {

/// How many steps in all the residual takes to the tolerance, by its progress between two restarts.
class Foresight {
 public:
  /// Steps in all; 0: not known yet.
  Index add(Index steps, double worst, double tolerance) {
    const double exponent = std::log10(std::max(worst, 1e-300));
    Index needed = 0;
    if (last_steps_ > 0) {
      const double rate = (last_exponent_ - exponent) / static_cast<double>(steps - last_steps_);
      const double missing = exponent - std::log10(tolerance);
      constexpr double never = 1e9;
      needed = steps + static_cast<Index>(std::min(never, rate > 0 ? missing / rate : never));
    }
    last_steps_ = steps;
    last_exponent_ = exponent;
    return needed;
  }

 private:
  Index last_steps_ = 0;
  double last_exponent_ = 0;
};

/// Watches the first solved steps of a basis. Measured, K = 16 to 256: where the spectrum decays, the residual falls by a decade a step;
/// over a flat bulk by a tenth or less, until after 50 steps and more the basis has told the bulk's eigenvalues apart.
class FlatBulk {
 public:
  /// How many steps such a bulk takes in all, once its signs are there; 0 before, and where the residual falls.
  Index foretold(Index steps, Index wanted, double worst) {
    constexpr Index watched = 4;
    if (first_steps_ == 0) {
      first_steps_ = steps;
      first_worst_ = worst;
    }
    if (steps != first_steps_ + watched || worst < 1e-3) return 0;
    const double decades = std::log10(first_worst_ / worst) / static_cast<double>(watched);
    return decades < 0.15 ? 50 + wanted / 8 : 0;
  }

 private:
  Index first_steps_ = 0;
  double first_worst_ = 0;
};

}  // namespace posgeom
