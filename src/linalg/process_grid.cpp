#include "posgeom/linalg/process_grid.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "linalg/scalapack.hpp"
#include "posgeom/error.hpp"
#include "posgeom/types.hpp"
#include "posgeom/words.hpp"

namespace posgeom {

struct ProcessGrid::State {
  State(const Communicator& ranks, int row_count, int column_count) : communicator(&ranks) {
    // The system handle names the communicator only while the grid is made (BLACS copies the communicator); freeing it here frees the
    // table's slot, which two grids over one communicator would share.
    const int system_handle = scalapack::Csys2blacs_handle(ranks.handle());
    context = system_handle;
    scalapack::Cblacs_gridinit(&context, "Row", row_count, column_count);
    scalapack::Cfree_blacs_system_handle(system_handle);
    scalapack::Cblacs_gridinfo(context, &rows, &columns, &row, &column);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) scalapack::Cblacs_gridexit(context);
  }

  const Communicator* communicator;
  int context = -1;
  int rows = 0;
  int columns = 0;
  int row = -1;
  int column = -1;
};

GridShape nearest_square_shape(int ranks) {
  expects(ranks >= 1, "at least one rank");
  int rows = 1;
  for (int r = 1; r <= ranks / r; ++r) {
    if (ranks % r == 0) rows = r;
  }
  return {rows, ranks / rows};
}

ProcessGrid::ProcessGrid(const Communicator& comm, int rows, int columns) {
  if (rows < 1 || columns < 1 || Index{rows} * columns != comm.size()) {
    const GridShape shape = nearest_square_shape(comm.size());
    throw Error(fmt::format("a process grid of {}x{} does not hold {}; rows times columns must be the number of ranks, such as {}x{}", rows,
                            columns, number_of(comm.size(), "rank"), shape.rows, shape.columns));
  }
  state_ = std::make_shared<const State>(comm, rows, columns);
}

ProcessGrid ProcessGrid::nearest_square(const Communicator& comm) {
  const GridShape shape = nearest_square_shape(comm.size());
  return {comm, shape.rows, shape.columns};
}

int ProcessGrid::rows() const { return state_->rows; }
int ProcessGrid::columns() const { return state_->columns; }
int ProcessGrid::row() const { return state_->row; }
int ProcessGrid::column() const { return state_->column; }
int ProcessGrid::context() const { return state_->context; }
const Communicator& ProcessGrid::communicator() const { return *state_->communicator; }
std::string ProcessGrid::text() const { return fmt::format("{}x{}", rows(), columns()); }

}  // namespace posgeom
