#include <algorithm>
#include <cmath>

#include "posgeom/error.hpp"
#include "posgeom/geometry/encodings.hpp"

namespace posgeom {
namespace {

/// A kernel whose distance is `distance(lag)`, without coordinates.
template <class Distance>
LagKernel by_lag(Distance distance) {
  LagKernel kernel;
  kernel.same_at_every_d = true;
  kernel.distances = [distance](Index lags, Index) {
    std::vector<double> distances(static_cast<std::size_t>(lags));
    for (std::size_t lag = 0; lag < distances.size(); ++lag) distances[lag] = distance(static_cast<double>(lag));
    return distances;
  };
  kernel.coordinates = [](std::span<const std::int32_t>, Index) { return std::vector<double>(); };
  return kernel;
}

}  // namespace

LagKernel t5_encoding() {
  return by_lag([](double lag) {
    constexpr double buckets = 16;  // of one sign
    constexpr double exact = 8;
    constexpr double longest = 128;
    if (lag < exact) return lag / (buckets - 1);
    // The logarithms' quotient is an integer at some lags: a little more than rounding keeps it from falling into the bucket below.
    const double beyond = std::floor((buckets - exact) * std::log(lag / exact) / std::log(longest / exact) + 1e-9);
    return std::min(exact + beyond, buckets - 1) / (buckets - 1);
  });
}

LagKernel kerple_log_encoding(double r1, double r2) {
  expects(r1 > 0 && r2 > 0, "positive parameters");
  return by_lag([r1, r2](double lag) { return std::sqrt(2 * r1 * std::log1p(r2 * lag)); });
}

LagKernel kerple_power_encoding(double r1, double r2) {
  expects(r1 > 0 && r2 > 0 && r2 <= 2, "r1 > 0 and 0 < r2 <= 2");
  return by_lag([r1, r2](double lag) { return std::sqrt(2 * r1 * std::pow(lag, r2)); });
}

LagKernel fire_encoding(Index length, double c) {
  expects(length >= 1 && c > 0, "a length and c > 0");
  const double whole = std::log1p(c * static_cast<double>(length));
  return by_lag([c, whole](double lag) { return std::log1p(c * lag) / whole; });
}

}  // namespace posgeom
