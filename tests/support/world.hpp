#pragma once
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// All ranks of the test.
inline const Communicator& world() {
  static const Communicator comm = Communicator::world();
  return comm;
}

}  // namespace posgeom
