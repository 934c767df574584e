#include "posgeom/pipeline/machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <thread>

#include "posgeom/io/store.hpp"
#include "posgeom/linalg/blas_kernels.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/version.hpp"

namespace posgeom {

std::string library_versions() { return fmt::format("{}; {}", mpi_version(), hdf5_version()); }

Index share_of_node(const Communicator& comm, Index node_bytes) { return node_bytes / 10 * 9 / comm.split_by_node().size(); }

Index control_group_memory(const std::string& membership, const std::string& root) {
  std::ifstream groups(membership);
  Index least = 0;
  const auto consider = [&](const std::string& file) {
    Index limit = 0;
    std::ifstream in(file);
    if (in >> limit && limit > 0 && (least == 0 || limit < least)) least = limit;  // "max" is no number
  };
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" of version 2; "7:memory:/path" of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const std::string base = controllers.empty() ? root : root + "/memory";
    const std::string file = controllers.empty() ? "/memory.max" : "/memory.limit_in_bytes";
    // A group's limit holds within those of the groups above it.
    for (std::string path = line.substr(second + 1); !path.empty() && path != "/"; path.resize(path.find_last_of('/')))
      consider(fmt::format("{}{}{}", base, path, file));
    consider(base + file);
  }
  return least;
}

Index memory_limit(const Communicator& comm, Index chosen) {
  if (chosen > 0) return chosen;
  const Index physical = static_cast<Index>(sysconf(_SC_PHYS_PAGES)) * static_cast<Index>(sysconf(_SC_PAGESIZE));
  const Index group = control_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");
  return share_of_node(comm, group > 0 ? std::min(physical, group) : physical);
}

std::string use_blas_threads(const Communicator& comm, int chosen) {
  if (chosen > 0) {
    // Threads that wait for each other in a loop, more of them than there are CPUs: nothing would ever be done.
    const auto cpus = static_cast<int>(std::thread::hardware_concurrency());
    const int fewest = all_reduce(comm, cpus > 0 ? cpus : chosen, Reduction::minimum);
    if (chosen > fewest) {
      throw CollectiveError(
          fmt::format("option --threads: found {}, expected at most {}, the CPUs that a rank may run on; leave it at auto, "
                      "or let the launcher give each rank more (srun --cpus-per-task, mpirun --map-by slot:PE={})",
                      chosen, fewest, chosen),
          ErrorKind::usage, 0);
    }
    set_blas_threads(chosen);
    return {};
  }
  // The same on every rank: predictions, and so the choice of a solver, depend on it.
  const int threads = all_reduce(comm, cores_per_rank(comm), Reduction::minimum);
  set_blas_threads(threads);
  if (threads == 1 || all_reduce(comm, blas_threads(), Reduction::minimum) == 1) return {};
  const bool gains = blas_gains_by_threads(threads);
  if (all_reduce(comm, int{gains}, Reduction::minimum) == 1) return {};
  set_blas_threads(1);
  return fmt::format(
      "warning: 1 thread a rank, because {} were slower when they were tried: other programs run on these cores (--threads {} takes them "
      "nevertheless)",
      threads, threads);
}

Index peak_memory() {
  // What getrusage says begins with the resident set of whoever started this program, which may have been larger.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    Index kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<Index>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

MachineLook look_at_machine(const Communicator& comm) {
  MachineLook look;
  look.nodes = all_reduce(comm, Index{comm.split_by_node().is_root() ? 1 : 0});
  look.blas = measure_blas();
  look.slowest_flops = all_reduce(comm, look.blas.dgemm_flops, Reduction::minimum);
  return look;
}

std::vector<std::string> run_header(const Communicator& comm, const std::string& process_grid, Index memory_bytes) {
  const Communicator node = comm.split_by_node();
  const MachineLook look = look_at_machine(comm);
  const BlasReport& blas = look.blas;
  std::vector<std::string> lines = {
      fmt::format("posgeom {} ({}), {}", version(), git_revision(), library_versions()),
      fmt::format("{} rank{} on {} node{}, process grid {}, BLAS {}, {} thread{} a rank: {:.1f} GF/s DGEMM on the slowest rank",
                  comm.size(), comm.size() == 1 ? "" : "s", look.nodes, look.nodes == 1 ? "" : "s", process_grid, blas.name, blas.threads,
                  blas.threads == 1 ? "" : "s", look.slowest_flops / 1e9)};
  const Index cores = cores_of_node(comm);
  const Index fewest = all_reduce(comm, cores, Reduction::minimum);
  const Index crowded = all_reduce(comm, Index{node.size() > cores ? 1 : 0});
  lines.push_back(fmt::format("{} core{} a node to run on, {:.0f} MiB a rank to use", fewest, fewest == 1 ? "" : "s",
                              mebibytes(all_reduce(comm, memory_bytes, Reduction::minimum))));
  if (crowded > 0) {
    lines.push_back(fmt::format(
        "warning: {} of {} ranks share cores ({} ranks on a node where they may run on {}): they wait for each other; start fewer, or "
        "have the launcher bind them apart (srun --cpus-per-task, mpirun --bind-to core)",
        crowded, comm.size(), node.size(), cores));
  }
  if (has_outdated_kernels(blas.name)) {
    lines.push_back(fmt::format(
        "warning: {} does not know this CPU and runs its oldest kernels, several times slower than the CPU can; install BLIS and "
        "build with -DPOSGEOM_BLAS=blis, or a newer OpenBLAS (or set OPENBLAS_CORETYPE=Haswell)",
        blas.name));
  }
  return lines;
}

}  // namespace posgeom
