#pragma once
#include <string>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

/// "Open MPI v4.1.4; HDF5 1.10.8"
std::string library_versions();

/// **Collective.** Bytes that this rank may use: `chosen`, or where that is 0 nine tenths of its node's memory, shared equally by the
/// node's ranks.
Index memory_limit(const Communicator& comm, Index chosen);

inline double mebibytes(Index bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

/// Largest resident set of this process so far, bytes.
Index peak_memory();

/// **Collective.** Gives each rank's BLAS `chosen` threads; 0: those that make ranks times threads the cores of the node.
void use_blas_threads(const Communicator& comm, int chosen);

/// **Collective.** What runs where: release, ranks and nodes, grid, libraries, the BLAS that serves and the DGEMM rate that it reaches.
std::vector<std::string> run_header(const Communicator& comm, const std::string& process_grid);

}  // namespace posgeom
