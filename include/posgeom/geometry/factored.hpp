#pragma once
#include <string>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// The minimal parametrisation P = A B' of an encoding, to a tolerance.
struct FactoredEncoding {
  Index rows = 0;         ///< m
  Index columns = 0;      ///< d
  Index rank = 0;         ///< r
  std::vector<double> a;  ///< m x r, row-major: A = P B
  std::vector<double> b;  ///< d x r, row-major, with orthonormal columns
  double error = 0;       ///< |P - A B'|_F / |P|_F; 0 for P = 0
  Index parameters_full() const { return rows * columns; }
  Index parameters_factored() const { return rank * (rows + columns); }
  /// r < m d / (m + d): only then are the factors fewer numbers than P.
  bool saves() const { return parameters_factored() < parameters_full(); }
  /// One sentence with both numbers, that says so where factoring does not save.
  std::string note() const;
};

/// The smallest r whose best approximation (the r leading singular triples; Eckart and Young 1936) of `matrix`, m x d, row-major, has
/// |P - A B'|_F <= tolerance |P|_F, 0 <= tolerance < 1; what is below max(m, d) eps |P|_F counts as rounding. Columns of B are signed as by
/// fix_sign(). On this rank alone, O(m d min(m, d)). Throws Error as thin_svd() does.
FactoredEncoding factored_encoding(const std::vector<double>& matrix, Index rows, Index columns, double tolerance);

}  // namespace posgeom
