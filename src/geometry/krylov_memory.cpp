#include "geometry/gram_operator.hpp"
#include "geometry/krylov.hpp"
#include "posgeom/geometry/mds.hpp"

namespace posgeom {

Index krylov_bytes(const RowsSize& s, Index pairs, int ranks, int threads) {
  constexpr Index number = sizeof(double);
  const KrylovOptions sizes = krylov_sizes({.count = pairs}, s.rows);
  const Index rows = (s.rows + ranks - 1) / ranks;
  // The operator's vectors by rows and by columns.
  const Index lanes = GramOperator::lanes * number * (rows + threads * s.columns);
  // The basis, and its new vectors at a restart; the projected problem with LAPACK's workspace; all rows of the pairs, twice on their way.
  const Index basis = number * sizes.basis * (2 * rows + 6 * sizes.basis);
  return number * rows * s.dense + lanes + basis + 3 * number * s.rows * pairs;
}

}  // namespace posgeom
