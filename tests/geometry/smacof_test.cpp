#include "smacof_fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace posgeom {
namespace {

void expect_same_up_to_translation(const Matrix& a, const Matrix& b, Real tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a[i].size(); ++k)
      EXPECT_NEAR(static_cast<double>(a[i][k] - a[0][k]), static_cast<double>(b[i][k] - b[0][k]), static_cast<double>(tolerance)) << i;
  }
}

TEST(Smacof, OneStepIsTheGuttmanTransform) {
  const SquareRootDistributions s = drifting(61);
  const Matrix h = dense_h(s);
  std::vector<double> weights;
  for (Index i = 0; i < 61; ++i) weights.push_back(0.1 + static_cast<double>(i % 7));
  for (const std::vector<double>& w : {std::vector<double>{}, weights}) {
    for (const Index d : {1, 2, 3, 4, 5, 70}) {
      const Coordinates start = random_start(61, d, static_cast<unsigned>(d));
      const auto dimension = static_cast<std::int32_t>(d);
      const SmacofOptions options{.iterations = 2, .row_weights = w};
      const std::vector<SmacofSolution> found = smacof(world(), s, start, std::span(&dimension, 1), options);
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].iterations, 2);
      EXPECT_EQ(found[0].stopped_by, SmacofStop::iterations);
      const Matrix from = rows_of_solution(start.values, 61, d);
      const Matrix to = rows_of_solution(found[0].values, 61, d);
      expect_same_up_to_translation(to, guttman(from, h, w), 1e-12L);
      EXPECT_NEAR(found[0].start_stress, static_cast<double>(raw_stress(from, h, w)), 1e-12 * found[0].start_stress);
      EXPECT_NEAR(found[0].stress, static_cast<double>(raw_stress(to, h, w)), 1e-12);
    }
  }
}

TEST(Smacof, ThreeDisjointDistributionsReachOneNinthFromAnyStart) {
  const SquareRootDistributions s = square_root_distributions(synthetic::three_disjoint(), 3, {});
  const double r = std::sqrt(2.0);
  std::vector<Coordinates> starts{coordinates(3, {-1 / r, 0, 1 / r}), coordinates(3, {0, 0, 0}),      coordinates(3, {0, 0, 1}),
                                  coordinates(3, {5, 5, 5}),          coordinates(3, {1e-9, 0, 1e9}), mds_of(s)};
  for (unsigned seed = 0; seed < 20; ++seed) starts.push_back(random_start(3, 1, seed));
  const std::int32_t one = 1;
  for (const Coordinates& start : starts) {
    const SmacofSolution found = smacof(world(), s, start, std::span(&one, 1), {}).front();
    EXPECT_NEAR(found.stress, 1.0 / 9, 1e-12);
    EXPECT_LE(found.stress, found.start_stress);
    std::vector<double> sorted = found.values;
    std::ranges::sort(sorted);
    EXPECT_NEAR(sorted[0], -2 * r / 3, 1e-9);
    EXPECT_NEAR(sorted[1], 0, 1e-9);
    EXPECT_NEAR(sorted[2], 2 * r / 3, 1e-9);
  }
  EXPECT_NEAR(smacof(world(), s, starts[0], std::span(&one, 1), {}).front().start_stress, 1.0 / 6, 1e-14);
  // On a line of the plane, a plane of symmetry, nothing pulls the points off it: the perturbation must.
  const std::int32_t two = 2;
  for (const Coordinates& start : {coordinates(3, {-1 / r, 0, 1 / r, 0, 0, 0}), coordinates(3, std::vector<double>(6, 0.0))})
    EXPECT_LT(smacof(world(), s, start, std::span(&two, 1), {}).front().stress, 1e-6);
}

