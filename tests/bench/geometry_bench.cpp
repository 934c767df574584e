// Gram matrix and eigenpairs of one length's counts, as the library finds them; geometry.py runs it beside its peers.
//   [mpirun -np P] geometry_bench SOURCE n THREADS dump FILE | gram | mds SOLVER K whole|leading
// SOURCE: a counts.h5 that holds n, or `smooth`: counts whose distributions change slowly with the position (Gaussian windows over 12000
// tokens), drawn anew. dump: S as a sparse matrix (rows, columns, nonzeros as int64; row begins int64, columns int32, values double).
// Otherwise one line: the slowest rank's wall seconds, the ranks' cpu seconds, and name=value pairs; for mds, a line with the reason
// before.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kernels.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/mpi/session.hpp"

namespace posgeom {
namespace {

constexpr Index smooth_vocab = 12000;
constexpr double smooth_total = 2e6;    // tokens a position
constexpr double smooth_width = 0.012;  // of a token's window, as a share of the length

/// Every token has a place and a frequency (Zipf-like); at a position it is drawn as often as a Gaussian around its place says.
PositionCounts smooth_counts(Index n) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> place(static_cast<std::size_t>(smooth_vocab));
  for (double& x : place) x = uniform(generator);
  PositionCounts counts;
  counts.length = n;
  counts.vocab_size = smooth_vocab;
  counts.indptr.push_back(0);
  std::vector<double> weight(place.size());
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t v = 0; v < place.size(); ++v) {
      const double away = (static_cast<double>(i) / static_cast<double>(n) - place[v]) / smooth_width;
      weight[v] = std::abs(away) < 5 ? std::exp(-away * away / 2) / static_cast<double>(v % 3000 + 20) : 0;
      sum += weight[v];
    }
    Count total = 0;
    for (std::size_t v = 0; v < place.size(); ++v) {
      if (weight[v] == 0) continue;
      const Count drawn = std::poisson_distribution<Count>(smooth_total * weight[v] / sum)(generator);
      if (drawn == 0) continue;
      counts.token.push_back(static_cast<Token>(v));
      counts.count.push_back(drawn);
      total += drawn;
    }
    counts.position_total.push_back(total);
    counts.indptr.push_back(std::ssize(counts.token));
  }
  return counts;
}

void dump(const SquareRootDistributions& s, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const void* data, std::size_t bytes) {
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  };
  const Index shape[3] = {s.row_count(), s.column_count, std::ssize(s.value)};
  write(shape, sizeof shape);
  write(s.row_begin.data(), s.row_begin.size() * sizeof s.row_begin[0]);
  write(s.column.data(), s.column.size() * sizeof s.column[0]);
  write(s.value.data(), s.value.size() * sizeof s.value[0]);
  if (!file) throw Error(fmt::format("writing '{}' failed", path));
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Wall time of the slowest rank and the cpu time of all.
std::string timed(const Communicator& comm, const std::function<void()>& work) {
  barrier(comm);
  const double cpu = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return fmt::format("{:.6f} {:.6f}", all_reduce(comm, wall.count(), Reduction::maximum), all_reduce(comm, cpu_seconds() - cpu));
}

void bench_mds(const Communicator& comm, const SquareRootDistributions& s, const std::vector<std::string>& arguments) {
  const MdsOptions options{
      .solver = solver_named(arguments.at(4)), .components = std::stoll(arguments.at(5)), .whole_spectrum = arguments.at(6) == "whole"};
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  Mds mds;
  const std::string time = timed(comm, [&] { mds = classical_mds(grid, s, options); });
  const double gram = all_reduce(comm, mds.gram_seconds, Reduction::maximum);
  if (!comm.is_root()) return;
  const double largest = mds.spectrum.eigenvalues.front();
  const double worst = mds.residuals.empty() ? 0 : *std::ranges::max_element(mds.residuals);
  fmt::print("# {}\n", mds.solver_reason);
  for (const std::string& warning : mds.warnings) fmt::print("# warning: {}\n", warning);
  fmt::print("{} solver={} gram={:.6f} worst_residual={:.3g} residual={:.3g} orthogonality={:.3g} trace={:.17g} lambda_1={:.17g} bulk={}\n",
             time, mds.solver, gram, worst / largest, mds.residual, mds.orthogonality, mds.spectrum.trace, largest,
             mds.warnings.empty() ? 0 : 1);
}

void bench(const Communicator& comm, const std::vector<std::string>& arguments) {
  const Index n = std::stoll(arguments.at(1));
  set_blas_threads(std::stoi(arguments.at(2)));
  const PositionCounts counts = arguments.at(0) == "smooth" ? smooth_counts(n) : read_counts(comm, arguments.at(0), n);
  const SquareRootDistributions s = square_root_distributions(counts, n, {});
  const std::string& task = arguments.at(3);
  if (task == "dump") {
    if (comm.is_root()) dump(s, arguments.at(4));
    return;
  }
  if (task == "mds") return bench_mds(comm, s, arguments);
  if (task != "gram") throw Error("geometry_bench: the tasks are dump, gram and mds");
  const ProcessGrid grid = ProcessGrid::nearest_square(comm);
  double diagonal = 0;
  const std::string time = timed(comm, [&] { diagonal = trace(hellinger_gram(grid, s, default_block_size)); });
  if (comm.is_root()) {
    fmt::print("{} trace={:.17g} expected={:.17g} nonzeros={} types={}\n", time, diagonal, gram_trace(s), s.value.size(), s.column_count);
  }
}

}  // namespace
}  // namespace posgeom

int main(int argc, char** argv) {
  try {
    posgeom::cli::restart_with_better_blas_kernels(argv);
    posgeom::cli::unblock_stop_signals();
    if (argc == 2 && std::string_view(argv[1]) == "kernels") {
      // For the peers: the setting that this process was started anew with.
      for (const char* const variable : {"BLIS_ARCH_TYPE", "OPENBLAS_CORETYPE"}) {
        if (const char* const value = std::getenv(variable); value != nullptr) fmt::print("{}={}\n", variable, value);
      }
      return 0;
    }
    const posgeom::Session session(argc, argv);
    posgeom::bench(posgeom::Communicator::world(), {argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "geometry_bench: {}\n", error.what());
    return 1;
  }
}
