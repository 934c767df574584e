#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/noise_null.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom::noise {
namespace {

/// The eigenvalues of the tridiagonal matrix are looked at every so many steps.
constexpr Index stride = 8;

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

void subtract(Vector& x, double factor, const Vector& y) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] -= factor * y[k];
}

void centre(Vector& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  const double mean = sum / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
}

struct Ritz {
  double value = 0;
  double error = 0;  ///< there is an eigenvalue this near
};

/// The largest Ritz value of the tridiagonal matrix, whose next off-diagonal element is `beta`: its residual is beta times the last
/// component of the vector, and the error at most that, or its square over the distance to the next value (Kato and Temple).
Ritz largest_ritz(const Vector& diagonal, const Vector& below, double beta) {
  const std::size_t k = diagonal.size();
  Vector matrix(k * k, 0.0);
  for (std::size_t j = 0; j < k; ++j) {
    matrix[j * k + j] = diagonal[j];
    if (j + 1 < k) matrix[j * k + j + 1] = matrix[(j + 1) * k + j] = below[j];
  }
  const DenseEigenpairs pairs = dense_eigh(matrix, static_cast<Index>(k));
  const double residual = beta * std::abs(pairs.vectors[k - 1]);
  const double gap = k > 1 ? pairs.values[0] - pairs.values[1] : 0;
  return {pairs.values[0], gap > residual ? residual * residual / gap : residual};
}

}  // namespace

double largest_centred_eigenvalue(Index n, const std::function<void(std::span<const double>, std::span<double>)>& apply, KeyedWords start,
                                  double tolerance) {
  expects(n >= 2, "vectors that sum to zero");
  Vector v(static_cast<std::size_t>(n));
  for (double& value : v) value = start.unit() - 0.5;
  centre(v);
  std::vector<Vector> basis;
  Vector diagonal;
  Vector below;
  Vector w(v.size());
  double scale = 0;
  double beta = std::sqrt(dot(v, v));
  while (true) {
    for (double& value : v) value /= beta;
    basis.push_back(v);
    apply(v, w);
    centre(w);
    diagonal.push_back(dot(v, w));
    // Twice is enough (Kahan; Parlett 1980).
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& q : basis) subtract(w, dot(q, w), q);
    }
    beta = std::sqrt(dot(w, w));
    scale = std::max({scale, std::abs(diagonal.back()), beta});
    const auto steps = static_cast<Index>(basis.size());
    const bool whole = steps == n - 1 || beta <= 1e-13 * scale;
    if (whole || steps % stride == 0) {
      const Ritz ritz = largest_ritz(diagonal, below, whole ? 0 : beta);
      if (whole || ritz.error <= tolerance * std::abs(ritz.value)) return ritz.value + ritz.error;
    }
    below.push_back(beta);
    std::swap(v, w);
  }
}

}  // namespace posgeom::noise
