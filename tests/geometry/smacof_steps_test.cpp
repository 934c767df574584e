#include "geometry/smacof_steps.hpp"

#include <gtest/gtest.h>

#include "smacof_fixture.hpp"

namespace posgeom {
namespace {

/// Numbers for all rows, and this rank's part of them.
struct Field {
  std::vector<double> all;
  std::vector<double> own;
};

Field field(const RowBlocks& blocks, Index d, unsigned seed) {
  Field f;
  f.all = random_start(blocks.row_count(), d, seed).values;
  for (const auto& [first, count] : blocks.own()) f.own.insert(f.own.end(), f.all.begin() + first * d, f.all.begin() + (first + count) * d);
  return f;
}

/// The approximate inverse Hessian of a quasi-Newton method takes the newest change of the gradient to its step, and is symmetric in the
/// inner product.
TEST(StepHistory, SecantEquationAndSymmetry) {
  constexpr Index m = 67;
  constexpr Index d = 3;
  const RowBlocks blocks(world(), m);
  std::vector<double> weights(m);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 + static_cast<double>(i % 5);
  for (const unsigned added : {1U, 2U, 4U, 7U}) {
    StepHistory history(blocks, weights, d, 4);
    const auto turned = [&](Field f) {
      history.turn(f.own);
      f.all = blocks.gather_rows(f.own, d);
      return f;
    };
    Field step;
    Field change;
    for (unsigned k = 0; k < added; ++k) {
      step = field(blocks, d, 10 * added + k);
      change = field(blocks, d, 1000 + k);
      for (std::size_t e = 0; e < change.own.size(); ++e) change.own[e] = 0.5 * step.own[e] + 0.1 * change.own[e];
      history.add(step.own, change.own);
      turned(field(blocks, d, 3));  // as between any two steps
    }
    const Field back = turned(change);
    for (std::size_t e = 0; e < back.own.size(); ++e) EXPECT_NEAR(back.own[e], step.own[e], 1e-12);
    const Field a = field(blocks, d, 1);
    const Field b = field(blocks, d, 2);
    const Field at = turned(a);
    const Field bt = turned(b);
    double ab = 0;
    double ba = 0;
    for (std::size_t e = 0; e < a.all.size(); ++e) {
      ab += weights[e / d] * at.all[e] * b.all[e];
      ba += weights[e / d] * a.all[e] * bt.all[e];
    }
    EXPECT_NEAR(ab, ba, 1e-11) << added;
    EXPECT_FALSE(history.empty());
  }
}

TEST(StepHistory, ForgetsWhatSaysNothingAboutAMinimum) {
  const RowBlocks blocks(world(), 30);
  const std::vector<double> weights(30, 1.0);
  StepHistory history(blocks, weights, 2, 4);
  const Field step = field(blocks, 2, 1);
  std::vector<double> against = step.own;
  for (double& x : against) x = -x;  // the gradient grew along the step
  history.add(step.own, against);
  std::vector<double> descent = field(blocks, 2, 2).own;
  history.turn(descent);
  EXPECT_TRUE(history.empty());
  EXPECT_EQ(descent, field(blocks, 2, 2).own);
}

}  // namespace
}  // namespace posgeom
