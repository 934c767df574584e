#pragma once
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// A = U diag(values) V', k = min(rows, columns).
struct ThinSvd {
  std::vector<double> left;    ///< U, rows x k, column-major
  std::vector<double> values;  ///< [k] descending
  std::vector<double> right;   ///< V, columns x k, column-major
};

/// LAPACK's dgesdd on this rank alone; `a` is rows x columns, column-major. Throws Error for entries that are not finite, for a matrix
/// beyond the 32-bit limits of LAPACK, and where the iteration does not converge.
ThinSvd thin_svd(std::vector<double> a, Index rows, Index columns);

}  // namespace posgeom