TEST(Smacof, FallsMonotonicallyBelowTheMds) {
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform}) {
    const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(80, 40, 0.5, 3), {20, 21, 22, 50, 70, 71, 79});
    const SquareRootDistributions s = square_root_distributions(counts, 80, {.unreached = unreached});
    const Coordinates start = mds_of(s);
    const Matrix h = dense_h(s);
    const Index m = s.row_count();
    const std::vector<std::int32_t> dimensions{1, 2, 3, 8, static_cast<std::int32_t>(start.stored), 100};
    const std::vector<SmacofSolution> found = smacof(world(), s, start, dimensions, {.iterations = 300});
    ASSERT_EQ(found.size(), dimensions.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      const SmacofSolution& one = found[k];
      const Index d = dimensions[k];
      EXPECT_EQ(one.d, d);
      for (std::size_t step = 1; step < one.history.size(); ++step) EXPECT_LE(one.history[step], one.history[step - 1]) << d;
      EXPECT_EQ(one.history.back(), one.stress);
      EXPECT_LE(one.stress, one.start_stress);
      EXPECT_LE(one.iterations, 303);
      EXPECT_NEAR(one.start_stress, static_cast<double>(raw_stress(leading(start, d), h)), 1e-12);
      EXPECT_NEAR(one.stress, static_cast<double>(raw_stress(rows_of_solution(one.values, m, d), h)), 1e-12);
      if (d < start.stored) {
        EXPECT_LT(one.stress, 0.95 * one.start_stress) << d;
      } else {
        EXPECT_EQ(one.stopped_by, SmacofStop::exact);
        EXPECT_EQ(one.iterations, 1);
        for (Index j = 0; j < m * d; ++j)
          EXPECT_EQ(one.values[static_cast<std::size_t>(j)], j < m * start.stored ? start.values[static_cast<std::size_t>(j)] : 0.0);
      }
    }
  }
}

TEST(Smacof, EndsWhereTheGradientVanishes) {
  const SquareRootDistributions s = drifting(60);
  const Matrix h = dense_h(s);
  const std::int32_t d = 3;
  const Coordinates start = mds_of(s);
  const SmacofSolution found = smacof(world(), s, start, std::span(&d, 1), {.iterations = 3000, .tolerance = 1e-13}).front();
  const auto distance_to_transform = [&](const Matrix& x) {
    const Matrix moved = guttman(x, h, {});
    Real sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) sum += std::pow(moved[i][k] - moved[0][k] - x[i][k] + x[0][k], 2);
    }
    return std::sqrt(sum);
  };
  EXPECT_LT(distance_to_transform(rows_of_solution(found.values, 60, 3)), 1e-4 * distance_to_transform(leading(start, 3)));
}

TEST(Smacof, AccelerationSavesPasses) {
  const SquareRootDistributions s = drifting(60);
  const Coordinates start = mds_of(s);
  const std::int32_t d = 3;
  const SmacofSolution plain = smacof(world(), s, start, std::span(&d, 1), {.iterations = 400, .tolerance = 0, .history = 0}).front();
  const SmacofSolution fast = smacof(world(), s, start, std::span(&d, 1), {.iterations = 100, .tolerance = 0}).front();
  EXPECT_LE(fast.stress, plain.stress * (1 + 1e-3));
}

/// Bits that don't depend on the ranks, nor on what of H is kept.
TEST(Smacof, TheRankCountDoesNotShow) {
  const SquareRootDistributions s = drifting(131);
  const Coordinates start = random_start(131, 4, 7);
  const std::vector<std::int32_t> dimensions{1, 2, 4};
  const SmacofOptions options{.iterations = 25};
  const std::vector<SmacofSolution> alone = smacof(Communicator::self(), s, start, dimensions, options);
  for (const Index kept : {Index{0}, Index{1}, Index{60000}}) {
    SmacofOptions some = options;
    some.hellinger_bytes = kept;
    const std::vector<SmacofSolution> together = smacof(world(), s, start, dimensions, some);
    for (std::size_t k = 0; k < dimensions.size(); ++k) {
      EXPECT_EQ(together[k].values, alone[k].values);
      EXPECT_EQ(together[k].history, alone[k].history);
    }
  }
}

