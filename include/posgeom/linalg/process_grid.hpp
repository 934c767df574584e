#pragma once
#include <memory>
#include <string>

#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// A rows x columns grid of all ranks of a communicator (row-major order), as BLACS and ScaLAPACK want it.
/// Copies share one BLACS context; it and its system handle are freed with the last copy. The communicator must outlive it.
class ProcessGrid {
 public:
  /// **Collective.** rows * columns must equal comm.size(): every rank is inside. Throws Error otherwise.
  ProcessGrid(const Communicator& comm, int rows, int columns);
  /// **Collective.** The grid nearest to a square with rows <= columns: 6 ranks 2 x 3, 7 ranks 1 x 7.
  static ProcessGrid nearest_square(const Communicator& comm);

  int rows() const;
  int columns() const;
  int row() const;     ///< this rank's row
  int column() const;  ///< this rank's column
  int context() const; ///< the BLACS context
  const Communicator& communicator() const;
  /// "2x3"
  std::string text() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace posgeom
