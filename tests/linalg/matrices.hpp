#pragma once
// Symmetric test matrices as functions of the indices, the same on every rank, and dense references.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom::test {

inline constexpr double eps = std::numeric_limits<double>::epsilon();

/// Uniform in (-1, 1), a function of its arguments alone.
inline double noise(Index i, Index j, std::uint64_t seed = 1) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fU +
                    seed * 0x165667b19e3779f9U;
  for (int round = 0; round < 3; ++round) {
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93U;
  }
  x ^= x >> 32;
  return std::ldexp(static_cast<double>(x >> 11) + 0.5, -52) - 1.0;
}

inline double symmetric_noise(Index i, Index j) { return noise(std::min(i, j), std::max(i, j)); }

/// A family of symmetric matrices, one of every order; `spectrum` gives the eigenvalues (any order) where they are known exactly.
struct Family {
  std::string name;
  std::function<double(Index i, Index j, Index n)> element;
  std::function<std::vector<double>(Index n)> spectrum;
};

inline std::vector<double> filled(Index n, double value) { return std::vector<double>(static_cast<std::size_t>(n), value); }

inline std::vector<Family> families() {
  return {
      {"zero", [](Index, Index, Index) { return 0.0; }, [](Index n) { return filled(n, 0.0); }},
      {"identity", [](Index i, Index j, Index) { return i == j ? 1.0 : 0.0; }, [](Index n) { return filled(n, 1.0); }},
      {"ones", [](Index, Index, Index) { return 1.0; },
       [](Index n) {
         auto w = filled(n, 0.0);
         if (n > 0) w[0] = static_cast<double>(n);
         return w;
       }},
      // Ones where i and j agree modulo 3: rank 3, the eigenvalues are the sizes of the classes.
      {"rank 3", [](Index i, Index j, Index) { return i % 3 == j % 3 ? 1.0 : 0.0; },
       [](Index n) {
         auto w = filled(n, 0.0);
         for (Index c = 0; c < std::min(Index{3}, n); ++c) w[static_cast<std::size_t>(c)] = static_cast<double>((n - c + 2) / 3);
         return w;
       }},
      // Blocks [2 1; 1 2] down the diagonal: 3 and 1, each n/2 times; an odd last row gives 2.
      {"block degenerate", [](Index i, Index j, Index) { return i == j ? 2.0 : (i / 2 == j / 2 ? 1.0 : 0.0); },
       [](Index n) {
         auto w = filled(n, 2.0);
         for (Index k = 0; k + 1 < n; k += 2) {
           w[static_cast<std::size_t>(k)] = 3.0;
           w[static_cast<std::size_t>(k + 1)] = 1.0;
         }
         return w;
       }},
      {"second difference", [](Index i, Index j, Index) { return i == j ? 2.0 : (std::abs(i - j) == 1 ? -1.0 : 0.0); },
       [](Index n) {
         auto w = filled(n, 0.0);
         for (Index k = 0; k < n; ++k) {
           const double s = std::sin(std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(2 * (n + 1)));
           w[static_cast<std::size_t>(k)] = 4.0 * s * s;
         }
         return w;
       }},
      // Pairs of eigenvalues that agree to many digits without being equal.
      {"Wilkinson",
       [](Index i, Index j, Index n) {
         return i == j ? std::abs(static_cast<double>(i) - 0.5 * static_cast<double>(n - 1)) : (std::abs(i - j) == 1 ? 1.0 : 0.0);
       },
       nullptr},
      {"random", [](Index i, Index j, Index) { return symmetric_noise(i, j); }, nullptr},
      {"random times 1e200", [](Index i, Index j, Index) { return 1e200 * symmetric_noise(i, j); }, nullptr},
      {"random times 1e-200", [](Index i, Index j, Index) { return 1e-200 * symmetric_noise(i, j); }, nullptr},
  };
}

/// The n x n matrix of a family, column-major.
inline std::vector<double> dense(const Family& family, Index n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) a[static_cast<std::size_t>(i + j * n)] = family.element(i, j, n);
  }
  return a;
}

/// The largest |A v - w v| and |v'v - delta| over all pairs, by plain loops. a, vectors n x n column-major.
struct Deviation {
  double residual = 0;
  double orthogonality = 0;
};
inline Deviation deviation(const std::vector<double>& a, const std::vector<double>& values, const std::vector<double>& vectors, Index n) {
  Deviation worst;
  const auto at = [n](const std::vector<double>& m, Index i, Index j) { return m[static_cast<std::size_t>(i + j * n)]; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      double product = 0;
      double dot = 0;
      for (Index k = 0; k < n; ++k) {
        product += at(a, i, k) * at(vectors, k, j);
        dot += at(vectors, k, i) * at(vectors, k, j);
      }
      worst.residual = std::max(worst.residual, std::abs(product - values[static_cast<std::size_t>(j)] * at(vectors, i, j)));
      worst.orthogonality = std::max(worst.orthogonality, std::abs(dot - (i == j ? 1.0 : 0.0)));
    }
  }
  return worst;
}

inline std::vector<Index> all_columns(Index n) {
  std::vector<Index> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

}  // namespace posgeom::test
