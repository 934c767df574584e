#pragma once
#include <vector>

#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom::test {

/// The backends of eigh that this build has and that suit the rank count.
inline std::vector<Solver> backends() {
  std::vector<Solver> solvers{Solver::pdsyevd, Solver::pdsyevr};
  if (is_built(Solver::elpa)) solvers.push_back(Solver::elpa);
  if (world().size() == 1) solvers.push_back(Solver::lapack);
  return solvers;
}

/// Element (i, j) of Q diag(f(0), f(1), ...) Q' for the reflection Q = I - 2 u u', u = (1, ..., 1)/sqrt n: 1/sqrt n times anything stays
/// symmetric to the last bit.
template <class F>
double reflected(Index i, Index j, Index n, const F& f) {
  double sum = 0;
  for (Index k = 0; k < n; ++k) sum += f(k);
  const auto order = static_cast<double>(n);
  const double low = std::min(f(i), f(j));
  const double high = std::max(f(i), f(j));
  return (i == j ? f(i) : 0.0) - 2 / order * (low + high) + 4 / order * (sum / order);
}

/// Spectra of Gram matrices.
inline std::vector<Family> gram_families() {
  const auto noisy = [](Index i, Index j, Index n) {  // a semicircle of eigenvalues around 1
    return (i == j ? 1.0 : 0.0) + 0.2 * symmetric_noise(i, j) / std::sqrt(static_cast<double>(n));
  };
  const auto graded = [](Index n) {
    return [n](Index k) { return std::pow(10.0, -12.0 * static_cast<double>(k) / static_cast<double>(n)); };
  };
  return {
      {"flat noise", noisy, nullptr},
      // Disjoint rows, centred: 1, n - 1 times, and 0.
      {"disjoint rows", [](Index i, Index j, Index n) { return (i == j ? 1.0 : 0.0) - 1.0 / static_cast<double>(n); },
       [](Index n) {
         auto w = filled(n, 1.0);
         w.back() = 0.0;
         return w;
       }},
      // What centring leaves of identical rows.
      {"identical rows", [](Index i, Index j, Index) { return 1e-32 * symmetric_noise(i, j); }, nullptr},
      {"graded", [graded](Index i, Index j, Index n) { return reflected(i, j, n, graded(n)); },
       [graded](Index n) {
         std::vector<double> w;
         for (Index k = 0; k < n; ++k) w.push_back(graded(n)(k));
         return w;
       }},
      // Three groups of equal rows.
      {"three groups", [](Index i, Index j, Index n) { return (i % 3 == j % 3 ? 1.0 : 0.0) - 1.0 / static_cast<double>(n); }, nullptr},
  };
}

}  // namespace posgeom::test
