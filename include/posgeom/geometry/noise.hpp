#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "posgeom/counts/position_counts.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/distributed_matrix.hpp"
#include "posgeom/linalg/process_grid.hpp"

namespace posgeom {

/// What the noise analysis reads: whole tables, each the same on every rank. Null: not counted.
struct NoiseTables {
  const PositionCounts* corpus = nullptr;           ///< needed
  const PositionCounts* half_a = nullptr;           ///< half b is the difference; null: no split-half part
  const PositionCounts* shuffled = nullptr;         ///< of the shuffle null, at this length; null: no shuffle part
  const PositionCounts* shuffled_half_a = nullptr;  ///< null: no signal rank of order
  /// Where --rarefy-geometry brings every position to as many tokens: the shuffled corpus with those; null: as it is.
  const PositionCounts* rarefied_shuffled = nullptr;
  double trace = std::numeric_limits<double>::quiet_NaN();  ///< tr B of the corpus's geometry; NaN: formed from `corpus`
};

struct NoiseAnalysisOptions {
  Index replicates = 99;   ///< R of the global null
  double alpha = 0.05;     ///< false-alarm rate of the signal rank being above 0
  Count rarefy = 0;        ///< M; 0: the smallest half total among the positions that hold at least 1 % of the largest
  std::uint64_t seed = 1;  ///< of rarefaction and replicates
  Index components = 0;    ///< at most so many columns of the signal encoding; 0: all signal_rank of them
  Index block = default_block_size;
};

/// How much of a corpus's geometry stands above sampling noise, and above what its tokens show without their order.
/// Numbers that were not asked for, or cannot be said, are NaN, and ranks -1.
struct NoiseAnalysis {
  // Who takes part.
  Index length = 0;
  Index reached = 0;  ///< positions with at least min_count tokens
  /// [mn] those of them whose both halves hold at least rarefied_total tokens, ascending; and where the shuffled halves are analysed too,
  /// those of the shuffled corpus (packed sequences mix the documents of both halves, so that shuffling moves tokens between positions).
  std::vector<std::int32_t> position;
  Count rarefied_total = 0;  ///< M, tokens for each position and half; 0: both halves of every position are not reached
  // B_cv = sym(J S_a S_b' J), of the rarefied halves.
  bool split = false;                     ///< there were halves
  std::vector<double> split_eigenvalues;  ///< [mn] descending, may be negative
  std::vector<double> null_largest;       ///< [R] largest eigenvalue of B_cv of each replicate of the global null
  double alpha = std::numeric_limits<double>::quiet_NaN();
  double threshold = std::numeric_limits<double>::quiet_NaN();     ///< the ceil((R + 1)(1 - alpha))-th smallest of them
  Index signal_rank = -1;                                          ///< eigenvalues above the threshold
  double signal_trace = std::numeric_limits<double>::quiet_NaN();  ///< their sum
  Index signal_components = 0;                                     ///< columns of signal_encoding
  std::vector<double> signal_encoding;  ///< V sqrt(Lambda) of the leading pairs, mn x signal_components, column-major, signs by fix_sign()
  /// Of the de-noised squared distances B_ii + B_jj - 2 B_ij (unbiased, so that some are negative where the truth is near zero; nothing is
  /// done to them here): over the pairs i < j, their sum and how many are negative.
  double denoised_sum = std::numeric_limits<double>::quiet_NaN();
  Index denoised_negative = 0;
  double reliability = std::numeric_limits<double>::quiet_NaN();           ///< Pearson correlation over pairs of the two rarefied halves' H
  double reliability_of_whole = std::numeric_limits<double>::quiet_NaN();  ///< Spearman and Brown's 2 r / (1 + r), of both halves together
  // The shuffle null.
  bool shuffle = false;                      ///< there was a shuffled table
  std::vector<double> shuffled_eigenvalues;  ///< [m] of the shuffled corpus's B, over all kept positions, descending
  Index shuffled_rank = -1;                  ///< as Spectrum::rank
  double shuffled_trace = std::numeric_limits<double>::quiet_NaN();
  double shuffled_violation_rate = std::numeric_limits<double>::quiet_NaN();
  double shuffled_sum_hellinger_squared = std::numeric_limits<double>::quiet_NaN();
  double shuffled_share = std::numeric_limits<double>::quiet_NaN();          ///< of the real sum H^2 that the shuffled corpus keeps
  double shuffled_split_largest = std::numeric_limits<double>::quiet_NaN();  ///< largest eigenvalue of the shuffled halves' B_cv, same M
  Index signal_rank_order = -1;                                              ///< eigenvalues of B_cv above it

