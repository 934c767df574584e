// Classical MDS by every solver: the same spectrum and distances, and what each refuses.
#include <gtest/gtest.h>

#include "mds_solvers.hpp"
#include "posgeom/error.hpp"
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
      EXPECT_EQ(mds.spectrum.rank, reference.spectrum.rank);
      EXPECT_NEAR(mds.spectrum.entropy_rank, reference.spectrum.entropy_rank, 1e-10);
      ASSERT_EQ(mds.spectrum.eigenvalues.size(), 50U);
      for (std::size_t k = 0; k < 50; ++k) EXPECT_NEAR(mds.spectrum.eigenvalues[k], reference.spectrum.eigenvalues[k], 1e-12 * scale);
      const Index d = components == 0 ? mds.encoding.stored : components;
      ASSERT_EQ(mds.encoding.stored, d);
      for (Index i = 0; i < 50; ++i) {
        for (Index j = 0; j < i; ++j) EXPECT_NEAR(squared_distance(mds, i, j, d), squared_distance(reference, i, j, d), 1e-10 * scale);
      }
      EXPECT_EQ(std::ssize(mds.residuals), mds.solver == "dual" ? 0 : components == 0 ? 50 : components);
      for (const double residual : mds.residuals) EXPECT_LT(residual, 1e-13 * scale);
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
  std::vector<Solver> refused{Solver::krylov};
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

}  // namespace
}  // namespace posgeom
