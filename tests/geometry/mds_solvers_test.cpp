// Classical MDS by every solver: the same spectrum and distances, and what each refuses.
#include <gtest/gtest.h>

#include <random>

#include "mds_solvers.hpp"
#include "posgeom/error.hpp"
#include "support/scale.hpp"
#include "synthetic.hpp"

namespace posgeom {
namespace {

using test::all_solvers;
using test::solve;

TEST(Mds, EverySolverGivesTheSameDistances) {
  const PositionCounts counts = synthetic::drifting_counts(50, 400, 0.3, 11);
  const SquareRootDistributions s = square_root_distributions(counts, 50, {});
  const Mds reference = solve(s, Solver::pdsyevd);
  const double scale = reference.spectrum.eigenvalues[0];
  const auto squared_distance = [](const Mds& mds, Index i, Index j, Index d) {
    double sum = 0;
    for (Index c = 0; c < d; ++c) sum += std::pow(mds.encoding.at(i, c) - mds.encoding.at(j, c), 2);
    return sum;
  };
  std::vector<Solver> solvers = all_solvers();
  solvers.push_back(Solver::automatic);
  for (const Solver solver : solvers) {
    for (const Index components : {0, 1, 7}) {
      SCOPED_TRACE(testing::Message() << name_of(solver) << ", " << components << " components");
      const Mds mds = solve(s, solver, components);
      const bool some = solver == Solver::krylov && components > 0;  // then it knows the leading eigenvalues only
      EXPECT_EQ(mds.spectrum.complete, !some);
      EXPECT_EQ(mds.spectrum.rank, some ? -1 : reference.spectrum.rank);
      EXPECT_EQ(mds.spectrum.trace, reference.spectrum.trace);
      if (!some) {
        EXPECT_NEAR(mds.spectrum.entropy_rank, reference.spectrum.entropy_rank, 1e-10);
      }
      const std::size_t known = some ? static_cast<std::size_t>(components) : 50U;
      ASSERT_EQ(mds.spectrum.eigenvalues.size(), known);
      for (std::size_t k = 0; k < known; ++k) EXPECT_NEAR(mds.spectrum.eigenvalues[k], reference.spectrum.eigenvalues[k], 1e-12 * scale);
      const Index d = components == 0 ? mds.encoding.stored : components;
      ASSERT_EQ(mds.encoding.stored, d);
      for (Index i = 0; i < 50; ++i) {
        for (Index j = 0; j < i; ++j) EXPECT_NEAR(squared_distance(mds, i, j, d), squared_distance(reference, i, j, d), 1e-10 * scale);
      }
      const Index all = mds.solver == "dual" ? mds.spectrum.rank : 50;
      EXPECT_EQ(std::ssize(mds.residuals), components == 0 ? all : components);
      for (const double residual : mds.residuals) EXPECT_LT(residual, (some ? 1e-10 : 1e-13) * scale);
      const std::string chosen(solver == Solver::automatic ? mds.solver : name_of(solver));
      EXPECT_EQ(mds.solver_reason.substr(0, chosen.size() + 2), chosen + ": ");
    }
  }
}

TEST(Mds, TiedAndIdenticalPositionsForEverySolver) {
  // Disjoint distributions: all eigenvalues are tied; with K of them any K directions are right, and no more than K are stored.
  std::vector<std::vector<Count>> table(9, std::vector<Count>(9));
  for (std::size_t i = 0; i < table.size(); ++i) table[i][i] = static_cast<Count>(i + 1);
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 9, {});
  for (const Solver solver : all_solvers()) {
    SCOPED_TRACE(name_of(solver));
    const Mds all = solve(s, solver);
    EXPECT_EQ(all.spectrum.rank, 8);
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < i; ++j) {
        double sum = 0;
        for (Index c = 0; c < all.encoding.stored; ++c) sum += std::pow(all.encoding.at(i, c) - all.encoding.at(j, c), 2);
        EXPECT_NEAR(sum, 2.0, 1e-13);
      }
    }
    const Mds some = solve(s, solver, 3);
    EXPECT_EQ(some.encoding.stored, 3);
    for (Index c = 0; c < 3; ++c) {
      double length = 0;
      for (Index i = 0; i < 9; ++i) length += some.encoding.at(i, c) * some.encoding.at(i, c);
      EXPECT_NEAR(length, 1.0, 1e-13);
    }
  }
}

