#pragma once
#include <span>

#include "posgeom/types.hpp"

namespace posgeom {

/// How many of the descending eigenvalues are above max(rank_tolerance lambda_1, floor).
Index numerical_rank(std::span<const double> eigenvalues, double rank_tolerance, double floor);

}  // namespace posgeom
