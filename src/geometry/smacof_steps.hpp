#pragma once
#include <deque>
#include <span>
#include <vector>

#include "geometry/smacof_pass.hpp"

namespace posgeom {

/// Limited-memory BFGS directions (Liu and Nocedal 1989, the two-loop recursion) in the inner product sum_i w_i a_i.b_i, in which G(X) - X
/// is minus the gradient and the Hessian is at most 1. Vectors are own rows (row-major, d a row); inner products are formed block by block.
class StepHistory {
 public:
  StepHistory(const RowBlocks& blocks, std::span<const double> weights, Index d, Index capacity)
      : blocks_(&blocks), weights_(weights), d_(d), capacity_(capacity) {}

  /// The last accepted step and by how much it changed the gradient.
  void add(std::vector<double> step, std::vector<double> change);
  void clear();
  bool empty() const { return pairs_.empty(); }
  /// **Collective.** Replaces `descent`, G(X) - X, by the direction of the next step; by itself where nothing is remembered.
  void turn(std::span<double> descent);

 private:
  struct Pair {
    std::vector<double> step;
    std::vector<double> change;
    std::deque<double> step_changes;    ///< this step . the change of each pair
    std::deque<double> change_changes;  ///< this change . the change of each pair
  };
  double dot(std::span<const double> a, std::span<const double> b, const AnchorBlocks::Block& block, Index offset) const;
  /// **Collective.** Inner products of the newest pair with all, and of all with `descent`: returns those with the latter, [2][pairs].
  std::vector<double> complete(std::span<const double> descent);

  const RowBlocks* blocks_;
  std::span<const double> weights_;
  Index d_;
  Index capacity_;
  bool newest_is_complete_ = true;
  std::deque<Pair> pairs_;  ///< oldest first
};

}  // namespace posgeom
