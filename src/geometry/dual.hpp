#pragma once
#include <vector>

#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// Eigenpairs of B = (J S)(J S)' by way of (J S)'(J S).
struct DualPairs {
  std::vector<double> values;          ///< descending, [m]; exact zeros beyond V_eff
  std::vector<double> scaled;          ///< u_j sqrt(lambda_j) = (J S) w_j for the rank leading pairs, column-major, m x rank
  std::vector<double> residuals = {};  ///< |B u_j - lambda_j u_j| of the rank leading pairs
  double residual = 0;                 ///< |B U - U Lambda|_F / (|B|_F max(m, V_eff) eps) over the rank leading pairs
  double orthogonality = 0;            ///< |U'U - I|_F / (max(m, V_eff) eps) over them
};

/// On this rank alone, with the same arithmetic whatever the rank count. Memory: about 4 V_eff^2 + 2 m rank doubles.
DualPairs dual_eigenpairs(const SquareRootDistributions& s, double rank_tolerance, double floor);

}  // namespace posgeom
