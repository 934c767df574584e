// Block Lanczos with restarts, on operators that are small enough for the dense solution.
#include "geometry/krylov.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "geometry/gram_operator.hpp"
#include "mds_solvers.hpp"
#include "posgeom/mpi/collective.hpp"
#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

using test::solve;

/// Smooth structure over more tokens than positions: bumps that drift, with counts large enough to leave the rounding of counts far below.
PositionCounts smooth_counts(Index length, Index vocab_size) {
  std::vector<std::vector<Count>> table(static_cast<std::size_t>(length), std::vector<Count>(static_cast<std::size_t>(vocab_size)));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t v = 0; v < table[i].size(); ++v) {
      const double centre = static_cast<double>(v) / static_cast<double>(vocab_size);
      const double away = (static_cast<double>(i) / static_cast<double>(length) - centre) / 0.1;
      table[i][v] = static_cast<Count>(1e7 * std::exp(-away * away / 2));
    }
  }
  return synthetic::counts_of(table);
}

/// Every position draws from one distribution: a flat bulk of sampling noise.
PositionCounts noise_counts(Index length, Index vocab_size, Count total, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::vector<Count>> table(static_cast<std::size_t>(length), std::vector<Count>(static_cast<std::size_t>(vocab_size)));
  std::vector<double> weights;
  for (Index v = 0; v < vocab_size; ++v) weights.push_back(1 / static_cast<double>(v + 3));
  std::discrete_distribution<std::size_t> tokens(weights.begin(), weights.end());
  for (auto& row : table) {
    for (Count t = 0; t < total; ++t) ++row[tokens(generator)];
  }
  return synthetic::counts_of(table);
}

TEST(GramOperator, IsTheDefinition) {
  const Communicator comm = Communicator::world();
  for (const Unreached unreached : {Unreached::drop, Unreached::uniform, Unreached::zero}) {
    auto table = synthetic::drifting_table(37, 90, 0.3, 5);
    for (auto& row : table) row[7] = 100;  // a column that all hold
    const PositionCounts counts = synthetic::with_holes(table, {3, 4, 36});
    std::vector<std::int32_t> positions;
    const reference::Matrix b =
        reference::gram(reference::distances(reference::square_roots(counts, 37, {.unreached = unreached}, positions)));
    const SquareRootDistributions s = square_root_distributions(counts, 37, {.unreached = unreached});
    const Index m = s.row_count();
    for (const int threads : {1, 2}) {
      GramOperator op(comm, s, threads);
      for (const Index count : {1, 32, 40}) {
        const auto element = [m](Index i, Index j) {
          return std::cos(static_cast<double>(i * (j + 1))) + (i == 0 ? 0.5 : 0.0) * static_cast<double>(m > j);
        };
        std::vector<double> x(static_cast<std::size_t>(op.local_rows() * count));
        for (Index j = 0; j < count; ++j) {
          for (Index i = 0; i < op.local_rows(); ++i) x[static_cast<std::size_t>(i + j * op.local_rows())] = element(op.first() + i, j);
        }
        op.centre(x, count);
        std::vector<double> y(x.size());
        op.apply(x, count, y);
        for (Index j = 0; j < count; ++j) {
          for (Index i = 0; i < op.local_rows(); ++i) {
            reference::Real expected = 0;
            for (Index k = 0; k < m; ++k)
              expected += b[static_cast<std::size_t>(op.first() + i)][static_cast<std::size_t>(k)] * element(k, j);
            EXPECT_NEAR(y[static_cast<std::size_t>(i + j * op.local_rows())], static_cast<double>(expected), 1e-14);
          }
        }
      }
    }
  }
}