TEST(Mds, WhatDoesNotSuitIsRefusedByName) {
  const SquareRootDistributions s = square_root_distributions(synthetic::three_disjoint(), 3, {});
  std::vector<Solver> refused;
  if (!is_built(Solver::elpa)) refused.push_back(Solver::elpa);
  if (Communicator::world().size() > 1) refused.push_back(Solver::lapack);
  for (const Solver solver : refused) {
    try {
      solve(s, solver);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(name_of(solver)), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("pdsyevd"), std::string::npos);
    }
  }
}

/// The largest difference of the squared distances by the leading d components.
double distance_error(const Mds& a, const Mds& b, Index d) {
  double largest = 0;
  for (Index i = 0; i < a.encoding.rows; ++i) {
    for (Index j = 0; j < i; ++j) {
      double difference = 0;
      for (Index c = 0; c < d; ++c) {
        difference += std::pow(a.encoding.at(i, c) - a.encoding.at(j, c), 2) - std::pow(b.encoding.at(i, c) - b.encoding.at(j, c), 2);
      }
      largest = std::max(largest, std::abs(difference));
    }
  }
  return largest;
}

void expect_agreement(const PositionCounts& counts, Index n) {
  const SquareRootDistributions s = square_root_distributions(counts, n, {.unreached = Unreached::uniform});
  const Mds reference = solve(s, Solver::pdsyevd);
  const double scale = std::max(reference.spectrum.eigenvalues[0], 1e-20);
  for (const Solver solver : all_solvers()) {
    SCOPED_TRACE(testing::Message() << name_of(solver) << ", n = " << n);
    const Mds mds = solve(s, solver);
    EXPECT_EQ(mds.spectrum.rank, reference.spectrum.rank);
    ASSERT_EQ(mds.spectrum.eigenvalues.size(), reference.spectrum.eigenvalues.size());
    for (std::size_t k = 0; k < mds.spectrum.eigenvalues.size(); ++k)
      EXPECT_NEAR(mds.spectrum.eigenvalues[k], reference.spectrum.eigenvalues[k], 1e-10 * scale);
    EXPECT_LE(distance_error(mds, reference, reference.spectrum.rank), 1e-10 * scale);
  }
}

TEST(Mds, EverySolverAgreesAtEverySmallLength) {
  const PositionCounts many_tokens = synthetic::with_holes(synthetic::drifting_table(40, 90, 0.2, 31), {5, 6, 17, 39});
  const PositionCounts few_tokens = synthetic::drifting_counts(40, 4, 0.9, 32);
  const Index step = testing_support::scaled(1, 7);
  for (Index n = 1; n <= 40; n += n < 9 ? 1 : 3 * step) {
    expect_agreement(many_tokens, n);
    expect_agreement(few_tokens, n);
  }
}

TEST(Mds, EverySolverAgreesOnSpecialSpectra) {
  std::vector<std::vector<Count>> identical;
  std::vector<std::vector<Count>> disjoint(33, std::vector<Count>(33));
  std::vector<std::vector<Count>> noise(64, std::vector<Count>(150));
  std::mt19937 generator(8);
  std::uniform_int_distribution<std::size_t> token(0, 149);
  for (Count k = 1; k <= 33; ++k) identical.push_back({k, 2 * k, 3 * k, 7 * k});
  for (std::size_t i = 0; i < 33; ++i) disjoint[i][i] = static_cast<Count>(i + 2);
  for (auto& row : noise) {
    for (int t = 0; t < 300; ++t) ++row[token(generator)];
  }
  expect_agreement(synthetic::counts_of(identical), 33);
  expect_agreement(synthetic::counts_of(disjoint), 33);
  expect_agreement(synthetic::counts_of(noise), 64);
}

