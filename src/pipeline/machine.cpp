#include "posgeom/pipeline/machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

#include "posgeom/io/store.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/version.hpp"

namespace posgeom {

std::string library_versions() { return fmt::format("{}; {}", mpi_version(), hdf5_version()); }

Index memory_limit(const Communicator& comm, Index chosen) {
  if (chosen > 0) return chosen;
  const Communicator node = comm.split_by_node();
  const Index physical = static_cast<Index>(sysconf(_SC_PHYS_PAGES)) * static_cast<Index>(sysconf(_SC_PAGESIZE));
  return physical / 10 * 9 / node.size();
}

void use_blas_threads(const Communicator& comm, int chosen) { set_blas_threads(chosen > 0 ? chosen : cores_per_rank(comm)); }

Index peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Index>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

namespace {

/// A BLAS on kernels from before AVX2, on a CPU that has it.
bool is_outdated(const std::string& blas) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return false;
  for (const std::string_view kernel : {"Prescott", "Core2", "Penryn", "Nehalem", "Generic", "generic"}) {
    if (blas.find(kernel) != std::string::npos) return true;
  }
#endif
  return false;
}

}  // namespace

std::vector<std::string> run_header(const Communicator& comm, const std::string& process_grid) {
  const Communicator node = comm.split_by_node();
  const Index nodes = all_reduce(comm, Index{node.is_root() ? 1 : 0});
  const BlasReport blas = measure_blas();
  const double slowest = all_reduce(comm, blas.dgemm_flops, Reduction::minimum);
  std::vector<std::string> lines = {
      fmt::format("posgeom {} ({}), {}", version(), git_revision(), library_versions()),
      fmt::format("{} rank{} on {} node{}, process grid {}, BLAS {}, {} thread{} a rank: {:.1f} GF/s DGEMM on the slowest rank",
                  comm.size(), comm.size() == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s", process_grid, blas.name, blas.threads,
                  blas.threads == 1 ? "" : "s", slowest / 1e9)};
  if (is_outdated(blas.name)) {
    lines.push_back(fmt::format(
        "warning: {} does not know this CPU and runs its oldest kernels, several times slower than the CPU can; install BLIS and "
        "build with -DPOSGEOM_BLAS=blis, or a newer OpenBLAS (or set OPENBLAS_CORETYPE=Haswell)",
        blas.name));
  }
  return lines;
}

}  // namespace posgeom