TEST(Smacof, EqualWeightsAreNoWeights) {
  const SquareRootDistributions s = drifting(50);
  const Coordinates start = mds_of(s);
  const std::int32_t d = 2;
  const SmacofSolution without = smacof(world(), s, start, std::span(&d, 1), {.iterations = 20}).front();
  const SmacofSolution with =
      smacof(world(), s, start, std::span(&d, 1), {.iterations = 20, .row_weights = std::vector<double>(50, 4.0)}).front();
  for (std::size_t k = 0; k < without.values.size(); ++k) EXPECT_NEAR(with.values[k], without.values[k], 1e-9);
}

TEST(Smacof, WeightsFavourTheirPairs) {
  const SquareRootDistributions s = drifting(50);
  const Matrix h = dense_h(s);
  const Coordinates start = mds_of(s);
  const std::int32_t d = 2;
  std::vector<double> w(50, 1.0);
  std::fill_n(w.begin(), 25, 0.02);
  const SmacofSolution without = smacof(world(), s, start, std::span(&d, 1), {}).front();
  const SmacofSolution with = smacof(world(), s, start, std::span(&d, 1), {.row_weights = w}).front();
  for (std::size_t step = 1; step < with.history.size(); ++step) EXPECT_LE(with.history[step], with.history[step - 1]);
  EXPECT_LT(raw_stress(rows_of_solution(with.values, 50, 2), h, w), 0.9L * raw_stress(rows_of_solution(without.values, 50, 2), h, w));
}

TEST(SmacofWeights, AreTheRootsOfTheTotalsWithOneTokenAsTheLeast) {
  const std::vector<double> w = token_weights(std::vector<Count>{400, 100, 1, 0});
  ASSERT_EQ(w.size(), 4U);
  const std::vector<double> expected{20 / 8.0, 10 / 8.0, 1 / 8.0, 1 / 8.0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(w[i], expected[i], 1e-15);
  EXPECT_EQ(token_weights(std::vector<Count>{0, 0}), (std::vector<double>{1, 1}));
  EXPECT_EQ(smacof_weights_named("tokens"), SmacofWeights::tokens);
  EXPECT_EQ(smacof_weights_named(name_of(SmacofWeights::none)), SmacofWeights::none);
  EXPECT_THROW(smacof_weights_named("count"), Error);
}

/// A layout in fewer dimensions than the corpus has must give way somewhere: with the weights of text-like, falling totals where the tokens
/// are few.
TEST(SmacofWeights, OfUnequalTotalsMoveTheMisfitToThinPositions) {
  std::vector<std::vector<Count>> table = synthetic::drifting_table(50, 40, 0.5, 3);
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (Count& count : table[i]) count *= std::llround(3000 * std::pow(1e-3, static_cast<double>(i) / 49));
  }
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 50, {});
  const Matrix h = dense_h(s);
  const Coordinates start = mds_of(s);
  const std::vector<double> w = token_weights(s.total);
  for (const std::int32_t d : {1, 2, 4}) {
    const SmacofSolution without = smacof(world(), s, start, std::span(&d, 1), {}).front();
    const SmacofSolution with = smacof(world(), s, start, std::span(&d, 1), {.row_weights = w}).front();
    const Matrix equal = rows_of_solution(without.values, 50, d);
    const Matrix weighted = rows_of_solution(with.values, 50, d);
    EXPECT_NEAR(with.stress, static_cast<double>(raw_stress(weighted, h, w)), 1e-12);
    EXPECT_LT(with.stress, with.start_stress);
    EXPECT_LT(raw_stress(weighted, h, w), 0.9L * raw_stress(equal, h, w)) << d;
    EXPECT_GT(raw_stress(weighted, h), 1.1L * raw_stress(equal, h)) << d;
  }
}

