#include "posgeom/linalg/blas_threads.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "linalg/blas_library.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// The CPUs (hardware threads) that this process may run on; empty where the kernel has more than the set holds.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

/// The hardware threads of one core count once. Where the kernel does not say, each is a core.
Index cores_of(const std::set<int>& cpus) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string siblings;
    std::getline(file, siblings);
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  return std::ssize(cores);
}

}  // namespace

Index cores_of_node(const Communicator& comm) {
  const Communicator node = comm.split_by_node();
  const std::vector<int> mine = collective(node, "looking for cores", allowed_cpus);
  const std::vector<int> all = all_gather(node, std::span<const int>(mine));
  const Index cores = collective(node, "counting cores", [&] { return cores_of(std::set<int>(all.begin(), all.end())); });
  // Read from files: as the rank that sees fewest saw them.
  return all_reduce(node, std::max(Index{1}, cores), Reduction::minimum);
}

int cores_per_rank(const Communicator& comm) {
  return narrow_to_int(std::max(Index{1}, cores_of_node(comm) / comm.split_by_node().size()), "the cores of a rank");
}

int set_blas_threads(int threads) {
  expects(threads >= 1, "at least one thread");
  const BlasLibrary blas;
  // BLIS takes a dim_t, 32 or 64 bits wide: a 64-bit argument is right for both.
  if (auto* set = blas.find<void(std::int64_t)>("bli_thread_set_num_threads")) {
    set(threads);
  } else if (auto* set_openblas = blas.find<void(int)>("openblas_set_num_threads")) {
    set_openblas(threads);
  } else if (auto* set_mkl = blas.find<void(int)>("MKL_Set_Num_Threads")) {
    set_mkl(threads);
  }
  return blas_threads();
}

namespace {

/// Seconds; more than `most` where it gave up.
double seconds_of_small_products(double most) {
  constexpr Index k = 192;
  constexpr int products = 24;
  const std::vector<double> a(k * k, 0.5);
  std::vector<double> c(k * k, 0.0);
  const auto multiply = [&] { multiply_local({.m = k, .n = k, .k = k}, a.data(), a.data(), 0.0, c.data()); };
  multiply();  // sets up the library's buffers
  const auto start = std::chrono::steady_clock::now();
  double seconds = 0;
  for (int product = 0; product < products && seconds <= most; ++product) {
    multiply();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return seconds;
}

}  // namespace

bool blas_gains_by_threads(int threads) {
  expects(threads >= 2, "more than one thread");
  set_blas_threads(1);
  // Equal times are no loss: small products gain little.
  const double most = 1.5 * seconds_of_small_products(std::numeric_limits<double>::infinity());
  if (set_blas_threads(threads) < 2) return false;  // a serial library
  if (seconds_of_small_products(most) <= most) return true;
  set_blas_threads(1);
  return false;
}

int blas_threads() {
  const BlasLibrary blas;
  int threads = 1;
  if (auto* get = blas.find<int()>("bli_thread_get_num_threads")) {
    auto* threaded = blas.find<int()>("bli_info_get_enable_threading");
    if (threaded == nullptr || threaded() != 0) threads = get();
  } else if (auto* get_openblas = blas.find<int()>("openblas_get_num_threads")) {
    threads = get_openblas();
  } else if (auto* get_mkl = blas.find<int()>("MKL_Get_Max_Threads")) {
    threads = get_mkl();
  }
  return std::max(1, threads);  // BLIS says -1 where nothing was set
}

}  // namespace posgeom
