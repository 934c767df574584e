// Which solver finds the eigenpairs of B: the one that was asked for, or the one of the smallest predicted time.
#pragma once
#include <string>

#include "posgeom/geometry/mds.hpp"

namespace posgeom {

struct SolverPick {
  Solver solver = Solver::pdsyevd;
  std::string reason;
  /// Where krylov may fail: who takes over, and after how many steps.
  Solver dense = Solver::pdsyevd;
  Index krylov_steps = 0;
};

/// The solver to use, and why, for `vectors` eigenvectors. Throws Error (usage) where the one that was asked for is not there or does not
/// suit. No communication: a rank's own view of the machine.
SolverPick pick_solver(const ProcessGrid& grid, const SquareRootDistributions& s, const MdsOptions& options, Index vectors);

}  // namespace posgeom
