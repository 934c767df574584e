// The 64-bit workspace arithmetic of pdsyevd, and the refusals that follow from it; nothing is allocated.
#include <gtest/gtest.h>

#include <string>

#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/process_grid.hpp"

namespace posgeom {
namespace {

struct Case {
  int rows;
  int columns;
  Index last;  ///< the last order with a right answer at block 64, as measured with the library
};

TEST(PdsyevdWorkspace, TheLastOrderThatFitsIsAsMeasured) {
  for (const Case& c : {Case{1, 1, 32766}, Case{1, 2, 46336}, Case{2, 1, 46336}, Case{2, 2, 65468}, Case{2, 4, 92601}, Case{4, 4, 130872},
                        Case{8, 8, 261680}}) {
    SCOPED_TRACE(testing::Message() << c.rows << "x" << c.columns);
    EXPECT_LE(pdsyevd_workspace(c.last, 64, c.rows, c.columns), lp64_limit);
    EXPECT_GT(pdsyevd_workspace(c.last + 1, 64, c.rows, c.columns), lp64_limit);
    EXPECT_NO_THROW(require_pdsyevd_fits(c.last, 64, c.rows, c.columns));
    EXPECT_THROW(require_pdsyevd_fits(c.last + 1, 64, c.rows, c.columns), Error);
  }
}

TEST(PdsyevdWorkspace, GrowsWithTheOrderWithoutWrapping) {
  for (const Index block : {1, 8, 64, 1000}) {
    Index before = 0;
    for (Index n = 1; n < Index{1} << 62; n += n / 3 + 1) {
      const Index now = pdsyevd_workspace(n, block, 2, 3);
      ASSERT_GE(now, before) << n;
      before = now;
    }
  }
  EXPECT_GT(pdsyevd_workspace(2147483647, 64, 1, 1), lp64_limit);
}

TEST(PdsyevdWorkspace, ABlockBeyondTheOrderCountsAsTheOrder) {
  EXPECT_EQ(pdsyevd_workspace(10, 1 << 30, 2, 2), pdsyevd_workspace(10, 10, 2, 2));
  EXPECT_NO_THROW(require_pdsyevd_fits(10, Index{1} << 40, 1, 1));
  EXPECT_EQ(pdsyevd_workspace(0, 64, 1, 1), pdsyevd_workspace(0, 1, 1, 1));
}

TEST(PdsyevdWorkspace, TheRefusalNamesTheFewestRanksThatFit) {
  try {
    require_pdsyevd_fits(33000, 64, 1, 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("33000 x 33000"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("use at least 2 ranks"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::run);
  }
}

TEST(PdsyevdWorkspace, FewestRanksAgreesWithASearchFromOne) {
  for (const Index n : {0, 1, 1000, 32766, 32767, 46336, 46337, 56000, 65468, 65469, 100000, 200000, 300000}) {
    Index expected = 1;
    while (true) {
      const GridShape shape = nearest_square_shape(static_cast<int>(expected));
      if (pdsyevd_workspace(n, 64, shape.rows, shape.columns) <= lp64_limit) break;
      ++expected;
    }
    EXPECT_EQ(smallest_pdsyevd_ranks(n, 64), expected) << n;
  }
}

TEST(PdsyevdWorkspace, SaysSoWhereNoRankCountHelps) {
  EXPECT_EQ(smallest_pdsyevd_ranks(40000, 40000), 0);
  EXPECT_EQ(smallest_pdsyevd_ranks(Index{1} << 40, 64), 0);
  try {
    require_pdsyevd_fits(40000, 40000, 2, 2);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--block-size"), std::string::npos) << error.what();
  }
}

TEST(NearestSquare, ShapesOfOneToEightRanks) {
  const std::vector<std::pair<int, int>> expected{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 5}, {2, 3}, {1, 7}, {2, 4}};
  for (int ranks = 1; ranks <= 8; ++ranks) {
    const GridShape shape = nearest_square_shape(ranks);
    EXPECT_EQ(std::pair(shape.rows, shape.columns), expected[static_cast<std::size_t>(ranks - 1)]);
  }
  EXPECT_EQ(nearest_square_shape(2147483647).rows, 1);
}

TEST(Solver, NamesThereAndBack) {
  for (const Solver solver :
       {Solver::automatic, Solver::lapack, Solver::pdsyevd, Solver::pdsyevr, Solver::elpa, Solver::dual, Solver::krylov}) {
    EXPECT_EQ(solver_named(name_of(solver)), solver);
  }
  try {
    solver_named("pdsyevx");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("auto, lapack, pdsyevd, pdsyevr, elpa, dual, krylov"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace posgeom
