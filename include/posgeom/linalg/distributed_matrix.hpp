#pragma once
#include <array>
#include <span>
#include <vector>

#include "posgeom/linalg/block_cyclic.hpp"
#include "posgeom/linalg/process_grid.hpp"

namespace posgeom {

/// The block size where nothing else is said; the fastest of 32, 64, 128 for pdsyevd.
inline constexpr Index default_block_size = 64;

/// The largest element count of one rank's part or workspace that the LP64 interfaces of BLAS and ScaLAPACK index: 2^31 - 1.
inline constexpr Index lp64_limit = 2147483647;

/// A dense matrix of doubles, block-cyclic over a process grid in both dimensions with square blocks; each rank holds its part
/// column-major, zero at first. Algorithms are free functions (operations.hpp, eigensolver.hpp). The block is kept as given: whoever lets
/// users choose it keeps it within 1 .. order (a larger one leaves all but one rank idle).
class DistributedMatrix {
 public:
  /// Not collective beyond agreeing on the arguments. Throws Error, on every rank, where the fullest rank's part has more elements than
  /// LP64 libraries can index; std::bad_alloc on one rank is for the caller's collective().
  DistributedMatrix(ProcessGrid grid, Index rows, Index columns, Index block);

  const ProcessGrid& grid() const { return grid_; }
  const BlockCyclic& row_axis() const { return row_axis_; }
  const BlockCyclic& column_axis() const { return column_axis_; }
  Index rows() const { return row_axis_.extent; }
  Index columns() const { return column_axis_.extent; }
  Index block() const { return row_axis_.block; }
  Index local_rows() const { return local_rows_; }
  Index local_columns() const { return local_columns_; }
  /// max(1, local_rows()): element (i, j) of the local part is data()[i + j * leading_dimension()].
  Index leading_dimension() const { return leading_dimension_; }
  std::span<double> data() { return data_; }
  std::span<const double> data() const { return data_; }
  double& local(Index i, Index j) { return data_[static_cast<std::size_t>(i + j * leading_dimension_)]; }
  double local(Index i, Index j) const { return data_[static_cast<std::size_t>(i + j * leading_dimension_)]; }
  /// The ScaLAPACK array descriptor (DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD).
  const std::array<int, 9>& descriptor() const { return descriptor_; }

 private:
  ProcessGrid grid_;
  BlockCyclic row_axis_;
  BlockCyclic column_axis_;
  Index local_rows_;
  Index local_columns_;
  Index leading_dimension_;
  std::vector<double> data_;
  std::array<int, 9> descriptor_;
};

}  // namespace posgeom
