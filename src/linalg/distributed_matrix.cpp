#include "posgeom/linalg/distributed_matrix.hpp"

#include <fmt/format.h>

#include <utility>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

BlockCyclic axis(Index extent, Index block, int processes, int process) {
  expects(extent >= 0, "a non-negative extent");
  expects(block >= 1, "a block of at least one row and column");
  return {extent, block, processes, process};
}

/// What process 0 of the dimension holds: no other holds more.
Index fullest(BlockCyclic axis) {
  axis.process = 0;
  return axis.local_extent();
}

}  // namespace

DistributedMatrix::DistributedMatrix(ProcessGrid grid, Index rows, Index columns, Index block)
    : grid_(std::move(grid)),
      row_axis_(axis(rows, block, grid_.rows(), grid_.row())),
      column_axis_(axis(columns, block, grid_.columns(), grid_.column())),
      local_rows_(row_axis_.local_extent()),
      local_columns_(column_axis_.local_extent()),
      leading_dimension_(std::max(Index{1}, local_rows_)) {
  const int m = narrow_to_int(rows, "the rows of a matrix");
  const int n = narrow_to_int(columns, "the columns of a matrix");
  const int nb = narrow_to_int(block, "the block size");
  // Asked of the fullest rank, so that all ranks throw or none. Extents are below 2^31: the product cannot overflow.
  const Index largest = fullest(row_axis_) * fullest(column_axis_);
  if (largest > lp64_limit) {
    throw Error(
        fmt::format("a {} x {} matrix on a {} process grid puts {} elements on one rank, and the 32-bit integers of BLAS and ScaLAPACK "
                    "index at most {}; "
                    "use at least {} ranks",
                    rows, columns, grid_.text(), largest, lp64_limit, rows * columns / lp64_limit + 1));
  }
  data_.resize(static_cast<std::size_t>(leading_dimension_ * local_columns_));
  constexpr int dense = 1;  // DTYPE of a dense block-cyclic matrix
  descriptor_ = {dense, grid_.context(), m, n, nb, nb, 0, 0, static_cast<int>(leading_dimension_)};
}

}  // namespace posgeom
