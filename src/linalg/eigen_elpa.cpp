#include "linalg/eigen_backends.hpp"
#include "posgeom/error.hpp"

#if POSGEOM_WITH_ELPA
#include <elpa/elpa.h>
#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <type_traits>

#include "linalg/scalapack.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr int api_version = 20211125;  // the oldest with these calls

/// The library's start and end around one solution.
class Library {
 public:
  explicit Library(std::string_view doing) {
    if (elpa_init(api_version) != ELPA_OK) {
      throw Error(fmt::format("{}: this ELPA does not offer the interface {}; build with ELPA 2021.11 or later, or use another --solver",
                              doing, api_version));
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    int error = 0;
    elpa_uninit(&error);
  }
};

struct Release {
  void operator()(elpa_t handle) const {
    int error = 0;
    elpa_deallocate(handle, &error);
  }
};
using Handle = std::unique_ptr<std::remove_pointer_t<elpa_t>, Release>;

/// **Collective.** ELPA refuses ranks that own no row or column: a block that gives one to each (the caller has seen that there are
/// enough), else the matrix's own.
Index dealt_block(const DistributedMatrix& a) {
  const Index most = std::max(a.grid().rows(), a.grid().columns());
  return a.block() * (most - 1) < a.rows() ? a.block() : std::max(Index{1}, a.rows() / most);
}

DistributedMatrix redistributed(const DistributedMatrix& from, Index block, std::string_view doing) {
  DistributedMatrix to =
      collective(from.grid().communicator(), doing, [&] { return DistributedMatrix(from.grid(), from.rows(), from.columns(), block); });
  const int first = 1;
  const int context = from.grid().context();
  scalapack::pdgemr2d_(&from.descriptor()[2], &from.descriptor()[3], from.data().data(), &first, &first, effective_descriptor(from).data(),
                       to.data().data(), &first, &first, effective_descriptor(to).data(), &context);
  return to;
}

void set(const Handle& handle, const char* name, Index value, std::string_view doing) {
  int error = 0;
  elpa_set_integer(handle.get(), name, narrow_to_int(value, name), &error);
  if (error != ELPA_OK) throw Error(fmt::format("{}: ELPA refused {} = {} with error {}", doing, name, value, error));
}

Handle handle_for(const DistributedMatrix& a, Index vectors, std::string_view doing) {
  int error = 0;
  Handle handle(elpa_allocate(&error));
  if (error != ELPA_OK) throw Error(fmt::format("{}: elpa_allocate failed with error {}", doing, error));
  set(handle, "na", a.rows(), doing);
  set(handle, "nev", vectors, doing);
  set(handle, "local_nrows", a.local_rows(), doing);
  set(handle, "local_ncols", a.local_columns(), doing);
  set(handle, "nblk", a.block(), doing);
  set(handle, "mpi_comm_parent", MPI_Comm_c2f(a.grid().communicator().handle()), doing);
  set(handle, "process_row", a.grid().row(), doing);
  set(handle, "process_col", a.grid().column(), doing);
  return handle;
}

/// **Collective.** On a matrix that gives each rank a row and a column.
Solution solve_dealt(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  const ProcessGrid& grid = matrix.grid();
  const Communicator& comm = grid.communicator();
  const Index order = matrix.rows();
  const Library library(doing);
  const Handle handle = collective(comm, doing, [&] { return handle_for(matrix, vectors, doing); });
  int error = elpa_setup(handle.get());
  require_success(comm, doing, "elpa_setup", error);
  Solution all = collective(comm, doing, [&] {
    // One stage: two are three times slower with the generic kernels of distributions.
    set(handle, "solver", ELPA_SOLVER_1STAGE, doing);
    return Solution{std::vector<double>(static_cast<std::size_t>(order)), DistributedMatrix(grid, order, order, matrix.block())};
  });
  elpa_eigenvectors(handle.get(), matrix.data().data(), all.values.data(), all.vectors.data().data(), &error);
  require_success(comm, doing, "elpa_eigenvectors", error);
  if (vectors == order) return all;
  DistributedMatrix leading = collective(comm, doing, [&] { return DistributedMatrix(grid, order, vectors, matrix.block()); });
  take_leading_columns(all.vectors, leading);
  return {std::move(all.values), std::move(leading)};
}

}  // namespace

Solution solve_elpa(DistributedMatrix matrix, Index vectors, std::string_view doing) {
  const Index block = matrix.block();
  const Index dealt = dealt_block(matrix);
  if (dealt == block) return solve_dealt(std::move(matrix), vectors, doing);
  Solution solution = solve_dealt(redistributed(matrix, dealt, doing), vectors, doing);
  solution.vectors = redistributed(solution.vectors, block, doing);
  return solution;
}

}  // namespace posgeom

#else

namespace posgeom {

Solution solve_elpa(DistributedMatrix matrix, Index vectors, std::string_view /*doing*/) {
  expects(false, "a build with ELPA");
  return {std::vector<double>(static_cast<std::size_t>(vectors)), std::move(matrix)};
}

}  // namespace posgeom
#endif
