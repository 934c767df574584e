#pragma once
#include <span>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/noise.hpp"
#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/linalg/distributed_matrix.hpp"

/// The parts of the noise analysis that have to do with two halves of one corpus.
namespace posgeom::noise {

/// S_a and S_b over the same positions and the same columns.
struct Halves {
  SquareRootDistributions a, b;
};

/// Of each position below `length` the tokens of its smaller half; 0 where it is not reached (fewer than min_count tokens in all).
std::vector<Count> half_totals(const PositionCounts& half_a, const PositionCounts& half_b, Index length, const HellingerOptions& options);

/// The rows of two tables at `positions`, of which none is empty.
Halves halves_of(const PositionCounts& a, const PositionCounts& b, std::span<const std::int32_t> positions,
                 const HellingerOptions& options);

/// **Collective.** The same with `total` tokens of each, drawn at random.
Halves rarefied_halves(const Communicator& comm, const PositionCounts& half_a, const PositionCounts& half_b, Index length,
                       std::span<const std::int32_t> positions, Count total, std::uint64_t seed, bool shuffled,
                       const HellingerOptions& options);

/// B_cv = sym(J S_a S_b' J), as a quarter of the difference of the Gram matrices of S_a + S_b and S_a - S_b. No communication.
DistributedMatrix split_gram(const ProcessGrid& grid, const Halves& halves, Index block);

/// Eigenvalues of B_cv, and its leading eigenvectors.
struct SplitPairs {
  std::vector<double> values;   ///< [m] descending
  std::vector<double> vectors;  ///< m x as many as were asked for, column-major, of length 1
};

/// **Collective.** Of `b_cv`, which split_gram() made of `halves`, the same on every rank: by eigh, or, where its rank of at most 2 V_eff
/// is no more than half of m, by dual_split_pairs() on the root. vectors: 1 .. m.
SplitPairs split_pairs(const ProcessGrid& grid, const Halves& halves, const DistributedMatrix& b_cv, Index vectors);

/// The eigenvalues of B_cv and its leading eigenvectors by way of the 2 V_eff columns Z = (J (S_a + S_b), J (S_a - S_b)) / 2, of which
/// B_cv = Z diag(I, -I) Z': those of the small matrix that Z'Z = U Gamma U' turns it into. On this rank alone. Further vectors than the
/// rank are zero.
SplitPairs dual_split_pairs(const Halves& halves, Index vectors);

/// S_a + sign S_b.
SquareRootDistributions combination(const Halves& halves, double sign);

/// **Collective.** How many entries of squared_distances(b) above the diagonal are negative.
Index negative_distances(const DistributedMatrix& b);

/// **Collective.** The matrix B_ii + B_jj - 2 B_ij.
DistributedMatrix squared_distances(const DistributedMatrix& b);

/// **Collective.** Pearson's correlation over the pairs i < j of the distances of the two halves; NaN with fewer than two pairs, or where
/// either half's distances are all equal.
double reliability(const Communicator& comm, const Halves& halves);

}  // namespace posgeom::noise