TEST(Smacof, Stops) {
  const SquareRootDistributions s = drifting(40);
  const Coordinates start = mds_of(s);
  const std::int32_t d = 2;
  const auto with = [&](const SmacofOptions& options) { return smacof(world(), s, start, std::span(&d, 1), options).front(); };
  EXPECT_EQ(with({.iterations = 4, .tolerance = 0}).iterations, 4);
  EXPECT_EQ(with({.iterations = 4, .tolerance = 0}).stopped_by, SmacofStop::iterations);
  const SmacofSolution loose = with({.tolerance = 1e-2});
  EXPECT_EQ(loose.stopped_by, SmacofStop::tolerance);
  const std::size_t last = loose.history.size() - 1;
  ASSERT_GE(last, 11U);
  EXPECT_LT(loose.history[last - 10] - loose.history[last], 1e-2 * loose.history[last - 10]);
  EXPECT_GE(loose.history[last - 11] - loose.history[last - 1], 1e-2 * loose.history[last - 11]) << "not before";
  const SmacofSolution endless = with({.iterations = 100000, .tolerance = 0});
  EXPECT_TRUE(endless.stopped_by == SmacofStop::no_decrease || endless.stopped_by == SmacofStop::tolerance) << name_of(endless.stopped_by);
  Index calls = 0;
  smacof(world(), s, start, std::span(&d, 1), {.iterations = 7, .tolerance = 0}, [&](Index at, Index done) {
    EXPECT_EQ(at, 2);
    EXPECT_EQ(done, ++calls);
  });
  EXPECT_EQ(calls, 7);
}

TEST(Smacof, DegenerateCorpora) {
  const std::vector<std::int32_t> dimensions{1, 3};
  const SquareRootDistributions one = square_root_distributions(synthetic::counts_of({{1, 2}}), 1, {});
  const SquareRootDistributions equal = square_root_distributions(synthetic::counts_of({{1, 2}, {2, 4}, {1, 2}}), 3, {});
  for (const SquareRootDistributions* s : {&one, &equal}) {
    for (const SmacofSolution& found : smacof(world(), *s, mds_of(*s), dimensions, {})) {
      EXPECT_EQ(found.stress, 0.0);
      EXPECT_EQ(found.values, std::vector<double>(static_cast<std::size_t>(s->row_count() * found.d), 0.0));
    }
  }
  const SquareRootDistributions s = drifting(30);
  EXPECT_TRUE(smacof(world(), s, random_start(30, 2, 1), dimensions, {}).back().values.empty()) << "no start at d = 3";
}

/// Equal positions end as equal vectors, to the last bit, where they are not better apart.
TEST(Smacof, EqualRowsStayTogether) {
  std::vector<std::vector<Count>> table = synthetic::drifting_table(30, 12, 0.8, 5);
  table[7] = table[3];
  for (Count& c : table[7]) c *= 2;
  table[20] = table[3];
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 30, {});
  const std::int32_t d = 6;
  const SmacofSolution found = smacof(world(), s, mds_of(s), std::span(&d, 1), {}).front();
  EXPECT_LT(found.stress, found.start_stress);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(found.values[30 * k + 3], found.values[30 * k + 7]);
    EXPECT_EQ(found.values[30 * k + 3], found.values[30 * k + 20]);
  }
}

TEST(Smacof, Memory) {
  const SmacofOptions options;
  EXPECT_GE(smacof_bytes(4096, 8, 1, options), 4096 * 4096 * 8);
  EXPECT_LT(smacof_bytes(4096, 8, 4, options), smacof_bytes(4096, 8, 1, options) / 3);
  EXPECT_GT(smacof_bytes(4096, 64, 1, options) - smacof_bytes(4096, 8, 1, options), 4096 * 56 * 8 * 17);
  SmacofOptions some = options;
  some.hellinger_bytes = 1 << 20;
  EXPECT_LT(smacof_bytes(4096, 8, 1, some), 20 << 20);
  EXPECT_GT(smacof_bytes(Index{1} << 20, 1024, 1, options), Index{1} << 43);
}

}  // namespace
}  // namespace posgeom
