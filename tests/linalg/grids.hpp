#pragma once
#include <gtest/gtest.h>

#include <utility>

#include "posgeom/linalg/process_grid.hpp"

namespace posgeom::test {

inline const Communicator& world() {
  static const Communicator comm = Communicator::world();
  return comm;
}

/// Runs `body` on the process grids of every shape that the rank count has: 6 ranks 1x6, 2x3, 3x2, 6x1.
template <class Body>
void for_every_grid(const Body& body) {
  for (int rows = 1; rows <= world().size(); ++rows) {
    if (world().size() % rows != 0) continue;
    const ProcessGrid grid(world(), rows, world().size() / rows);
    SCOPED_TRACE(grid.text());
    body(grid);
  }
}

}  // namespace posgeom::test