/// Against pdsyevd: values, residuals, and that the vectors span the same.
void expect_leading(const SquareRootDistributions& s, const KrylovOptions& options, double vector_tolerance) {
  const Communicator comm = Communicator::world();
  const Mds dense = solve(s, Solver::pdsyevd, options.count);
  const KrylovPairs pairs = krylov_eigenpairs(comm, s, options);
  ASSERT_TRUE(pairs.converged);
  const Index m = s.row_count();
  const double lambda = dense.spectrum.eigenvalues[0];
  EXPECT_LT(pairs.orthogonality, 1e-12);
  for (Index j = 0; j < options.count; ++j) {
    const double expected = dense.spectrum.eigenvalues[static_cast<std::size_t>(j)];
    EXPECT_NEAR(pairs.values[static_cast<std::size_t>(j)], expected, 1e-10 * lambda) << j;
    EXPECT_LE(pairs.residuals[static_cast<std::size_t>(j)], 1.01e-10 * lambda);
    double product = 0;
    for (Index i = 0; i < m; ++i) product += pairs.vectors[static_cast<std::size_t>(i + j * m)] * dense.encoding.at(i, j);
    if (vector_tolerance > 0) {
      EXPECT_NEAR(std::abs(product), std::sqrt(expected), vector_tolerance * std::sqrt(expected)) << j;
    }
  }
}

TEST(Krylov, FindsADecayingSpectrumThroughRestarts) {
  const SquareRootDistributions s = square_root_distributions(smooth_counts(150, 220), 150, {});
  expect_leading(s, {.count = 6, .block = 2, .basis = 12}, 1e-7);
  expect_leading(s, {.count = 8}, 1e-7);
}

TEST(Krylov, FindsAFlatSpectrum) {
  const SquareRootDistributions s = square_root_distributions(noise_counts(64, 300, 400, 3), 64, {});
  expect_leading(s, {.count = 32, .block = 8, .basis = 48}, 1e-6);
  expect_leading(s, {.count = 32}, 1e-6);
}

TEST(Krylov, FindsMoreEqualEigenvaluesThanABlockHasVectors) {
  // 20 disjoint positions of 50, and 30 that are nearly one: the largest eigenvalue has a multiplicity of 19 or so.
  std::vector<std::vector<Count>> table(50, std::vector<Count>(60));
  for (std::size_t i = 0; i < 50; ++i) {
    if (i < 20) {
      table[i][i] = 7;
    } else {
      for (std::size_t v = 20; v < 60; ++v) table[i][v] = 10 + static_cast<Count>((i * v) % 3);
    }
  }
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 50, {});
  expect_leading(s, {.count = 19, .block = 4, .basis = 30}, 0);
  expect_leading(s, {.count = 19}, 0);
}

TEST(Krylov, MissesNoEqualEigenvalueInTheMiddleOfASpectrum) {
  // 60 smooth positions, with eigenvalues above and below 1, and 20 disjoint ones, with 19 of 1: a block of 4 vectors shows 4 of those.
  const Index smooth = 60;
  const auto whole = smooth_counts(smooth, 80);
  std::vector<std::vector<Count>> table(80, std::vector<Count>(100));
  for (Index i = 0; i < smooth; ++i) {
    for (std::size_t e = 0; e < whole.tokens_at(i).size(); ++e)
      table[static_cast<std::size_t>(i)][static_cast<std::size_t>(whole.tokens_at(i)[e])] = whole.counts_at(i)[e];
  }
  for (std::size_t k = 0; k < 20; ++k) table[60 + k][80 + k] = 3;
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 80, {});
  expect_leading(s, {.count = 14, .block = 4, .basis = 40}, 0);
}

TEST(Krylov, StopsWhereItsProgressForetellsTooManySteps) {
  const Communicator comm = Communicator::world();
  const SquareRootDistributions s = square_root_distributions(noise_counts(120, 400, 300, 9), 120, {});
  const KrylovPairs pairs = krylov_eigenpairs(comm, s, {.count = 20, .block = 4, .basis = 32, .most_steps = 8});
  EXPECT_FALSE(pairs.converged);
  EXPECT_LE(pairs.steps, 8);
  EXPECT_GT(pairs.worst, 1e-8);
  const KrylovPairs all = krylov_eigenpairs(comm, s, {.count = 20, .block = 4, .basis = 32});
  EXPECT_TRUE(all.converged);
  EXPECT_GT(all.steps, 8);
}

