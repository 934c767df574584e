#include <cmath>
#include <limits>

#include "posgeom/error.hpp"
#include "posgeom/geometry/encodings.hpp"

namespace posgeom {
namespace {

/// w_k = base^(-2k/d), k = 0 .. d/2-1.
std::vector<double> frequencies(double base, Index d) {
  std::vector<double> w(static_cast<std::size_t>(d / 2));
  for (std::size_t k = 0; k < w.size(); ++k) w[k] = std::pow(base, -2.0 * static_cast<double>(k) / static_cast<double>(d));
  return w;
}

/// Distances of sin/cos pairs at each lag: |p_i - p_j|^2 = tiles sum_k 4 sin^2(lag w_k / 2).
std::vector<double> pair_distances(Index lags, const std::vector<double>& w, Index tiles) {
  std::vector<double> distances(static_cast<std::size_t>(lags));
  for (std::size_t lag = 0; lag < distances.size(); ++lag) {
    double sum = 0;
    for (const double frequency : w) {
      const double half_chord = std::sin(static_cast<double>(lag) * frequency / 2);
      sum += half_chord * half_chord;
    }
    distances[lag] = 2 * std::sqrt(static_cast<double>(tiles) * sum);
  }
  return distances;
}

std::vector<double> undefined(Index lags) {
  std::vector<double> distances(static_cast<std::size_t>(lags), std::numeric_limits<double>::quiet_NaN());
  return distances;
}

/// The rotary head dimension at d, 0 where rope is undefined there.
Index head_at(Index d, Index head_dim) {
  const Index head = std::min(d, head_dim);
  return head % 2 == 0 && d % head == 0 ? head : 0;
}

/// Multiples of the position: D = scale lag, p_i = i slopes.
LagKernel proportional(std::vector<double> slopes, double scale) {
  LagKernel kernel;
  kernel.same_at_every_d = true;
  kernel.distances = [scale](Index lags, Index) {
    std::vector<double> distances(static_cast<std::size_t>(lags));
    for (std::size_t lag = 0; lag < distances.size(); ++lag) distances[lag] = scale * static_cast<double>(lag);
    return distances;
  };
  kernel.coordinates = [slopes = std::move(slopes)](std::span<const std::int32_t> positions, Index) {
    std::vector<double> rows;
    rows.reserve(positions.size() * slopes.size());
    for (const std::int32_t i : positions) {
      for (const double slope : slopes) rows.push_back(i * slope);
    }
    return rows;
  };
  return kernel;
}

}  // namespace

LagKernel sinusoidal_encoding() {
  constexpr double base = 10000;
  LagKernel kernel;
  kernel.distances = [](Index lags, Index d) { return d % 2 == 0 ? pair_distances(lags, frequencies(base, d), 1) : undefined(lags); };
  kernel.coordinates = [](std::span<const std::int32_t> positions, Index d) {
    std::vector<double> rows;
    if (d % 2 != 0) return rows;
    const std::vector<double> w = frequencies(base, d);
    for (const std::int32_t i : positions) {
      for (const double frequency : w) {
        rows.push_back(std::sin(i * frequency));
        rows.push_back(std::cos(i * frequency));
      }
    }
    return rows;
  };
  return kernel;
}

LagKernel rope_encoding(double base, Index head_dim, const RopeScaling& scaling) {
  expects(base > 0 && head_dim >= 1, "a positive base and head dimension");
  LagKernel kernel;
  kernel.distances = [base, head_dim, scaling](Index lags, Index d) {
    const Index head = head_at(d, head_dim);
    return head > 0 ? pair_distances(lags, rope_frequencies(base, head, scaling), d / head) : undefined(lags);
  };
  kernel.coordinates = [base, head_dim, scaling](std::span<const std::int32_t> positions, Index d) {
    std::vector<double> rows;
    const Index head = head_at(d, head_dim);
    if (head == 0) return rows;
    const std::vector<double> w = rope_frequencies(base, head, scaling);
    for (const std::int32_t i : positions) {
      for (Index tile = 0; tile < d / head; ++tile) {
        for (const double frequency : w) {
          rows.push_back(std::cos(i * frequency));
          rows.push_back(std::sin(i * frequency));
        }
      }
    }
    return rows;
  };
  return kernel;
}

LagKernel alibi_encoding(Index heads, Index length) {
  expects(heads >= 1 && length >= 1, "heads and a length");
  std::vector<double> slopes(static_cast<std::size_t>(heads));
  double sum = 0;
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    const double slope = std::exp2(-8.0 * static_cast<double>(k + 1) / static_cast<double>(heads));
    sum += slope * slope;
    slopes[k] = slope / static_cast<double>(length);
  }
  return proportional(std::move(slopes), std::sqrt(sum) / static_cast<double>(length));
}

LagKernel linear_encoding(Index length) {
  expects(length >= 1, "a length");
  return proportional({1 / static_cast<double>(length)}, 1 / static_cast<double>(length));
}

}  // namespace posgeom
