#include <gtest/gtest.h>

#include "stress_fixture.hpp"

/// The same numbers for every rank count as on one rank alone: eigenvalues to n eps lambda_1, tables to 1e-12 max(1, |value|).
namespace posgeom {
namespace {

void expect_same(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isnan(b[k]) || std::isinf(b[k])) {
      EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])));
    } else {
      EXPECT_NEAR(a[k], b[k], 1e-12 * std::max(1.0, std::abs(b[k])));
    }
  }
}

class Invariance : public testing::TestWithParam<std::tuple<Index, Index, Unreached>> {};

TEST_P(Invariance, InTheRankCount) {
  const auto [n, vocab_size, unreached] = GetParam();
  const Communicator world = Communicator::world();
  const Communicator self = Communicator::self();
  const std::vector<std::size_t> holes =
      n > 10 ? std::vector<std::size_t>{4, 9, static_cast<std::size_t>(n - 1)} : std::vector<std::size_t>{};
  const PositionCounts counts = synthetic::with_holes(synthetic::drifting_table(n, vocab_size, 0.4, 77), holes);
  const SquareRootDistributions s = square_root_distributions(counts, n, {.unreached = unreached});
  const Mds mine = classical_mds(ProcessGrid::nearest_square(self), s, {.block = 8});
  const Mds ours = classical_mds(ProcessGrid::nearest_square(world), s, {.block = 8});
  EXPECT_EQ(mine.spectrum.rank, ours.spectrum.rank);
  EXPECT_EQ(mine.spectrum.trace, ours.spectrum.trace);
  for (std::size_t k = 0; k < mine.spectrum.eigenvalues.size(); ++k) {
    EXPECT_NEAR(mine.spectrum.eigenvalues[k], ours.spectrum.eigenvalues[k],
                static_cast<double>(n) * std::numeric_limits<double>::epsilon() * mine.spectrum.eigenvalues[0]);
  }
  if (mine.solver == "dual" && ours.solver == "dual") {  // on many ranks a dense solver may be faster
    EXPECT_EQ(mine.encoding.values, ours.encoding.values);
  }
  std::vector<double> bits(ours.encoding.values);
  broadcast(world, std::span(bits));
  EXPECT_EQ(bits, ours.encoding.values) << "bit-equal on every rank";

  const HellingerSummary my_summary = summarize_hellinger(self, s);
  const HellingerSummary our_summary = summarize_hellinger(world, s);
  expect_same({our_summary.sum, our_summary.sum_squared, our_summary.mean, our_summary.largest, our_summary.corpus_violation_rate,
               our_summary.constant_baseline},
              {my_summary.sum, my_summary.sum_squared, my_summary.mean, my_summary.largest, my_summary.corpus_violation_rate,
               my_summary.constant_baseline});

  const std::vector<std::int32_t> dimensions{1, 2, 3, 4, 8, 31, 64};
  const Index rank = mine.spectrum.rank;
  const auto requests = [&](const Mds& mds) {
    return std::vector<StressRequest>{request("mds", mds_encoding(mds.encoding, rank), dimensions),
                                      request("random", random_encoding(RandomKind::normal, 1, s.position, 64), dimensions),
                                      request("sinusoidal", sinusoidal_encoding(), dimensions),
                                      request("rope", rope_encoding(10000, 8), dimensions),
                                      request("alibi", alibi_encoding(12, n), dimensions),
                                      request("linear", linear_encoding(n), dimensions)};
  };
  const auto my_columns = stress_sweep(self, s, my_summary, requests(mine));
  const auto our_columns = stress_sweep(world, s, our_summary, requests(ours));
  for (std::size_t e = 0; e < my_columns.size(); ++e) {
    expect_same(our_columns[e].raw, my_columns[e].raw);
    expect_same(our_columns[e].scaled, my_columns[e].scaled);
    expect_same(our_columns[e].scale, my_columns[e].scale);
    expect_same(our_columns[e].violation_rate, my_columns[e].violation_rate);
    expect_same(our_columns[e].min_separation, my_columns[e].min_separation);
    expect_same(our_columns[e].pearson, my_columns[e].pearson);
    expect_same(our_columns[e].spearman, my_columns[e].spearman);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpora, Invariance,
                         testing::Values(std::tuple{2, 5, Unreached::drop}, std::tuple{3, 9, Unreached::drop},
                                         std::tuple{70, 150, Unreached::drop}, std::tuple{70, 150, Unreached::uniform},
                                         std::tuple{60, 25, Unreached::zero}));

}  // namespace
}  // namespace posgeom