/// Nine smooth directions and hardly any noise, more tokens than positions.
SquareRootDistributions smooth_distributions() {
  std::vector<std::vector<Count>> table(400, std::vector<Count>(500));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t v = 0; v < 500; ++v) {
      const double away = (static_cast<double>(i) / 400 - static_cast<double>(v) / 500) / 0.15;
      table[i][v] = static_cast<Count>(1e8 * std::exp(-away * away / 2));
    }
  }
  return square_root_distributions(synthetic::counts_of(table), 400, {});
}

TEST(Mds, AutomaticTakesKrylovWhereTheLeadingPairsSuffice) {
  const SquareRootDistributions s = smooth_distributions();
  const Communicator comm = Communicator::world();
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  const Mds whole = classical_mds(grid, s, {.components = 4});
  EXPECT_NE(whole.solver, "krylov");
  EXPECT_TRUE(whole.spectrum.complete);
  const Mds some = classical_mds(grid, s, {.components = 4, .whole_spectrum = false});
  const double scale = whole.spectrum.eigenvalues[0];
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(some.spectrum.eigenvalues[k], whole.spectrum.eigenvalues[k], 1e-10 * scale);
  EXPECT_LE(distance_error(some, whole, 4), 1e-9 * scale);
  EXPECT_TRUE(some.warnings.empty());
  EXPECT_EQ(some.solver_reason.substr(0, some.solver.size() + 2), some.solver + ": ");
}

/// A few tokens a position, whose weights move along the positions: sparse enough that automatic takes krylov.
SquareRootDistributions sparse_distributions(Index length) {
  std::vector<std::vector<Count>> table(static_cast<std::size_t>(length), std::vector<Count>(static_cast<std::size_t>(length + 20)));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t v = 0; v < 20; ++v) table[i][i + v] = static_cast<Count>(1e6 / static_cast<double>(1 + (v > 10 ? v - 10 : 10 - v)));
  }
  return square_root_distributions(synthetic::counts_of(table), length, {});
}

TEST(Mds, KrylovThatDoesNotConvergeIsReplacedOrRefused) {
  const Communicator comm = Communicator::world();
  const SquareRootDistributions s = sparse_distributions(1500);
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  // One product with a block finds no leading pairs of so slowly falling a spectrum.
  MdsOptions options{.components = 4, .whole_spectrum = false, .krylov_steps = 1};
  if (comm.size() <= 3) {  // more ranks solve the dense problem sooner
    const Mds replaced = classical_mds(grid, s, options);
    EXPECT_NE(replaced.solver, "krylov");
    EXPECT_TRUE(replaced.spectrum.complete);
    for (const std::string_view part : {"in place of krylov: after", "steps the largest residual is", "krylov: n = 1500"})
      EXPECT_NE(replaced.solver_reason.find(part), std::string::npos) << replaced.solver_reason;
  }

  options.solver = Solver::krylov;
  try {
    classical_mds(grid, s, options);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
    const std::string text = error.what();
    for (const std::string_view part : {"--solver krylov", "4 eigenpairs of 1500 positions did not converge", "--solver auto"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Mds, AFlatBulkIsWarnedOfByEverySolver) {
  std::vector<std::vector<Count>> table(200, std::vector<Count>(500));
  std::mt19937 generator(3);
  std::uniform_int_distribution<std::size_t> token(0, 499);
  for (auto& row : table) {
    for (int t = 0; t < 200; ++t) ++row[token(generator)];
  }
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 200, {});
  for (const Solver solver : all_solvers()) {
    SCOPED_TRACE(name_of(solver));
    const Mds mds = solve(s, solver, 40);
    ASSERT_EQ(mds.warnings.size(), 1U);
    EXPECT_NE(mds.warnings[0].find("flat bulk"), std::string::npos);
    EXPECT_TRUE(solve(s, solver, 5).warnings.empty());
  }
}

TEST(Mds, KrylovRefusesNearlyAllPairs) {
  // Equal rows: nothing is computed before the refusal.
  std::vector<std::vector<Count>> table(1100, std::vector<Count>{1, 2});
  const SquareRootDistributions s = square_root_distributions(synthetic::counts_of(table), 1100, {});
  try {
    solve(s, Solver::krylov);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    const std::string text = error.what();
    for (const std::string_view part : {"--solver krylov", "1100 of 1100", "--components", "pdsyevd"})
      EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace posgeom
