#include "geometry/smacof_steps.hpp"

#include <utility>

namespace posgeom {

void StepHistory::add(std::vector<double> step, std::vector<double> change) {
  if (capacity_ == 0) return;
  if (std::ssize(pairs_) == capacity_) {
    pairs_.pop_front();
    for (Pair& pair : pairs_) {
      pair.step_changes.pop_front();
      pair.change_changes.pop_front();
    }
  }
  pairs_.push_back({std::move(step), std::move(change), {}, {}});
  newest_is_complete_ = false;
}

void StepHistory::clear() {
  pairs_.clear();
  newest_is_complete_ = true;
}

double StepHistory::dot(std::span<const double> a, std::span<const double> b, const AnchorBlocks::Block& block, Index offset) const {
  double sum = 0;
  for (Index r = 0; r < block.count; ++r) {
    double row = 0;
    for (Index k = offset + r * d_; k < offset + (r + 1) * d_; ++k) row += a[static_cast<std::size_t>(k)] * b[static_cast<std::size_t>(k)];
    sum += weights_[static_cast<std::size_t>(block.first + r)] * row;
  }
  return sum;
}

std::vector<double> StepHistory::complete(std::span<const double> descent) {
  const std::size_t count = pairs_.size();
  constexpr std::size_t kinds = 5;
  std::vector<double> partial(blocks_->own().size() * kinds * count);
  const Pair& newest = pairs_.back();
  Index offset = 0;
  for (std::size_t block = 0; block < blocks_->own().size(); ++block) {
    const AnchorBlocks::Block& rows = blocks_->own()[block];
    double* place = partial.data() + block * kinds * count;
    for (std::size_t p = 0; p < count; ++p, place += kinds) {
      place[0] = dot(pairs_[p].step, descent, rows, offset);
      place[1] = dot(pairs_[p].change, descent, rows, offset);
      if (newest_is_complete_) continue;
      place[2] = dot(newest.step, pairs_[p].change, rows, offset);
      place[3] = dot(pairs_[p].step, newest.change, rows, offset);
      place[4] = dot(newest.change, pairs_[p].change, rows, offset);
    }
    offset += rows.count * d_;
  }
  const std::vector<double> sums = blocks_->sum_blocks(partial, static_cast<Index>(kinds * count));
  std::vector<double> with_descent(2 * count);
  for (std::size_t p = 0; p < count; ++p) {
    with_descent[p] = sums[kinds * p];
    with_descent[count + p] = sums[kinds * p + 1];
    if (newest_is_complete_) continue;
    pairs_.back().step_changes.push_back(sums[kinds * p + 2]);
    pairs_.back().change_changes.push_back(sums[kinds * p + 4]);
    if (p + 1 < count) {
      pairs_[p].step_changes.push_back(sums[kinds * p + 3]);
      pairs_[p].change_changes.push_back(sums[kinds * p + 4]);
    }
  }
  newest_is_complete_ = true;
  return with_descent;
}

void StepHistory::turn(std::span<double> descent) {
  if (pairs_.empty()) return;
  std::vector<double> with_descent = complete(descent);
  // Where the stress is convex, step.change >= change.change; far below that the pair says nothing about a minimum.
  if (pairs_.back().step_changes.back() < 0.1 * pairs_.back().change_changes.back()) return clear();
  const std::size_t count = pairs_.size();
  // The recursion on coefficients: direction = scale (descent - sum first_p change_p) + sum second_p step_p.
  std::vector<double> first(count), second(count, 0.0);
  for (std::size_t p = count; p-- > 0;) {
    double product = with_descent[p];
    for (std::size_t q = p + 1; q < count; ++q) product -= first[q] * pairs_[p].step_changes[q];
    first[p] = product / pairs_[p].step_changes[p];
  }
  const double scale = pairs_.back().step_changes.back() / pairs_.back().change_changes.back();
  for (std::size_t p = 0; p < count; ++p) {
    double product = scale * with_descent[count + p];
    for (std::size_t q = 0; q < count; ++q) product -= scale * first[q] * pairs_[p].change_changes[q];
    for (std::size_t q = 0; q < p; ++q) product += second[q] * pairs_[q].step_changes[p];
    second[p] = first[p] - product / pairs_[p].step_changes[p];
  }
  for (std::size_t k = 0; k < descent.size(); ++k) {
    double value = scale * descent[k];
    for (std::size_t p = 0; p < count; ++p) value += second[p] * pairs_[p].step[k] - scale * first[p] * pairs_[p].change[k];
    descent[k] = value;
  }
}

}  // namespace posgeom
