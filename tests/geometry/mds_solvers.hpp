#pragma once
#include <vector>

#include "posgeom/geometry/mds.hpp"

namespace posgeom::test {

/// Those on the dense matrix that suit the rank count.
inline std::vector<Solver> dense_solvers() {
  std::vector<Solver> solvers{Solver::pdsyevd, Solver::pdsyevr};
  if (is_built(Solver::elpa)) solvers.push_back(Solver::elpa);
  if (Communicator::world().size() == 1) solvers.push_back(Solver::lapack);
  return solvers;
}

inline std::vector<Solver> all_solvers() {
  std::vector<Solver> solvers = dense_solvers();
  solvers.push_back(Solver::dual);
  solvers.push_back(Solver::krylov);
  return solvers;
}

inline Mds solve(const SquareRootDistributions& s, Solver solver, Index components = 0) {
  const Communicator comm = Communicator::world();
  return classical_mds(ProcessGrid::nearest_square(comm), s, {.solver = solver, .components = components, .block = 5});
}

}  // namespace posgeom::test
