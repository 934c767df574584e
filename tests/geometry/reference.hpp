#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/monotonicity.hpp"

/// Straightforward dense implementations of the definitions, on one rank, in long double.
namespace posgeom::reference {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;

/// S over the whole vocabulary, from the counts; `positions` receives the kept ones.
inline Matrix square_roots(const PositionCounts& counts, Index length, const HellingerOptions& options,
                           std::vector<std::int32_t>& positions) {
  Matrix s;
  positions.clear();
  const Real factor = options.unit_range ? 1 / std::sqrt(Real{2}) : Real{1};
  for (Index i = 0; i < length; ++i) {
    std::vector<Real> row(static_cast<std::size_t>(counts.vocab_size), 0);
    const auto total = static_cast<Real>(counts.position_total[static_cast<std::size_t>(i)]);
    if (total >= static_cast<Real>(std::max<Count>(1, options.min_count))) {
      for (std::size_t e = 0; e < counts.tokens_at(i).size(); ++e) {
        row[static_cast<std::size_t>(counts.tokens_at(i)[e])] = factor * std::sqrt(static_cast<Real>(counts.counts_at(i)[e]) / total);
      }
    } else if (options.unreached == Unreached::drop) {
      continue;
    } else if (options.unreached == Unreached::uniform) {
      for (Real& x : row) x = factor * std::sqrt(1 / static_cast<Real>(counts.vocab_size));
    }
    positions.push_back(static_cast<std::int32_t>(i));
    s.push_back(row);
  }
  return s;
}

inline Real distance(const std::vector<Real>& x, const std::vector<Real>& y) {
  Real sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return std::sqrt(sum);
}

/// Distances between the rows.
inline Matrix distances(const Matrix& rows) {
  Matrix d(rows.size(), std::vector<Real>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) d[i][j] = distance(rows[i], rows[j]);
  }
  return d;
}

/// -1/2 J H^2 J, by its own definition.
inline Matrix gram(const Matrix& h) {
  const std::size_t m = h.size();
  std::vector<Real> mean(m, 0);
  Real grand = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) mean[i] += h[i][j] * h[i][j] / static_cast<Real>(m);
    grand += mean[i] / static_cast<Real>(m);
  }
  Matrix b = h;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) b[i][j] = -(h[i][j] * h[i][j] - mean[i] - mean[j] + grand) / 2;
  }
  return b;
}

struct Stress {
  Real raw = 0, scaled = 0, scale = 0, violation_rate = 0, min_separation = 0, pearson = 0;
};

/// All triples, in double as the definition of the tie has it.
inline ViolationCount violations(const std::vector<std::int32_t>& position, const Matrix& d) {
  Real largest = 0;
  for (const auto& row : d) {
    for (const Real x : row) largest = std::max(largest, x);
  }
  const auto tie = static_cast<double>(1e-9L * largest);
  ViolationCount count;
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t j = 0; j < d.size(); ++j) {
      for (std::size_t k = 0; k < d.size(); ++k) {
        if (j == i || k == i || !(std::abs(position[i] - position[j]) < std::abs(position[i] - position[k]))) continue;
        ++count.comparisons;
        if (static_cast<double>(d[i][j]) > static_cast<double>(d[i][k]) + tie) ++count.violations;
      }
    }
  }
  return count;
}

/// The definitions, where no denominator vanishes.
inline Stress stress(const std::vector<std::int32_t>& position, const Matrix& d, const Matrix& h) {
  Real n = 0, sd = 0, sh = 0, dd = 0, hh = 0, dh = 0, difference = 0;
  Stress result;
  result.min_separation = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t j = i + 1; j < d.size(); ++j) {
      n += 1;
      sd += d[i][j];
      sh += h[i][j];
      dd += d[i][j] * d[i][j];
      hh += h[i][j] * h[i][j];
      dh += d[i][j] * h[i][j];
      difference += (d[i][j] - h[i][j]) * (d[i][j] - h[i][j]);
      result.min_separation = std::min(result.min_separation, d[i][j]);
    }
  }
  result.raw = difference / hh;
  result.scale = dh / dd;
  result.scaled = 1 - dh * dh / (dd * hh);
  result.pearson = (dh - sd * sh / n) / std::sqrt((dd - sd * sd / n) * (hh - sh * sh / n));
  result.violation_rate = violations(position, d).rate();
  return result;
}

/// 2 (numbers below) + (numbers equal) + 1.
inline std::vector<Count> doubled_ranks(const std::vector<double>& values) {
  std::vector<double> sorted(values);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Count> ranks;
  for (const double value : values) {
    const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(2 * (begin - sorted.begin()) + (end - begin) + 1);
  }
  return ranks;
}

/// Distances in units of a billionth of the largest, rounded: ties are equal.
inline std::vector<double> with_ties(std::vector<double> distances) {
  const double largest = distances.empty() ? 0 : *std::max_element(distances.begin(), distances.end());
  for (double& distance : distances) distance = largest > 0 ? std::nearbyint(distance / (1e-9 * largest)) : 0;
  return distances;
}

/// Pearson's correlation of the average ranks; NaN where either is constant.
inline double correlation_of_ranks(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<Count> a = doubled_ranks(x);
  const std::vector<Count> b = doubled_ranks(y);
  const Real mean = static_cast<Real>(x.size()) + 1;
  Real aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    aa += (static_cast<Real>(a[k]) - mean) * (static_cast<Real>(a[k]) - mean);
    bb += (static_cast<Real>(b[k]) - mean) * (static_cast<Real>(b[k]) - mean);
    ab += (static_cast<Real>(a[k]) - mean) * (static_cast<Real>(b[k]) - mean);
  }
  return aa > 0 && bb > 0 ? static_cast<double>(ab / std::sqrt(aa * bb)) : std::numeric_limits<double>::quiet_NaN();
}

inline double spearman(const std::vector<double>& d, const std::vector<double>& h) {
  return correlation_of_ranks(with_ties(d), with_ties(h));
}

}  // namespace posgeom::reference
