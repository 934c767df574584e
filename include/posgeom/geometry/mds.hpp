#pragma once
#include <string>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom {

/// The eigenvalues of B and what follows from them. Where only the leading ones are known (not complete): entropy_rank and
/// participation_ratio are NaN, rank is -1 unless an eigenvalue below the tolerance is among them, and dims are -1 where they do not reach
/// that share of the trace.
struct Spectrum {
  std::vector<double> eigenvalues;              ///< descending, negative rounding kept, [m]; [K] where not complete
  bool complete = true;                         ///< all m eigenvalues are there
  Index rank = 0;                               ///< eigenvalues above the tolerance
  double trace = 0;                             ///< from the distributions, not from the eigenvalues
  double entropy_rank = 0;                      ///< exp(-sum q log q), q = lambda / sum over positive lambda (those that are no rounding)
  double participation_ratio = 0;               ///< (sum lambda)^2 / sum lambda^2; it and entropy_rank are 0 for B = 0
  Index dims_90 = 0, dims_95 = 0, dims_99 = 0;  ///< dimensions that hold so much of the trace
};

/// P: row i is the vector of position i; columns beyond the rank are zero and not stored. The same on every rank.
struct Encoding {
  Index rows = 0;              ///< m
  Index components = 0;        ///< k: columns that count as computed
  Index stored = 0;            ///< columns in `values`: min(k, rank); the others are zero
  std::vector<double> values;  ///< rows x stored, column-major
  double at(Index i, Index j) const { return j < stored ? values[static_cast<std::size_t>(i + j * rows)] : 0.0; }
};

/// Above so many columns the V_eff x V_eff matrix of the dual problem and its workspace do not belong on one rank.
inline constexpr Index dual_limit = 20000;

struct MdsOptions {
  Solver solver = Solver::automatic;
  Index components = 0;        ///< k; 0: all
  bool whole_spectrum = true;  ///< all m eigenvalues are wanted: automatic does not take krylov, which finds k only
  Index block = default_block_size;
  double rank_tolerance = 1e-10;  ///< relative to lambda_1
  /// krylov's most products of B with a block; 0: as many as the dense solver's predicted time allows, 1000 where it is asked for by name.
  Index krylov_steps = 0;
};

struct Mds {
  Spectrum spectrum;
  Encoding encoding;
  std::string solver;         ///< the one that was used
  std::string solver_reason;  ///< why, as one line for a log
  double residual = 0;        ///< as in Eigenpairs, against B
  double orthogonality = 0;
  std::vector<double> residuals;      ///< as in Eigenpairs, of the min(k, m) leading pairs; dual: of those within the rank
  double gram_seconds = 0;            ///< this rank's wall time for the Gram matrix; 0 where none is formed
  double solver_seconds = 0;          ///< and for everything else that gives the eigenpairs, a krylov that was given up included
  std::vector<std::string> warnings;  ///< what a reader of the components must know, a line each
};

/// **Collective.** Classical MDS (Torgerson 1952; Gower 1966) of H: encoding = V sqrt(Lambda), k leading components, signs by
/// fix_sign(). Equal rows of `s` get equal bits.
/// Solver: a dense one (eigh: lapack, pdsyevd, pdsyevr, elpa) on the block-cyclic B, which gives the whole spectrum and k vectors; or dual,
/// by (J S)'(J S), V_eff x V_eff, on the root alone, then made orthogonal to the last digits of the small eigenvalues too: the same bits
/// for every rank count, at m V_eff^2 + O(V_eff^3) on one rank (V_eff <= 20000). Its residual and orthogonality are those of the leading
/// pairs that count for the rank, in units of max(m, V_eff) eps; or krylov (below). Throws Error (the same on every rank) for an eigenvalue
/// below -10 m eps lambda_1 (measured: -1.3 at the worst) or a sum of eigenvalues that is not the trace to 1e-9: wrong results are refused;
/// for what eigh refuses; and (usage) for a solver that is not in this version or build, or does not suit the rank count. krylov finds the
/// k leading pairs by block Lanczos from B's products with blocks (nothing m x m is formed), until every residual |B z - w z| is below
/// 1e-10 lambda_1; where it has to stop earlier, 1e-8 lambda_1 suffices. The spectrum is then not complete, unless k >= m - 1. Asked for by
/// name it is an Error where it does not converge; (usage) where k is more than 1024 and a quarter of m. automatic takes the smallest
/// predicted time (solver_cost) of dual, the dense solver with the Gram matrix, and krylov at half of it where whole_spectrum is false and
/// k at most a quarter of m. krylov is watched: where its progress foretells more time than the dense solver's, that one takes over, and
/// solver_reason says so. warnings: where some of the k components lie in a flat bulk of the known eigenvalues (flat_bulk_begin).
Mds classical_mds(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options);

/// Throws Error (usage) where dual or krylov do not take a problem of `rows` positions with `types` different tokens, of which `vectors`
/// leading pairs are asked for. Not collective.
void require_solver_for(Solver solver, Index rows, Index types, Index vectors);

/// Predicted seconds of krylov for so many pairs where they meet a flat bulk, as those of packed text do, in the model of
/// predicted_seconds: 40 + 6 ceil(K / block) steps (measured: 42 to 50 at K = 16, 56 to 66 at 64, novels and a synthetic corpus at n = 1024
/// to 4096). A spectrum that decays takes a quarter of it.
double krylov_seconds(const RowsSize& s, Index pairs, int ranks, const SolverRates& rates);

/// Bytes that krylov takes on the fullest of `ranks` ranks of `threads` threads for so many pairs, S excepted.
Index krylov_bytes(const RowsSize& s, Index pairs, int ranks, int threads);

/// rank, entropy rank etc. of e descending eigenvalues; `floor` is the absolute value below which an eigenvalue is rounding.
/// Positive ones, for the effective ranks, are those above max(e eps lambda_1, floor).
Spectrum spectrum_of(std::vector<double> eigenvalues, double trace, double rank_tolerance, double floor);

/// The same where only `eigenvalues`, the largest of `order`, are known.
Spectrum leading_spectrum_of(std::vector<double> eigenvalues, Index order, double trace, double rank_tolerance, double floor);

/// Where a flat bulk begins among descending positive values: the lowest j from which on 16 values in turn are each within a tenth of the
/// eighth one after it. -1 where there is none. Finite samples give such a bulk (Marchenko-Pastur); smooth structure decays.
Index flat_bulk_begin(std::span<const double> values);

/// Among entries within 1e-6 (relative) of the column's largest magnitude the one with the lowest index becomes positive.
void fix_sign(std::span<double> column);

/// Whether the truncated MDS at d is not unique: d < rank and lambda_d - lambda_{d+1} < 1e-8 lambda_1 (counted from 1). false where
/// lambda_{d+1} is not known.
bool not_unique(const Spectrum& spectrum, Index d);

}  // namespace posgeom
