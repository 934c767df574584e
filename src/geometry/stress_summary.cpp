#include <algorithm>
#include <limits>

#include "geometry/anchor_blocks.hpp"
#include "geometry/compensated_sum.hpp"
#include "geometry/stress_cell.hpp"
#include "posgeom/geometry/stress.hpp"

namespace posgeom {
namespace {

struct Workspace {
  explicit Workspace(const SquareRootDistributions& s)
      : rows(s), counter(s.position), h(static_cast<std::size_t>(s.row_count() * HellingerRows::row_block)) {}
  HellingerRows rows;
  ViolationCounter counter;
  std::vector<double> h;
};

}  // namespace

HellingerSummary summarize_hellinger(const Communicator& comm, const SquareRootDistributions& s) {
  Workspace work = collective(comm, "preparing the Hellinger distances", [&] { return Workspace(s); });
  const Index m = s.row_count();
  const AnchorBlocks blocks(comm, m);
  std::array<CompensatedSum, 2> sums;
  double largest = 0;
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    if (count == 0) continue;
    work.rows.compute(first, count, first, m - first, work.h);
    for (Index r = 0; r < count; ++r) {
      double sum = 0;
      double sum_squared = 0;
      for (Index j = r + 1; j < m - first; ++j) {
        const double h = work.h[static_cast<std::size_t>(r * (m - first) + j)];
        sum += h;
        sum_squared += h * h;
        largest = std::max(largest, h);
      }
      sums[0].add(sum);
      sums[1].add(sum_squared);
    }
  }
  combine(comm, sums);
  largest = all_reduce(comm, largest, Reduction::maximum);

  std::array<Count, 2> violations{0, 0};
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    if (count == 0) continue;
    work.rows.compute(first, count, work.h);
    for (Index r = 0; r < count; ++r) {
      const auto row = std::span(work.h).subspan(static_cast<std::size_t>(r * m), static_cast<std::size_t>(m));
      const ViolationCount found = work.counter.count(row, first + r, tie_share * largest);
      violations[0] += found.violations;
      violations[1] += found.comparisons;
    }
  }
  all_reduce(comm, std::span<Count>(violations));

  HellingerSummary summary;
  summary.pair_count = m * (m - 1) / 2;
  summary.sum = sums[0].value();
  summary.sum_squared = sums[1].value();
  summary.mean = summary.pair_count > 0 ? summary.sum / static_cast<double>(summary.pair_count) : std::numeric_limits<double>::quiet_NaN();
  summary.largest = largest;
  summary.corpus_violation_rate = ViolationCount{violations[0], violations[1]}.rate();
  summary.constant_baseline = constant_baseline(summary.sum, summary.sum_squared, summary.pair_count);
  return summary;
}

}  // namespace posgeom
