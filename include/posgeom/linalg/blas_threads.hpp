#pragma once
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// **Collective.** The threads that each rank's BLAS may use, so that ranks times threads are the cores of the node: the physical cores
/// that the node's ranks may run on together (their affinity: a launcher's binding counts), shared equally, at least 1. The same on the
/// ranks of a node.
int cores_per_rank(const Communicator& comm);

/// **Collective.** Those cores: how many the ranks of this rank's node may run on together. At least 1; the same on the ranks of a node.
Index cores_of_node(const Communicator& comm);

/// Lets the BLAS of this process use so many threads (>= 1), by the library's own call: BLIS, OpenBLAS or MKL. Returns how many it will
/// use: 1 where the library is a serial one or offers no such call. It holds for the whole process. Not collective.
int set_blas_threads(int threads);

/// How many threads the BLAS uses, by its own word; 1 where it does not say. Not collective.
int blas_threads();

}  // namespace posgeom
