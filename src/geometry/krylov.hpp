#pragma once
#include <vector>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

struct KrylovOptions {
  Index count = 1;           ///< K, 1 .. m
  double tolerance = 1e-10;  ///< each residual, relative to lambda_1: where the iteration stops
  double acceptable = 1e-8;  ///< the same: good enough where it has to stop earlier
  Index block = 0;           ///< vectors at a time; 0: by rule
  Index basis = 0;           ///< vectors kept; 0: by rule
  double floor = 0;          ///< eigenvalues and residuals below are rounding
  Index most_steps = 0;      ///< applications to a block; it stops early where its progress foretells more. 0: no limit
  int threads = 1;
};

/// Block and basis by rule for K pairs of order m. Measured on a flat spectrum (m = 4096, K = 64): blocks of 16, 32 and 64 vectors
/// take 3.7, 5.6 and 9.1 s: wider ones need as many steps again as they save in passes over the entries.
KrylovOptions krylov_sizes(KrylovOptions options, Index m);

struct KrylovPairs {
  std::vector<double> values;     ///< [K], descending
  std::vector<double> vectors;    ///< m x K, column-major
  std::vector<double> residuals;  ///< [K], |B z - w z|, from the pairs themselves
  double orthogonality = 0;       ///< |Z'Z - I|_F
  bool converged = false;         ///< every residual is at most tolerance (acceptable, where it had to stop) times lambda_1
  Index steps = 0;                ///< applications of B to a block
  Index foretold_steps = 0;       ///< where not converged: how many it would have taken by its progress; 0: not known
  double worst = 0;               ///< the largest residual over lambda_1 when it stopped
};

/// **Collective.** The K leading eigenpairs of B = (J S)(J S)' by block Lanczos with thick restart (Wu and Simon, SIAM J. Matrix Anal.
/// Appl. 22, 2000; Stewart's Krylov-Schur, 2001) and full reorthogonalisation, from B's products with blocks only. Where more pairs are
/// wanted than a block has vectors, an eigenvalue of a higher multiplicity could hide: then the iteration goes on from new random vectors
/// before it ends. The start is a function of the position: the same for every rank count. Everything is the same on every rank.
KrylovPairs krylov_eigenpairs(const Communicator& comm, const SquareRootDistributions& s, const KrylovOptions& options);

}  // namespace posgeom
