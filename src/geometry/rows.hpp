#pragma once
#include <vector>

#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// Whether a column that so many of the distinct rows hold is a frequent one: below, lists of the few rows of a block that hold it cost
/// less than whole vectors.
inline bool is_frequent(Index holders, Index distinct_rows) { return holders * frequent_share >= distinct_rows; }

/// The mean over the rows of each column of S, [column_count]; compensated, so that equal rows leave at most one rounding after centring.
std::vector<double> column_means(const SquareRootDistributions& s);

/// The largest |S_i|^2: 1, or 1/2 with unit_range; 0 where every row is zero.
double largest_squared_norm(const SquareRootDistributions& s);

/// For each row the lowest row that is equal to it, itself where there is none, [m].
std::vector<Index> first_equal_row(const SquareRootDistributions& s);

}  // namespace posgeom
