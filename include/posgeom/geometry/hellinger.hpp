#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/counts/position_counts.hpp"
#include "posgeom/linalg/distributed_matrix.hpp"
#include "posgeom/linalg/process_grid.hpp"

namespace posgeom {

/// What stands for a position that fewer than --min-count tokens reach.
enum class Unreached { drop, uniform, zero };
std::string_view name_of(Unreached unreached);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Unreached unreached_named(std::string_view name);

struct HellingerOptions {
  Unreached unreached = Unreached::drop;
  Count min_count = 1;      ///< positions with fewer tokens count as unreached
  bool unit_range = false;  ///< --hellinger-range 1: every distance divided by sqrt 2, so that H is in [0, 1]
};

/// S: row i holds sqrt(mu_i(v)) (times 1/sqrt 2 with unit_range), sparse; the same on every rank. Only tokens that occur have a column, 0
/// .. column_count-1: first those that most rows hold (dense_share), then those that many hold (frequent_share), then the others, each in
/// order of token id; with Unreached::uniform one last column stands for all tokens that never occur, with the uniform row's entry
/// sqrt(their share): distances are exactly those over the whole vocabulary. Equal rows may share storage.
struct SquareRootDistributions {
  Index length = 0;                    ///< n
  Index column_count = 0;              ///< V_eff
  std::vector<std::int32_t> position;  ///< [m] true indices of the rows, ascending
  std::vector<Count> total;            ///< [m] N_i, tokens that the row was formed from; 0: unreached and filled. Empty: not known
  std::vector<Index> row_begin;        ///< [m] row i's entries are row_begin[i] .. row_end[i]
  std::vector<Index> row_end;          ///< [m]
  NodeArray<std::int32_t> column;      ///< ascending within a row
  NodeArray<double> value;             ///< > 0
  Index row_count() const { return std::ssize(position); }
};

/// The first `length` positions of `counts`. Throws Error where no position is kept.
SquareRootDistributions square_root_distributions(const PositionCounts& counts, Index length, const HellingerOptions& options);

/// **Collective** on `comm`. The same, formed by one rank a node and once in its memory. Throws the same Error on every rank.
SquareRootDistributions square_root_distributions(const Communicator& comm, const PositionCounts& counts, Index length,
                                                  const HellingerOptions& options);

/// tr B = sum |S_i|^2 - m |mean row|^2; m tr B = sum_{i<j} H_ij^2, from the sparse rows alone.
double gram_trace(const SquareRootDistributions& s);

/// B = (J S)(J S)' (m x m, m = s.row_count()), from centred panels of `s`: a rank-k update a panel, no communication.
/// Both triangles set. Positive semidefinite to rounding; its error is relative to B, not to S S'.
DistributedMatrix hellinger_gram(const ProcessGrid& grid, const SquareRootDistributions& s, Index block);

/// A column of S is frequent where one row in so many holds it, or more; and dense where more than one in so many does. How the Gram matrix
/// and the rows' products are formed depends on it, and so does their memory.
inline constexpr Index frequent_share = 64;
inline constexpr Index dense_share = 2;

/// Which columns of S are so, by the reached rows that hold them (a count, or an expected number). `others`: rows without tokens, which
/// have one row of S together, with an entry in every column if `uniform`. Frequent counts that row once, dense each of the others: which
/// of the two takes more columns is the same for all.
struct ColumnRule {
  Index reached = 0;
  Index others = 0;
  bool uniform = false;
  bool filled() const { return uniform && others > 0; }
  Index distinct() const { return reached + (others > 0 ? 1 : 0); }
  template <class Number>
  bool frequent(Number holding) const {
    return frequent_share * (holding + (filled() ? 1 : 0)) >= static_cast<Number>(distinct());
  }
  template <class Number>
  bool dense(Number holding) const {
    return dense_share * (holding + static_cast<Number>(filled() ? others : 0)) > static_cast<Number>(reached + others);
  }
};

/// What the memory for S, and for what is made of it, depends on.
struct RowsSize {
  Index rows = 0;            ///< m
  Index columns = 0;         ///< V_eff
  Index nonzeros = 0;        ///< of S
  Index frequent = 0;        ///< columns that many rows hold (frequent_share)
  Index dense = 0;           ///< columns that most rows hold (dense_share)
  Index dense_nonzeros = 0;  ///< entries in those
  /// Of S.
  Index bytes() const { return nonzeros * static_cast<Index>(sizeof(std::int32_t) + sizeof(double)); }
};

/// Bytes that hellinger_gram() takes on the fullest rank of a grid, the matrix included and S excepted.
Index gram_bytes(const RowsSize& s, const GridShape& shape, Index block);

/// H, m x m and block-cyclic, for --write-hellinger: diagonal exactly 0.
DistributedMatrix hellinger_matrix(const ProcessGrid& grid, const SquareRootDistributions& s, Index block);

struct HellingerProducts;

/// Rows of H by tiles: H_ij = sqrt(|S_i|^2 + |S_j|^2 - 2 S_i.S_j), clamped at 0; where the positions are nearly equal the squared
/// differences are summed instead, so that small distances keep their digits and equal rows give exactly 0. H_ii = 0.
class HellingerRows {
 public:
  /// `s` must outlive this.
  explicit HellingerRows(const SquareRootDistributions& s);
  ~HellingerRows();
  HellingerRows(HellingerRows&& other) noexcept;
  HellingerRows& operator=(HellingerRows&& other) noexcept;
  Index row_count() const { return s_->row_count(); }
  const SquareRootDistributions& distributions() const { return *s_; }
  /// H for rows first .. first+count-1 against all m rows, row-major into `h` (count * m doubles). count <= row_block.
  void compute(Index first, Index count, std::span<double> h);
  /// The same for rows column_first .. column_first+column_count-1 of the m only, row-major with column_count doubles a row: bit-equal
  /// values.
  void compute(Index first, Index count, Index column_first, Index column_count, std::span<double> h);
  static constexpr Index row_block = 48;

 private:
  const SquareRootDistributions* s_;
  std::vector<double> squared_norm_;
  std::unique_ptr<HellingerProducts> products_;
};

}  // namespace posgeom
