// The stress sweep against its peers in one run: a dense rank-n update on the same ranks (BLAS dsyrk and dgemm, n x n by n) for some values
// of d, and as many vectorised square roots for all of them. Prints seconds and ratios as CSV; medians of interleaved repetitions.
// --sums: neither violation rates nor Spearman.
//   mpirun -np 2 stress_bench [--all-dims] [--sums] [--cpu-time] [n ...]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cli/kernels.hpp"
#include "geometry/pair_kernels.hpp"
#include "geometry/pair_tiles.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/mpi/session.hpp"

extern "C" {
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void dsyrk_(const char* uplo, const char* transpose, const int* n, const int* k, const double* alpha, const double* a, const int* lda,
            const double* beta, double* c, const int* ldc);
}

namespace posgeom {
namespace {

constexpr Index tokens_per_position = 4000;

/// Zipf's law over 12 n tokens whose ranks drift with the position, as in packed text: a few hundred tokens are nearly everywhere.
PositionCounts zipf_with_drift(Index n) {
  const Index vocab_size = 12 * n;
  PositionCounts counts;
  counts.length = n;
  counts.vocab_size = vocab_size;
  counts.indptr.push_back(0);
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double log_size = std::log(static_cast<double>(vocab_size));
  for (Index i = 0; i < n; ++i) {
    std::map<Token, Count> drawn;
    for (Index t = 0; t < tokens_per_position; ++t) {
      const auto zipf = static_cast<Index>(std::exp(uniform(generator) * log_size));  // density 1/v
      const Index shift = zipf > 64 ? i / 8 : 0;
      ++drawn[static_cast<Token>((zipf + shift) % vocab_size)];
    }
    for (const auto& [token, count] : drawn) {
      counts.token.push_back(token);
      counts.count.push_back(count);
    }
    counts.position_total.push_back(tokens_per_position);
    counts.indptr.push_back(std::ssize(counts.token));
  }
  return counts;
}

/// Coordinates of falling scale, as those of the MDS.
Coordinates coordinates(Index n) {
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Coordinates x{.rows = n, .columns = n, .stored = n, .values = std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::size_t k = 0; k < x.values.size(); ++k) {
    x.values[k] = uniform(generator) / std::sqrt(1 + static_cast<double>(k) / static_cast<double>(n));
  }
  return x;
}

/// Seconds on the wall, or of this process's own work where others use the machine too.
double now(bool cpu_time) {
  if (cpu_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of the slowest rank.
double seconds(const Communicator& comm, bool cpu_time, const std::function<void()>& work) {
  barrier(comm);
  const double begin = now(cpu_time);
  work();
  return all_reduce(comm, now(cpu_time) - begin, Reduction::maximum);
}

/// Medians of interleaved repetitions, by name.
class Timings {
 public:
  Timings(const Communicator& comm, bool cpu_time) : comm_(&comm), cpu_time_(cpu_time) {}
  void add(const std::string& name, const std::function<void()>& work) { parts_.emplace_back(name, work); }
  void run(int repetitions) {
    for (int k = 0; k < repetitions; ++k) {
      for (const auto& [name, work] : parts_) seconds_[name].push_back(seconds(*comm_, cpu_time_, work));
    }
  }
  double operator[](const std::string& name) {
    auto& all = seconds_.at(name);
    std::ranges::sort(all);
    return all[all.size() / 2];
  }

 private:
  const Communicator* comm_;
  bool cpu_time_;
  std::vector<std::pair<std::string, std::function<void()>>> parts_;
  std::map<std::string, std::vector<double>> seconds_;
};

/// This rank's share of a rank-n update of an n x n matrix: n / ranks columns.
struct RankUpdate {
  RankUpdate(const Communicator& comm, const Coordinates& x)
      : n(static_cast<int>(x.rows)),
        k(std::max(1, n / comm.size())),
        a(x.values.begin(), x.values.begin() + Index{n} * k),
        c(static_cast<std::size_t>(Index{n} * n)) {}
  void syrk() { dsyrk_("L", "N", &n, &k, &one, a.data(), &n, &zero, c.data(), &n); }
  void gemm() { dgemm_("N", "T", &n, &n, &k, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n); }
  int n;
  int k;
  std::vector<double> a;
  std::vector<double> c;
  double one = 1;
  double zero = 0;
};

/// `count` square roots of numbers in the first-level cache.
void take_roots(Index count) {
  static constexpr Index piece = 1024;
  std::vector<double> numbers(piece, 2.0);
  std::vector<double> roots(piece);
  for (Index done = 0; done < count; done += piece) square_roots(numbers.data(), piece, roots.data());
  if (roots[0] > 2) throw std::logic_error("a square root");
}

void compute_hellinger(const Communicator& comm, const SquareRootDistributions& s) {
  HellingerRows rows(s);
  const PairTiles tiles(comm, s.row_count());
  std::vector<double> h(PairTiles::height * PairTiles::width);
  for (Index round = 0; round < tiles.rounds(); ++round) {
    const PairTiles::Tile tile = tiles.tile(round);
    for (Index r = 0; r < tile.count; r += HellingerRows::row_block) {
      rows.compute(tile.first + r, std::min(HellingerRows::row_block, tile.count - r), tile.j_begin, tile.width, h);
    }
  }
}

void report(const Communicator& comm, Index n, const std::string& what, double value, const std::string& peer, double peer_value) {
  if (comm.is_root()) fmt::print("{},{},{},{:.4f},{},{:.4f},{:.3f}\n", n, comm.size(), what, value, peer, peer_value, value / peer_value);
}

struct Choice {
  bool all_dims = false;
  bool sums_only = false;
  bool cpu_time = false;
};

void bench(const Communicator& comm, Index n, const Choice& choice) {
  const PositionCounts counts = zipf_with_drift(n);
  const SquareRootDistributions s = square_root_distributions(counts, n, {});
  const HellingerSummary summary{.pair_count = n * (n - 1) / 2, .sum = 1, .sum_squared = 1, .mean = 1};
  std::vector<std::int32_t> twelve;
  for (Index k = 1; k <= 12; ++k) twelve.push_back(static_cast<std::int32_t>(k * n / 12));
  const std::vector<StressRequest> some{{{"x", coordinates(n)}, twelve}};
  const auto& x = std::get<Coordinates>(some[0].encoding.form);
  const std::vector<StressRequest> lags{{{"sinusoidal", sinusoidal_encoding()}, twelve}};
  const auto sweep = [&](const std::vector<StressRequest>& requests, bool violations, bool spearman) {
    stress_sweep(comm, s, summary, requests, {}, {.violation_rate = violations, .spearman = spearman});
  };
  RankUpdate update(comm, x);

  Timings t(comm, choice.cpu_time);
  t.add("dsyrk", [&] { update.syrk(); });
  t.add("dgemm", [&] { update.gemm(); });
  t.add("hellinger", [&] { compute_hellinger(comm, s); });
  t.add("sums", [&] { sweep(some, false, false); });
  if (!choice.sums_only) {
    t.add("violations", [&] { sweep(some, true, false); });
    t.add("spearman", [&] { sweep(some, false, true); });
    t.add("lags", [&] { sweep(lags, false, false); });
    t.add("lag_violations", [&] { sweep(lags, true, false); });
    t.add("lag_spearman", [&] { sweep(lags, false, true); });
  }
  t.run(3);
  if (comm.is_root()) fmt::print("# n = {}: {} nonzeros a row of S\n", n, std::ssize(s.value) / n);
  report(comm, n, "sums for 12 d", t["sums"], "dsyrk", t["dsyrk"]);
  report(comm, n, "sums for 12 d", t["sums"], "dgemm", t["dgemm"]);
  report(comm, n, "sums for 12 d without H", t["sums"] - t["hellinger"], "dsyrk", t["dsyrk"]);
  report(comm, n, "H by tiles", t["hellinger"], "dsyrk", t["dsyrk"]);
  if (!choice.sums_only) {
    report(comm, n, "violation rates for 12 d", t["violations"] - t["sums"], "sums", t["sums"]);
    report(comm, n, "Spearman for 12 d", t["spearman"] - t["sums"], "sums", t["sums"]);
    report(comm, n, "lag kernel sums", t["lags"] - t["hellinger"], "H by tiles", t["hellinger"]);
    report(comm, n, "lag kernel violation rates", t["lag_violations"] - t["lags"], "H by tiles", t["hellinger"]);
    report(comm, n, "lag kernel Spearman", t["lag_spearman"] - t["lags"], "H by tiles", t["hellinger"]);
  }

  if (!choice.all_dims) return;
  std::vector<std::int32_t> all;
  for (Index d = 1; d <= n; ++d) all.push_back(static_cast<std::int32_t>(d));
  const std::vector<StressRequest> every{{some[0].encoding, all}};
  constexpr Index share = 8;  // of the square roots: their time is proportional to their number
  const Index roots = n * (n * (n - 1) / 2) / comm.size();
  Timings full(comm, choice.cpu_time);
  full.add("roots", [&] { take_roots(roots / share); });
  full.add("sums", [&] { sweep(every, false, false); });
  full.run(n > 2048 ? 1 : 3);
  report(comm, n, "sums for all d", full["sums"], "square roots", share * full["roots"]);
}

}  // namespace
}  // namespace posgeom

int main(int argc, char** argv) {
  posgeom::cli::restart_with_better_blas_kernels(argv);
  posgeom::cli::unblock_stop_signals();
  const posgeom::Session session(argc, argv);
  const posgeom::Communicator comm = posgeom::Communicator::world();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  posgeom::Choice choice;
  std::vector<posgeom::Index> lengths;
  for (const std::string& argument : arguments) {
    if (argument == "--all-dims") {
      choice.all_dims = true;
    } else if (argument == "--sums") {
      choice.sums_only = true;
    } else if (argument == "--cpu-time") {
      choice.cpu_time = true;
    } else {
      lengths.push_back(std::stoll(argument));
    }
  }
  if (lengths.empty()) lengths = {1024, 2048, 4096};
  if (comm.is_root()) fmt::print("n,ranks,what,seconds,peer,peer_seconds,ratio\n");
  for (const posgeom::Index n : lengths) posgeom::bench(comm, n, choice);
  return 0;
}
