#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/gram_operator.hpp"

namespace posgeom {

/// Vectors over the ranks by the operator's rows, local_rows x count column-major.
struct VectorBlock {
  Index count = 0;
  std::vector<double> values;
};

/// An orthonormal block W and R with Y = W R, R count x (columns of Y), column-major.
struct Orthonormal {
  VectorBlock w;
  std::vector<double> r;
};

/// Orthonormal vectors that grow by blocks and shrink by restarts, all orthogonal to the vector of ones.
class KrylovBasis {
 public:
  KrylovBasis(const GramOperator& b, Index capacity);

  Index count() const { return count_; }
  std::span<const double> values() const { return std::span(values_).first(static_cast<std::size_t>(count_ * rows_)); }
  void append(const VectorBlock& w);
  /// **Collective.** Q'Y, count() x Y.count, bit-equal on every rank.
  std::vector<double> project(const VectorBlock& y) const;
  /// Y -= Q h.
  void subtract(VectorBlock& y, std::span<const double> h) const;
  /// **Collective.** Y = W R with W orthonormal and orthogonal to the basis, W.count = `wanted`, at most Y.count. What Y lacks in rank
  /// (below `scale`, the size of what is rounding) is made up by random vectors, for which R is zero.
  Orthonormal orthonormalise(VectorBlock y, Index wanted, double scale);
  /// Random vectors of which each element is a function of its row, and of how many were drawn before.
  VectorBlock random_block(Index count);
  /// Q Y for `columns` columns of `y`, count() x columns.
  std::vector<double> combine(std::span<const double> y, Index columns) const;
  /// Q = Q Y.
  void restart(std::span<const double> y, Index columns);

 private:
  const GramOperator* b_;
  Index rows_;
  Index count_ = 0;
  std::vector<double> values_;
  std::uint64_t drawn_ = 0;
};

/// **Collective.** X'Y for local rows x (nx, ny), bit-equal on every rank.
std::vector<double> products_over_ranks(const GramOperator& b, std::span<const double> x, Index nx, std::span<const double> y, Index ny);

}  // namespace posgeom
