#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "posgeom/geometry/noise.hpp"
#include "posgeom/philox.hpp"
#include "posgeom/types.hpp"

/// The global null of the noise analysis: every row of both halves drawn from one distribution.
namespace posgeom::noise {

/// Rows of M tokens drawn from one distribution, as square roots, by columns (types).
class NullRows {
 public:
  /// `pooled`: how often each type was counted, in any order; zeros are no types. `total`: M.
  NullRows(std::vector<Count> pooled, Count total);

  /// Replaces the rows by `rows` new ones; row k of stream `first + k` of this seed and replicate.
  void draw(std::uint64_t seed, Index replicate, Index first, Index rows);

  Index row_count() const { return rows_; }
  Index type_count() const { return std::ssize(pooled_); }
  /// How often each type, from the most frequent one on, was drawn for row k.
  std::vector<Count> counts_of(Index k) const;

  /// y = S_a S_b' x + S_b S_a' x for two sets of as many rows of one distribution, but for constant vectors: x must sum to zero, and y is
  /// right once its mean is subtracted.
  friend void apply_split(const NullRows& a, const NullRows& b, std::span<const double> x, std::span<double> y);

 private:
  /// A type of a row, and how often it was drawn.
  struct Drawn {
    std::uint32_t type = 0;
    std::uint32_t count = 0;
  };
  /// Rows that have a type equally often.
  struct Group {
    std::uint32_t count = 0;
    Index end = 0;  ///< of its rows; they begin where those of the group before end
  };
  void draw_row(KeyedWords words, Index k);
  void sort_by_type();
  Index group_begin(Index t) const { return t == 0 ? 0 : group_end_[static_cast<std::size_t>(t - 1)]; }
  double gathered(Index t, std::span<const double> x) const;
  void scatter(Index t, double factor, std::span<double> y) const;

  std::vector<Count> pooled_;  ///< descending
  Count total_;
  Index head_count_ = 0;             ///< types 0 .. head - 1 are drawn by binomials, and all rows hold values
  std::vector<double> conditional_;  ///< [head] p_t / sum of p_s, s >= t
  std::vector<double> shift_;        ///< [head] sqrt(p_t)
  std::vector<double> keep_;         ///< [tail] alias table
  std::vector<std::uint32_t> alias_;
  // The rows.
  Index rows_ = 0;
  std::vector<float> head_;         ///< [head][rows] values less shift: a constant that centring removes, and digits with it
  std::vector<std::uint32_t> row_;  ///< of all groups
  std::vector<Group> groups_;
  std::vector<Index> group_end_;  ///< [tail]
  std::vector<double> root_;      ///< sqrt(count / M) of the counts in the tail
  // While rows are drawn.
  std::vector<std::uint32_t> drawn_;  ///< [tail]
  std::vector<std::uint32_t> touched_;
  std::vector<Drawn> by_row_;
  std::vector<Index> row_end_;  ///< [rows]
  std::vector<Index> place_;
};

/// The largest eigenvalue of sym(J S_a S_b' J), from above: at most 1e-4 of it too large.
double largest_split_eigenvalue(const NullRows& a, const NullRows& b, KeyedWords start);

/// The largest eigenvalue of a symmetric operator on the vectors that sum to zero (dimension n - 1), by Lanczos (1950) with full
/// reorthogonalisation from a random start, until it is known to `tolerance` of itself; the bound of the error is added, so that a
/// threshold made of such numbers is not too low. `apply`(x, y): y = A x up to a constant vector, for x that sum to zero. n >= 2.
double largest_centred_eigenvalue(Index n, const std::function<void(std::span<const double>, std::span<double>)>& apply, KeyedWords start,
                                  double tolerance);

/// **Collective.** The largest eigenvalue of B_cv in each replicate of the global null, [R]: rows of M tokens at the analysis's positions,
/// from the corpus's counts pooled over them. Replicates are dealt to the ranks.
std::vector<double> null_replicates(const Communicator& comm, const PositionCounts& corpus, const NoiseAnalysis& analysis,
                                    const HellingerOptions& hellinger, const NoiseAnalysisOptions& options, const NoiseProgress& progress);

}  // namespace posgeom::noise