  Index position_count() const { return static_cast<Index>(position.size()); }
};

/// Called on every rank after each round of replicates (one a rank). May throw to stop, only if it throws on every rank at the same call.
using NoiseProgress = std::function<void(Index done, Index total)>;

/// What the noise analysis is made of, for noise_bytes().
struct NoiseSize {
  RowsSize whole;     ///< of all counts; those of the shuffled corpus are alike
  RowsSize half;      ///< of one half's
  RowsSize rarefied;  ///< of one half's, brought to M tokens at every position
  bool split = false;
  bool shuffle = false;
};
/// Bytes that analyse_noise() takes on the fullest rank of a grid, the tables that it is given excepted. `eigen`: of eigh() there.
Index noise_bytes(const NoiseSize& size, const GridShape& shape, Index block, Index eigen);

/// **Collective.** The first `length` positions. Sampling noise (rarefied halves, B_cv, and the global null: rows of M tokens drawn from
/// the pooled counts of the positions that take part, as if all had one distribution), and the shuffle null. Undefined cases:
///   no position holds M tokens in both halves (half a empty, say): signal_rank and signal_trace 0, null_largest, threshold NaN;
///   one position: B_cv = 0, its eigenvalue, null_largest and the threshold 0, signal_rank 0; fewer than three positions: reliability NaN;
///   no halves: nothing of B_cv; no shuffled table: nothing of the shuffle null; no shuffled halves: signal_rank_order -1.
/// Numbers are functions of tables and options: the replicates and rarefied rows bit-equal for every rank count, the eigenvalues to
/// rounding. Cost of a replicate: 2 mn rows, each by binomials for the types with M p >= 4 and by alias draws for the rest, then about 50
/// products with the sparse rows; replicates are dealt to the ranks. Memory for each rank: 4 bytes a nonzero of a replicate. Throws Error
/// (the same on every rank): R too small for alpha (usage); tables that are not of one corpus; what eigh throws.
NoiseAnalysis analyse_noise(const ProcessGrid& grid, const NoiseTables& tables, Index length, const HellingerOptions& hellinger,
                            const NoiseAnalysisOptions& options = {}, const NoiseProgress& progress = {});

/// **Collective.** The de-noised squared distances D^2_ij = B_ii + B_jj - 2 B_ij of B_cv = (S_a,i - S_a,j).(S_b,i - S_b,j), mn x mn over
/// analysis.position, for the same tables and options as the analysis had: unbiased, diagonal 0, negative entries kept.
DistributedMatrix denoised_squared_distances(const ProcessGrid& grid, const NoiseTables& tables, const NoiseAnalysis& analysis,
                                             const HellingerOptions& hellinger, const NoiseAnalysisOptions& options = {});

/// The rank among R sorted replicates, from 1, that is the threshold: ceil((R + 1)(1 - alpha)), so that a corpus without signal exceeds it
/// with a probability of at most alpha. Throws Error (usage) where R is too small for alpha, or either is out of range.
Index threshold_rank(Index replicates, double alpha);

/// The default M: the smallest of `half_totals` (of each position the tokens of its smaller half) that is at least 1 % of the largest; 0
/// where all are 0.
Count default_rarefied_total(const std::vector<Count>& half_totals);

/// The analysis in sentences for a summary, without full stops: what stands above noise and what above the shuffled corpus, who takes part,
/// what the shuffled corpus keeps, and what cannot be said.
std::vector<std::string> noise_sentences(const NoiseAnalysis& analysis);

}  // namespace posgeom
