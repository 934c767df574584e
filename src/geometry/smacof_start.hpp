#pragma once
#include <cstdint>
#include <vector>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// The start of smacof at one d, and what is tied in it. The same on every rank.
class SmacofStart {
 public:
  SmacofStart(const SquareRootDistributions& s, const Coordinates& start, Index d);

  /// m x d, row-major, centred.
  const std::vector<double>& rows() const { return rows_; }
  /// Whether any coordinate is the same in two rows.
  bool has_ties() const { return !tied_.empty(); }
  /// rows() with uniform noise (of `seed`) in the tied rows, up to 1e-2 of the root mean square.
  std::vector<double> perturbed(std::uint64_t seed) const;

  /// Whether two rows are equal in `s` and in the start.
  bool has_equal_rows() const { return !groups_.empty(); }
  /// `rows` with the mean in place of each of those that are equal.
  std::vector<double> joined(std::vector<double> rows) const;

 private:
  Index m_;
  Index d_;
  std::vector<double> rows_;
  std::vector<std::int32_t> tied_;                 ///< rows, ascending
  std::vector<std::vector<std::int32_t>> groups_;  ///< rows that are equal
};

}  // namespace posgeom
