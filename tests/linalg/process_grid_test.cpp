#include "posgeom/linalg/process_grid.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "linalg/grids.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

using test::world;

TEST(ProcessGrid, EveryShapeHoldsTheRanksRowByRow) {
  for (int rows = 1; rows <= world().size(); ++rows) {
    if (world().size() % rows != 0) continue;
    const ProcessGrid grid(world(), rows, world().size() / rows);
    EXPECT_EQ(grid.rows(), rows);
    EXPECT_EQ(grid.columns(), world().size() / rows);
    EXPECT_EQ(grid.row() * grid.columns() + grid.column(), world().rank());
    EXPECT_EQ(grid.text(), std::to_string(rows) + "x" + std::to_string(world().size() / rows));
    EXPECT_EQ(&grid.communicator(), &world());
  }
}

TEST(ProcessGrid, NearestSquareIsTheShapeOfTheRankCount) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const GridShape shape = nearest_square_shape(world().size());
  EXPECT_EQ(grid.rows(), shape.rows);
  EXPECT_EQ(grid.columns(), shape.columns);
}

TEST(ProcessGrid, RefusesAShapeThatDoesNotHoldTheRanks) {
  const int size = world().size();
  for (const auto& [rows, columns] : {std::pair(size + 1, 1), std::pair(0, 5), std::pair(-1, -size), std::pair(65536, 65536)}) {
    try {
      const ProcessGrid grid(world(), rows, columns);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(rows) + "x" + std::to_string(columns)), std::string::npos) << error.what();
    }
  }
}

TEST(ProcessGrid, ContextsAreFreedWithTheLastCopy) {
  // BLACS hands out the lowest free context: if none leaks, the same one comes back each time.
  std::optional<int> context;
  for (int repetition = 0; repetition < 50; ++repetition) {
    const Communicator part = world().split(world().rank() % 2);
    ProcessGrid grid = ProcessGrid::nearest_square(part);
    const ProcessGrid copy = grid;
    grid = ProcessGrid(world(), 1, world().size());
    EXPECT_NE(grid.context(), copy.context());
    if (!context) context = copy.context();
    EXPECT_EQ(copy.context(), *context);
  }
}

TEST(ProcessGrid, PartsOfTheWorldWorkSideBySide) {
  for (int width = 1; width <= world().size(); ++width) {
    const Communicator part = world().split(world().rank() / width);
    const ProcessGrid grid = ProcessGrid::nearest_square(part);
    EXPECT_EQ(grid.rows() * grid.columns(), part.size());
    DistributedMatrix a(grid, 5, 5, 2);
    fill(a, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
    DistributedMatrix product(grid, 5, 5, 2);
    multiply(a, a, product);
    EXPECT_EQ(trace(product), 5.0);
  }
}

}  // namespace
}  // namespace posgeom
