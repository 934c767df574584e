#pragma once
#include <span>
#include <vector>

#include "geometry/anchor_blocks.hpp"
#include "geometry/pair_kernels.hpp"
#include "geometry/smacof_kernels.hpp"
#include "posgeom/geometry/smacof.hpp"

namespace posgeom {

/// The m rows in blocks, dealt to the ranks in turn: which are this rank's, and how what all ranks have is put together. The blocks are the
/// same for every rank count.
class RowBlocks {
 public:
  static constexpr Index size = 24;
  RowBlocks(const Communicator& comm, Index rows);

  Index row_count() const { return rows_; }
  Index own_row_count() const { return own_rows_; }
  const std::vector<AnchorBlocks::Block>& own() const { return own_; }

  /// **Collective.** `own`: width numbers for each own row. Returns those of all rows, m x width, row-major.
  std::vector<double> gather_rows(std::span<const double> own, Index width) const;
  /// **Collective.** `own`: width numbers for each own block. Returns their sums over all blocks, added in the order of the blocks.
  std::vector<double> sum_blocks(std::span<const double> own, Index width) const;

 private:
  const Communicator* comm_;
  Index rows_;
  Index own_rows_ = 0;
  std::vector<AnchorBlocks::Block> own_;
};

/// H and the weights, for passes over all pairs. Keeps what of the own rows of H it may.
class GuttmanPass {
 public:
  /// `s` must outlive this. **Collective.**
  GuttmanPass(const Communicator& comm, const SquareRootDistributions& s, const SmacofOptions& options);

  const RowBlocks& blocks() const { return blocks_; }
  /// w_i, [m].
  std::span<const double> weights() const { return std::span(weights_).first(static_cast<std::size_t>(blocks_.row_count())); }
  /// sum_{i<j} w_ij H_ij^2.
  double sum_squared() const { return sum_squared_; }
  /// Rows of a column of x, so that it is whole vectors: the m numbers, then zeros.
  Index padded_rows() const { return SquaredDistances::stride(blocks_.row_count()); }

  /// **Collective.** For weighted-centred x (padded_rows() x d, column-major): the own rows of its Guttman transform into `transform`
  /// (row-major, d a row). Returns its raw stress.
  double run(std::span<const double> x, Index d, std::span<double> transform);

  /// Bytes of a pass, and of H at `rows` own rows.
  static Index work_bytes(Index m, Index d);
  static Index hellinger_bytes(Index m, Index rows) { return rows * SquaredDistances::stride(m) * static_cast<Index>(sizeof(double)); }

 private:
  /// H for the k-th own block, rows of padded_rows() numbers.
  const double* hellinger_of(std::size_t k);
  void compute_hellinger(const AnchorBlocks::Block& block, std::span<double> to);

  RowBlocks blocks_;
  HellingerRows rows_;
  std::vector<double> weights_;  ///< padded with zeros
  double weight_sum_ = 0;
  Index kept_blocks_ = 0;
  std::vector<double> kept_;     ///< of the first own blocks
  std::vector<double> compact_;  ///< a block's rows without padding
  std::vector<double> scratch_;  ///< a block that is not kept
  double sum_squared_ = 0;
};

}  // namespace posgeom
