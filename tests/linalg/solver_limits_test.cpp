// The 32-bit limits of every backend, and what `automatic` takes; nothing is allocated.
#include <gtest/gtest.h>

#include <string>

#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom {
namespace {

std::string refusal(const EighOptions& options, Index n, Index block, int rows, int columns, ErrorKind kind = ErrorKind::run) {
  try {
    require_solver_fits(options, n, block, rows, columns);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return {};
}

TEST(SolverLimits, LapackIndexesItsWorkspaceOrItsMatrix) {
  EXPECT_NO_THROW(require_solver_fits({Solver::lapack, 0}, 32766, 64, 1, 1));
  EXPECT_NO_THROW(require_solver_fits({Solver::lapack, 64}, 46340, 64, 1, 1));
  const std::string all = refusal({Solver::lapack, 0}, 32767, 64, 1, 1);
  EXPECT_NE(all.find("32767 x 32767"), std::string::npos) << all;
  EXPECT_NE(all.find("--solver pdsyevd on at least 2 ranks"), std::string::npos) << all;
  const std::string some = refusal({Solver::lapack, 64}, 46341, 64, 1, 1);
  EXPECT_NE(some.find("2147488281"), std::string::npos) << some;  // 46341^2
  EXPECT_EQ(smallest_ranks({Solver::lapack, 64}, 46340, 64), 1);
  EXPECT_EQ(smallest_ranks({Solver::lapack, 64}, 46341, 64), 0);
}

TEST(SolverLimits, TheRefusalNamesTheFewestRanksThatFit) {
  for (const Solver solver : {Solver::pdsyevd, Solver::pdsyevr, Solver::elpa}) {
    if (!is_built(solver)) continue;
    for (const Index vectors : {0, 64, 20000}) {
      for (const Index n : {33000, 46341, 70000, 131072, 200000}) {
        SCOPED_TRACE(testing::Message() << name_of(solver) << ", order " << n << ", " << vectors << " vectors");
        const EighOptions options{solver, vectors};
        Index expected = 1;
        while (true) {
          const GridShape shape = nearest_square_shape(static_cast<int>(expected));
          if (largest_array(options, n, 64, shape.rows, shape.columns) <= lp64_limit) break;
          ++expected;
        }
        EXPECT_EQ(smallest_ranks(options, n, 64), expected);
        const GridShape enough = nearest_square_shape(static_cast<int>(expected));
        EXPECT_NO_THROW(require_solver_fits(options, n, 64, enough.rows, enough.columns));
        if (expected == 1) continue;
        const std::string text = refusal(options, n, 64, 1, 1);
        EXPECT_NE(text.find("at least " + std::to_string(expected) + " ranks"), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(largest_array(options, n, 64, 1, 1))), std::string::npos) << text;
      }
    }
  }
}

TEST(SolverLimits, GrowWithTheOrderWithoutWrapping) {
  for (const Solver solver : {Solver::lapack, Solver::pdsyevd, Solver::pdsyevr, Solver::elpa}) {
    for (const Index vectors : {0, 100}) {
      for (Index n = 1000; n < Index{1} << 40; n += n / 3 + 1) {
        const Index now = largest_array({solver, vectors}, n, 64, 2, 3);
        ASSERT_GE(now, n) << name_of(solver);
        if (n > 300000) {
          ASSERT_GT(now, lp64_limit) << name_of(solver) << " " << n;
        }
      }
      EXPECT_EQ(smallest_ranks({solver, vectors}, Index{1} << 40, 64), 0);
    }
  }
}

TEST(SolverLimits, ACoarseBlockIsAdvisedAgainst) {
  const std::string text = refusal({Solver::pdsyevr, 0}, 50000, 50000, 2, 2);
  EXPECT_NE(text.find("--block-size"), std::string::npos) << text;
}

TEST(SolverLimits, SolversThatDoNotSuitAreUsageErrors) {
  for (const Solver solver : {Solver::dual, Solver::krylov, Solver::automatic}) {
    const std::string text = refusal({solver, 0}, 10, 64, 1, 1, ErrorKind::usage);
    EXPECT_NE(text.find("--solver " + std::string(name_of(solver))), std::string::npos) << text;
    EXPECT_NE(text.find("auto, lapack, pdsyevd, pdsyevr or elpa"), std::string::npos) << text;
    EXPECT_FALSE(is_built(solver));
  }
  const std::string text = refusal({Solver::lapack, 0}, 10, 64, 1, 2, ErrorKind::usage);
  EXPECT_NE(text.find("this job has 2"), std::string::npos) << text;
  if (!is_built(Solver::elpa)) {
    const std::string missing = refusal({Solver::elpa, 0}, 10, 64, 1, 1, ErrorKind::usage);
    EXPECT_NE(missing.find("libelpa-dev"), std::string::npos) << missing;
  }
}

TEST(FastestSolver, TakesTheSmallestPredictionOfThoseThatFit) {
  for (const Index n : {1, 10, 500, 4096, 40000, 131072}) {
    for (const Index vectors : {Index{0}, Index{1}, n / 2}) {
      for (const int ranks : {1, 2, 6, 64, 1024}) {
        const GridShape shape = nearest_square_shape(ranks);
        SCOPED_TRACE(testing::Message() << n << ", " << vectors << ", " << ranks);
        const SolverChoice choice = fastest_solver(n, vectors, 64, shape.rows, shape.columns, {});
        if (choice.reason.find("none fits") != std::string::npos) {
          EXPECT_GT(n, 32766);
          continue;
        }
        EXPECT_TRUE(is_built(choice.solver));
        EXPECT_EQ(choice.reason.substr(0, choice.reason.find(':')), name_of(choice.solver));
        EXPECT_NE(choice.reason.find("n = " + std::to_string(n)), std::string::npos) << choice.reason;
        const double chosen = predicted_seconds({choice.solver, vectors}, n, ranks, {});
        for (const Solver other : {Solver::lapack, Solver::pdsyevd, Solver::pdsyevr, Solver::elpa}) {
          try {
            require_solver_fits({other, vectors}, n, 64, shape.rows, shape.columns);
          } catch (const Error&) {
            EXPECT_NE(other, choice.solver);
            continue;
          }
          EXPECT_LE(chosen, predicted_seconds({other, vectors}, n, ranks, {})) << name_of(other);
        }
      }
    }
  }
}

TEST(FastestSolver, PredictionsGrowWithTheWorkAndFallWithTheRate) {
  for (const Solver solver : {Solver::lapack, Solver::pdsyevd, Solver::pdsyevr, Solver::elpa}) {
    SCOPED_TRACE(name_of(solver));
    const auto seconds = [&](Index n, Index vectors, int ranks, double rate) {
      return predicted_seconds({solver, vectors}, n, ranks, {.dgemm_flops = rate});
    };
    EXPECT_GT(seconds(4096, 64, 1, 50e9), 0);
    EXPECT_GT(seconds(4096, 0, 1, 50e9), 1.2 * seconds(4096, 64, 1, 50e9));
    EXPECT_NEAR(seconds(4096, 0, 1, 50e9), seconds(4096, 4096, 1, 50e9), 1e-12);
    EXPECT_GT(seconds(8192, 0, 1, 50e9), 6 * seconds(4096, 0, 1, 50e9));
    EXPECT_NEAR(seconds(4096, 0, 1, 25e9) / seconds(4096, 0, 1, 50e9), 2, 0.01);
    if (solver == Solver::lapack) continue;
    EXPECT_LT(seconds(4096, 0, 4, 50e9), seconds(4096, 0, 1, 50e9) / 2);
  }
}

TEST(FastestSolver, OneRankTakesLapackAndFewVectorsOnSeveralTakePdsyevr) {
  EXPECT_EQ(fastest_solver(4096, 0, 64, 1, 1, {}).solver, Solver::lapack);
  EXPECT_EQ(fastest_solver(4096, 64, 64, 1, 1, {}).solver, Solver::lapack);
  EXPECT_EQ(fastest_solver(4096, 64, 64, 1, 2, {}).solver, Solver::pdsyevr);
  EXPECT_EQ(fastest_solver(4096, 0, 64, 1, 2, {}).solver, is_built(Solver::elpa) ? Solver::elpa : Solver::pdsyevd);
  // On many ranks the root must not work alone for long.
  EXPECT_NE(fastest_solver(32768, 4096, 64, 32, 32, {}).solver, Solver::pdsyevr);
}

TEST(FastestSolver, WhereNothingFitsItSaysPdsyevdWhichThenSaysWhatWould) {
  const SolverChoice choice = fastest_solver(500000, 0, 64, 1, 1, {});
  EXPECT_EQ(choice.solver, Solver::pdsyevd);
  EXPECT_NE(choice.reason.find("none fits"), std::string::npos) << choice.reason;
}

}  // namespace
}  // namespace posgeom
