#include "linalg/eigen_backends.hpp"
#include "linalg/tridiagonal.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Each rank's part of the column-major matrix that it holds as a whole.
void scatter(const std::vector<double>& whole, DistributedMatrix& a) {
  const std::vector<BlockCyclic::Run> row_blocks = a.row_axis().blocks();
  for (const BlockCyclic::Run& columns : a.column_axis().blocks()) {
    for (Index k = 0; k < columns.count; ++k) {
      const double* from = whole.data() + (columns.global + k) * a.rows();
      for (const BlockCyclic::Run& rows : row_blocks) std::copy_n(from + rows.global, rows.count, &a.local(rows.local, columns.local + k));
    }
  }
}

}  // namespace

// Not the library's own pdsyevr: of ScaLAPACK 2.2.1 it gives wrong eigenvalues, with info = 0, for some Gram matrices (of order 50 on one
// rank), finds no speed-up on two ranks, and tells only as many eigenvalues as vectors.
Solution solve_pdsyevr(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  const Communicator& comm = matrix.grid().communicator();
  const Tridiagonal t = reduce_to_tridiagonal(matrix, doing);
  Solution solution = collective(comm, doing, [&] {
    return Solution{std::vector<double>(static_cast<std::size_t>(matrix.rows())),
                    DistributedMatrix(matrix.grid(), matrix.rows(), vectors, matrix.block())};
  });
  {
    std::vector<double> found = collective(comm, doing, [&] {
      if (!comm.is_root()) return std::vector<double>(static_cast<std::size_t>(matrix.rows() * vectors));
      solution.values = tridiagonal_values(t, doing);
      return tridiagonal_vectors(t, vectors, doing);
    });
    broadcast(comm, std::span(found));
    scatter(found, solution.vectors);
  }
  transform_back(matrix, t, solution.vectors, doing);
  return solution;
}

bool vectors_on_root(Index n, Index vectors, Index block, int grid_rows, int grid_columns) {
  const Index nb = effective_block(n, block);
  const Index part = BlockCyclic{n, nb, grid_rows, 0}.local_extent() * BlockCyclic{n, nb, grid_columns, 0}.local_extent();
  return n * vectors <= 2 * part;
}

}  // namespace posgeom
