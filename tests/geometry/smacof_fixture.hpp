#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "posgeom/geometry/smacof.hpp"
#include "reference.hpp"
#include "stress_fixture.hpp"
#include "support/world.hpp"

namespace posgeom {

using reference::Matrix;
using reference::Real;

inline SquareRootDistributions drifting(Index n, Unreached unreached = Unreached::drop) {
  PositionCounts counts = synthetic::drifting_counts(n, 40, 0.5, 3);
  return square_root_distributions(counts, n, {.unreached = unreached});
}

inline Coordinates mds_of(const SquareRootDistributions& s) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const Mds mds = classical_mds(grid, s, {.solver = Solver::automatic});
  return mds_encoding(mds.encoding, mds.spectrum.rank);
}

inline Coordinates coordinates(Index m, std::vector<double> values) {
  const Index columns = std::ssize(values) / m;
  return {.rows = m, .columns = columns, .stored = columns, .values = std::move(values)};
}

inline Coordinates random_start(Index m, Index d, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(m * d));
  for (double& x : values) x = normal(generator);
  return coordinates(m, std::move(values));
}

inline Matrix dense_h(const SquareRootDistributions& s) {
  HellingerRows rows(s);
  const Index m = s.row_count();
  Matrix h(static_cast<std::size_t>(m), std::vector<Real>(static_cast<std::size_t>(m)));
  std::vector<double> row(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) {
    rows.compute(i, 1, row);
    for (Index j = 0; j < m; ++j) h[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = row[static_cast<std::size_t>(j)];
  }
  return h;
}

inline Matrix rows_of_solution(const std::vector<double>& values, Index m, Index d) {
  return leading({.rows = m, .columns = d, .stored = d, .values = values}, d);
}

inline Real weight(const std::vector<double>& w, std::size_t i, std::size_t j) {
  return w.empty() ? Real{1} : static_cast<Real>(w[i]) * w[j];
}

inline Real raw_stress(const Matrix& x, const Matrix& h, const std::vector<double>& w = {}) {
  const Matrix d = reference::distances(x);
  Real residual = 0;
  Real total = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    for (std::size_t j = i + 1; j < h.size(); ++j) {
      residual += weight(w, i, j) * (d[i][j] - h[i][j]) * (d[i][j] - h[i][j]);
      total += weight(w, i, j) * h[i][j] * h[i][j];
    }
  }
  return residual / total;
}

/// V^+ B(X) X by solving (V + 11') Y = B X, with the matrices of the definition.
inline Matrix guttman(const Matrix& x, const Matrix& h, const std::vector<double>& w) {
  const std::size_t m = x.size();
  const Matrix d = reference::distances(x);
  Matrix v(m, std::vector<Real>(m, 1));
  Matrix b(m, std::vector<Real>(m, 0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      if (i == j) continue;
      v[i][j] -= weight(w, i, j);
      v[i][i] += weight(w, i, j);
      b[i][j] -= weight(w, i, j) * h[i][j] / d[i][j];
      b[i][i] += weight(w, i, j) * h[i][j] / d[i][j];
    }
  }
  Matrix y(m, std::vector<Real>(x[0].size(), 0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t k = 0; k < x[0].size(); ++k) y[i][k] += b[i][j] * x[j][k];
    }
  }
  for (std::size_t p = 0; p < m; ++p) {  // elimination; V + 11' is positive definite
    for (std::size_t i = 0; i < m; ++i) {
      if (i == p) continue;
      const Real factor = v[i][p] / v[p][p];
      for (std::size_t j = 0; j < m; ++j) v[i][j] -= factor * v[p][j];
      for (std::size_t k = 0; k < y[i].size(); ++k) y[i][k] -= factor * y[p][k];
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (Real& value : y[i]) value /= v[i][i];
  }
  return y;
}

}  // namespace posgeom
