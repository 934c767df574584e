#pragma once
#include <string>
#include <vector>

#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

/// "Open MPI v4.1.4; HDF5 1.10.8"
std::string library_versions();

/// **Collective.** Nine tenths of `node_bytes`, shared equally by the ranks of this rank's node.
Index share_of_node(const Communicator& comm, Index node_bytes);

/// **Collective.** Bytes that this rank may use: `chosen`, or where that is 0 its share_of_node() of the node's memory, or of what its
/// control group (a container's or a batch system's limit) may hold of it.
Index memory_limit(const Communicator& comm, Index chosen);

/// The smallest memory limit, bytes, of this process's control groups and of those above them, as `membership` (/proc/self/cgroup) names
/// them and the files under `root` (/sys/fs/cgroup) give them, version 1 or 2. 0 where there is none. Not collective.
Index control_group_memory(const std::string& membership, const std::string& root);

inline double mebibytes(Index bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

/// Largest resident set of this process so far, bytes.
Index peak_memory();

/// **Collective.** Gives each rank's BLAS `chosen` threads; 0: those that make ranks times threads the cores of the node (of the one that
/// has fewest a rank), or one where the BLAS does not gain by them on every rank. Returns a warning in that last case, else nothing.
std::string use_blas_threads(const Communicator& comm, int chosen);

/// What a job runs on: its nodes, this rank's BLAS, and the DGEMM rate of the slowest rank.
struct MachineLook {
  Index nodes = 0;
  BlasReport blas;
  double slowest_flops = 0;
};
/// **Collective.** Measures each rank's BLAS.
MachineLook look_at_machine(const Communicator& comm);

/// **Collective.** What runs where: release, ranks and nodes, grid, libraries, the BLAS that serves and the DGEMM rate that it reaches, the
/// cores that ranks may run on and the bytes that each may use (`memory_bytes`); warnings for old BLAS kernels and for shared cores.
std::vector<std::string> run_header(const Communicator& comm, const std::string& process_grid, Index memory_bytes);

}  // namespace posgeom
