#pragma once
#include <memory>
#include <string>

#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

struct GridShape {
  int rows = 1;
  int columns = 1;
};
/// The rows x columns = ranks nearest to a square with rows <= columns: 6 ranks 2 x 3, 7 ranks 1 x 7.
GridShape nearest_square_shape(int ranks);

/// A rows x columns grid of all ranks of a communicator (row-major order), as BLACS and ScaLAPACK want it.
/// Copies share one BLACS context, which is freed with the last copy (its system handle as soon as the context exists), but not after
/// MPI_Finalize. The communicator must outlive it.
class ProcessGrid {
 public:
  /// **Collective.** rows * columns must equal comm.size(): every rank is inside. Throws Error otherwise.
  ProcessGrid(const Communicator& comm, int rows, int columns);
  /// **Collective.** The grid of nearest_square_shape(comm.size()).
  static ProcessGrid nearest_square(const Communicator& comm);

  int rows() const;
  int columns() const;
  int row() const;      ///< this rank's row
  int column() const;   ///< this rank's column
  int context() const;  ///< the BLACS context
  const Communicator& communicator() const;
  /// "2x3"
  std::string text() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace posgeom
