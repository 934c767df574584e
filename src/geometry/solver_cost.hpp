#pragma once
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom {

/// What the time of a spectral solver depends on.
struct SpectralProblem {
  Index m = 0;        ///< positions
  Index columns = 0;  ///< V_eff
  Index dense = 0;    ///< columns of D (split_rows)
  Index entries = 0;  ///< nonzeros of T
  Index pairs = 0;    ///< K
  int ranks = 1;
};
SpectralProblem spectral_problem(const SquareRootDistributions& s, Index pairs, int ranks);

/// Predicted seconds, in the model of predicted_seconds: operations over DGEMM's rate, times how much slower than DGEMM each step was
/// measured to be. In units of 1 / dgemm_flops:
///   Gram    (1.4 D m^2 + 3.6 T m + 600 m^2) / (ranks threads)
///   dual    20 m V^2 + 25 V^3 on the root, with threads
///   krylov  a step with block b and basis k: (24 T b + 6 D m b + 30 m k b) / ranks, 25 j^3 on the root for the j vectors that the basis
///           holds then (12 k^3 on average between restarts), and 8 V b bytes a rank at 1 GB/s
/// D dense columns, T entries of the others. Fitted on one core with AVX-512 and BLIS 0.9 (41 GF/s): novels, packed, m = 4096.
double gram_seconds(const SpectralProblem& problem, const SolverRates& rates);
double dual_seconds(const SpectralProblem& problem, const SolverRates& rates);
double krylov_step_seconds(const SpectralProblem& problem, const SolverRates& rates);
/// Where the spectrum decays: 2 ceil(K / b) + 6 steps (measured at K = 16 and 64: 6 and 13, and the finish), without a restart.
double decaying_krylov_seconds(const SpectralProblem& problem, const SolverRates& rates);

}  // namespace posgeom
