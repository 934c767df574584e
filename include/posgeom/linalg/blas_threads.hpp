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

/// Whether small products, such as those of LAPACK's divide and conquer, take `threads` (>= 2) no longer than one, or by less than half; so
/// many are then set, and one otherwise. Where another program runs on one of the cores, threads that wait for each other in a loop, as
/// BLIS's do, lose a time slice at every product: 0.2 s became 16 s. Takes some milliseconds. Not collective.
bool blas_gains_by_threads(int threads);

/// How many threads the BLAS uses, by its own word; 1 where it does not say. Not collective.
int blas_threads();

/// The BLAS computes with one thread as long as this lives.
class OneBlasThread {
 public:
  OneBlasThread() : threads_(blas_threads()) { set_blas_threads(1); }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
  ~OneBlasThread() { set_blas_threads(threads_); }

 private:
  int threads_;
};

}  // namespace posgeom
