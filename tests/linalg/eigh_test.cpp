#include <gtest/gtest.h>

#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "linalg/scalapack.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using test::world;

TEST(Eigh, RefusesWhatIsNotFiniteOnEveryRank) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    for (const Index n : {1, 2, 20}) {
      DistributedMatrix a(grid, n, n, 4);
      fill(a, [&](Index i, Index j) { return i == n - 1 && j == n - 1 ? bad : 1.0; });
      try {
        eigh(a);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        const std::string place = "(" + std::to_string(n - 1) + ", " + std::to_string(n - 1) + ")";
        EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Eigh, RefusesAMatrixWhoseTrianglesDiffer) {
  DistributedMatrix a(ProcessGrid::nearest_square(world()), 12, 12, 4);
  fill(a, [](Index i, Index j) { return i < j ? 1.0 : 0.0; });
  EXPECT_THROW(eigh(a), Error);
}

TEST(Eigh, KeepsItsArgument) {
  DistributedMatrix a(ProcessGrid::nearest_square(world()), 30, 30, 4);
  fill(a, test::symmetric_noise);
  eigh(a);
  for (Index j = 0; j < a.local_columns(); ++j) {
    for (Index i = 0; i < a.local_rows(); ++i)
      EXPECT_EQ(a.local(i, j), test::symmetric_noise(a.row_axis().global(i), a.column_axis().global(j)));
  }
}

TEST(Eigh, OrderZero) {
  const Eigenpairs pairs = eigh(DistributedMatrix(ProcessGrid::nearest_square(world()), 0, 0, 64));
  EXPECT_TRUE(pairs.values.empty());
  EXPECT_EQ(pairs.residual, 0.0);
  EXPECT_EQ(pairs.orthogonality, 0.0);
}

TEST(Eigh, ABlockFarBeyondTheOrderIsNoWorkspace) {
  DistributedMatrix a(ProcessGrid::nearest_square(world()), 10, 10, 1'000'000'000);
  fill(a, test::symmetric_noise);
  EXPECT_LT(eigh(a).residual, 1.0);
}

TEST(Eigh, EveryGridShapeGivesTheSameEigenvalues) {
  constexpr Index n = 120;
  std::vector<double> reference;
  for (int rows = 1; rows <= world().size(); ++rows) {
    if (world().size() % rows != 0) continue;
    DistributedMatrix a(ProcessGrid(world(), rows, world().size() / rows), n, n, 16);
    fill(a, test::symmetric_noise);
    const std::vector<double> values = eigh(a).values;
    if (reference.empty()) reference = values;
    for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], reference[k], n * test::eps * std::abs(reference[0]));
  }
}

TEST(Eigh, OneRankAloneAgreesWithAll) {
  constexpr Index n = 97;
  const auto values_on = [](const Communicator& comm) {
    DistributedMatrix a(ProcessGrid::nearest_square(comm), n, n, 8);
    fill(a, test::symmetric_noise);
    return eigh(a).values;
  };
  const Communicator self = Communicator::self();
  const std::vector<double> alone = values_on(self);
  const std::vector<double> together = values_on(world());
  for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(together[k], alone[k], n * test::eps * std::abs(alone[0]));
}

/// What the library itself says it needs for each of pdsyevd's steps.
TEST(PdsyevdWorkspace, HoldsWhatTheLibraryAsksFor) {
  const int query = -1;
  const int first = 1;
  for (int rows = 1; rows <= world().size(); ++rows) {
    if (world().size() % rows != 0) continue;
    const ProcessGrid grid(world(), rows, world().size() / rows);
    for (const Index block : {1, 2, 8, 32, 64}) {
      for (Index n = 2; n <= 400; n += 1 + n / 8) {
        const Index clamped = std::min(n, block);
        const DistributedMatrix a(grid, n, n, clamped);
        const int order = static_cast<int>(n);
        double work = 0;
        double nothing = 0;
        int iwork = 0;
        int info = 0;
        const int* descriptor = a.descriptor().data();
        const Index own = pdsyevd_workspace(n, block, grid.rows(), grid.columns());
        scalapack::pdsyevd_("V", "L", &order, &nothing, &first, &first, descriptor, &nothing, &nothing, &first, &first, descriptor, &work,
                            &query, &iwork, &query, &info, 1, 1);
        EXPECT_EQ(info, 0);
        EXPECT_LE(static_cast<Index>(work), own) << n << " in blocks of " << block;
        EXPECT_LE(iwork, 7 * n + 8 * grid.columns() + 2);
        scalapack::pdormtr_("L", "L", "N", &order, &order, &nothing, &first, &first, descriptor, &nothing, &nothing, &first, &first,
                            descriptor, &work, &query, &info, 1, 1, 1);
        EXPECT_EQ(info, 0);
        EXPECT_LE(static_cast<Index>(work) + 2 * n, own) << n << " in blocks of " << block;
      }
    }
  }
}

}  // namespace
}  // namespace posgeom
