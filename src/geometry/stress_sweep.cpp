#include <optional>
#include <variant>

#include "geometry/anchor_blocks.hpp"
#include "geometry/compensated_sum.hpp"
#include "geometry/stress_coordinates.hpp"
#include "geometry/stress_lags.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/stress.hpp"

namespace posgeom {
namespace {

/// What one rank needs for the sweep, allocated before it starts.
struct Workspace {
  explicit Workspace(const SquareRootDistributions& s, const std::vector<StressRequest>& requests)
      : rows(s), lags(s.position), counter(s.position) {
    const auto m = static_cast<std::size_t>(s.row_count());
    h.resize(m * HellingerRows::row_block);
    squared.resize(m * HellingerRows::row_block);
    distances.resize(m);
    for (const StressRequest& request : requests) {
      if (std::holds_alternative<Coordinates>(request.encoding.form)) {
        sweeps.emplace_back(std::in_place, request, s.row_count());
      } else {
        sweeps.emplace_back();
      }
    }
  }
  bool has_coordinates() const {
    return std::ranges::any_of(sweeps, [](const auto& sweep) { return sweep.has_value(); });
  }

  HellingerRows rows;
  LagSums lags;
  ViolationCounter counter;
  std::vector<double> h;
  std::vector<double> squared;
  std::vector<double> distances;
  std::vector<std::optional<CoordinateSweep>> sweeps;  ///< one a request; empty for lag kernels
};

}  // namespace

std::vector<StressColumns> stress_sweep(const Communicator& comm, const SquareRootDistributions& s, const HellingerSummary& summary,
                                        const std::vector<StressRequest>& requests, const StressProgress& progress) {
  if (requests.empty()) return {};
  Workspace work = collective(comm, "preparing the stress sweep", [&] { return Workspace(s, requests); });
  const Index m = s.row_count();
  const AnchorBlocks blocks(comm, m);
  const Index total_rounds = blocks.rounds() * (work.has_coordinates() ? 2 : 1);
  const auto report = [&](Index done) {
    if (progress) progress(done, total_rounds);
  };

  CompensatedSum h_variation;
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    if (count > 0) {
      work.rows.compute(first, count, first, m - first, work.h);
      work.lags.add_pairs(first, count, work.h);
      for (Index r = 0; r < count; ++r) {
        double sum = 0;
        for (Index j = r + 1; j < m - first; ++j) {
          const double centred = work.h[static_cast<std::size_t>(r * (m - first) + j)] - summary.mean;
          sum += centred * centred;
        }
        h_variation.add(sum);
      }
      for (auto& sweep : work.sweeps) {
        if (sweep) sweep->add_pairs(first, count, work.h, summary.mean, work.squared);
      }
    }
    report(round + 1);
  }
  combine(comm, std::span(&h_variation, 1));
  work.lags.combine_pairs(comm);
  for (auto& sweep : work.sweeps) {
    if (sweep) sweep->combine_pairs(comm);
  }

  // The tie of a violation is a share of the largest distance, which only the first pass knows.
  for (Index round = 0; work.has_coordinates() && round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    for (auto& sweep : work.sweeps) {
      if (sweep && count > 0) sweep->add_triples(first, count, work.counter, work.squared, work.distances);
    }
    report(blocks.rounds() + round + 1);
  }

  std::vector<StressColumns> columns;
  for (std::size_t e = 0; e < requests.size(); ++e) {
    columns.push_back(work.sweeps[e] ? work.sweeps[e]->finish(comm, summary, h_variation.value())
                                     : lag_stress(comm, requests[e], work.lags, summary, h_variation.value()));
  }
  return columns;
}

}  // namespace posgeom
