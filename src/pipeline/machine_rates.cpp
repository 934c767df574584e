#include "posgeom/pipeline/machine_rates.hpp"

#include <algorithm>
#include <ctime>

#include "pipeline/stage_times.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

/// CPU seconds of this thread: other work on the machine takes none of them.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// CPU seconds of `body`, the shortest of three: the first touches memory for the first time, as a stage does once only.
template <class Body>
double shortest_of_three(Body body) {
  double shortest = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double start = cpu_seconds();
    body();
    const double seconds = cpu_seconds() - start;
    shortest = repeat == 0 ? seconds : std::min(shortest, seconds);
  }
  return shortest;
}

}  // namespace

MachineRates measure_rates() {
  constexpr Index rows = 640;
  constexpr Index row_nonzeros = 400;
  constexpr Index vocab_size = 20000;
  constexpr Index width = 32;
  MachineRates rates;
  rates.measured = true;
  {
    const OneBlasThread alone;
    rates.dgemm_flops = best_dgemm_flops(768, cpu_seconds);
  }

  PositionCounts counts;
  counts.length = rows;
  counts.vocab_size = vocab_size;
  counts.indptr.push_back(0);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < row_nonzeros; ++k) {
      counts.token.push_back(static_cast<Token>(k < row_nonzeros / 2 ? k : (k + i) * (vocab_size - 1) / (rows + row_nonzeros)));
      counts.count.push_back(1 + (i * 7919 + k * 104729) % 97);
    }
    counts.position_total.push_back(0);
    for (std::size_t k = counts.count.size() - row_nonzeros; k < counts.count.size(); ++k) counts.position_total.back() += counts.count[k];
    counts.indptr.push_back(std::ssize(counts.token));
  }
  const SquareRootDistributions s = square_root_distributions(counts, rows, {});
  const Communicator self = Communicator::self();
  const StressRequest request{{"random", random_encoding(RandomKind::normal, 1, s.position, width)}, {1, 2, 4, 8, 16, width}};
  const StressWork work{rows, std::ssize(s.column), 6, width, false};
  const double expected = summary_seconds(rows, work.nonzeros, 1, {}) + stress_seconds(work, 1, {});
  const double shortest = shortest_of_three([&] {
    const HellingerSummary summary = summarize_hellinger(self, s);
    (void)stress_sweep(self, s, summary, {request});
  });
  rates.slowness = shortest / expected;
  return rates;
}

}  // namespace posgeom