TEST(Krylov, GivesAFlatBulkUpAfterAFewStepsWhereItsUsualCostIsTooMuch) {
  const Communicator comm = Communicator::world();
  const SquareRootDistributions flat = square_root_distributions(noise_counts(700, 900, 600, 9), 700, {});
  const KrylovPairs given_up = krylov_eigenpairs(comm, flat, {.count = 32, .most_steps = 40});
  EXPECT_FALSE(given_up.converged);
  EXPECT_LE(given_up.steps, 8);  // the first restart would be at step 16
  EXPECT_GT(given_up.foretold_steps, 40);
  // The steps that it does take are enough, whatever its first ones foretell.
  const Index needed = krylov_eigenpairs(comm, flat, {.count = 32}).steps;
  const KrylovPairs allowed = krylov_eigenpairs(comm, flat, {.count = 32, .most_steps = 2 * needed});
  EXPECT_TRUE(allowed.converged);
  EXPECT_EQ(allowed.steps, needed);
  EXPECT_LE(allowed.steps, 2 * given_up.foretold_steps);

  // As many steps are enough where the spectrum decays.
  std::vector<std::vector<Count>> table(700, std::vector<Count>(720, 0));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t v = 0; v < 720; ++v)
      table[i][v] = static_cast<Count>(1e6 * std::exp(-std::pow((static_cast<double>(v) - static_cast<double>(i)) / 60, 2)));
  }
  const SquareRootDistributions smooth = square_root_distributions(synthetic::counts_of(table), 700, {});
  const KrylovPairs pairs = krylov_eigenpairs(comm, smooth, {.count = 32, .most_steps = 40});
  EXPECT_TRUE(pairs.converged);
  EXPECT_LE(pairs.steps, 12);
}

TEST(Krylov, IsTheSameOnEveryRank) {
  const Communicator comm = Communicator::world();
  const SquareRootDistributions s = square_root_distributions(noise_counts(60, 100, 500, 4), 60, {});
  const KrylovPairs pairs = krylov_eigenpairs(comm, s, {.count = 5, .block = 4, .basis = 20});
  std::vector<double> roots = pairs.vectors;
  broadcast(comm, std::span(roots));
  EXPECT_EQ(pairs.vectors, roots);
  roots = pairs.values;
  broadcast(comm, std::span(roots));
  EXPECT_EQ(pairs.values, roots);
}

TEST(FlatBulk, BeginsWhereTheSpectrumStopsDecaying) {
  std::vector<double> values{40, 20, 9, 4};
  for (int k = 0; k < 30; ++k) values.push_back(0.5 - 0.002 * k);
  EXPECT_EQ(flat_bulk_begin(values), 4);
  values.resize(20);
  EXPECT_EQ(flat_bulk_begin(values), -1) << "too few to tell";
  std::vector<double> decaying;
  for (int k = 0; k < 60; ++k) decaying.push_back(std::pow(0.97, k));
  EXPECT_EQ(flat_bulk_begin(decaying), -1);
  EXPECT_EQ(flat_bulk_begin(std::vector<double>(40, 0.0)), -1);
}

TEST(LeadingSpectrum, SaysWhatIsNotKnown) {
  const Spectrum some = leading_spectrum_of({5, 3, 1}, 10, 10, 1e-10, 1e-30);
  EXPECT_FALSE(some.complete);
  EXPECT_EQ(some.rank, -1);
  EXPECT_TRUE(std::isnan(some.entropy_rank));
  EXPECT_TRUE(std::isnan(some.participation_ratio));
  EXPECT_EQ(some.dims_90, 3);
  EXPECT_EQ(some.dims_95, -1);
  EXPECT_FALSE(not_unique(some, 3));
  EXPECT_TRUE(not_unique(leading_spectrum_of({5, 5, 1}, 10, 12, 1e-10, 1e-30), 1));
  const Spectrum beyond = leading_spectrum_of({5, 3, 1e-12}, 10, 8, 1e-10, 1e-30);
  EXPECT_EQ(beyond.rank, 2);
  EXPECT_TRUE(leading_spectrum_of({5, 3}, 2, 8, 1e-10, 1e-30).complete);
}

}  // namespace
}  // namespace posgeom
