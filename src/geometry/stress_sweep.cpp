#include <algorithm>
#include <optional>
#include <variant>

#include "geometry/anchor_blocks.hpp"
#include "geometry/compensated_sum.hpp"
#include "geometry/stress_coordinates.hpp"
#include "geometry/stress_lags.hpp"
#include "geometry/stress_ranks.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/stress.hpp"

namespace posgeom {
namespace {

/// What one rank needs for the sweep, allocated before it starts.
struct SweepWorkspace {
  explicit SweepWorkspace(const SquareRootDistributions& s, const std::vector<StressRequest>& requests)
      : rows(s), lags(s.position), counter(s.position) {
    h.resize(PairTiles::room);
    squared.resize(PairTiles::room);
    for (const StressRequest& request : requests) {
      if (std::holds_alternative<Coordinates>(request.encoding.form)) {
        sweeps.emplace_back(std::in_place, request, s.row_count());
      } else {
        sweeps.emplace_back();
      }
    }
    if (has_coordinates()) triples.emplace(s.row_count());
  }
  bool has_coordinates() const {
    return std::ranges::any_of(sweeps, [](const auto& sweep) { return sweep.has_value(); });
  }
  bool has_lag_kernels() const {
    return !std::ranges::all_of(sweeps, [](const auto& sweep) { return sweep.has_value(); });
  }
  Index cell_count() const {
    Index cells = 0;
    for (const auto& sweep : sweeps) cells += sweep ? sweep->cell_count() : 0;
    return cells;
  }

  HellingerRows rows;
  LagSums lags;
  ViolationCounter counter;
  AlignedVector<double> h;
  AlignedVector<double> squared;
  std::optional<TripleBuffers> triples;
  std::vector<std::optional<CoordinateSweep>> sweeps;  ///< one a request; empty for lag kernels
};

/// Counts the blocks of all passes for the caller.
class Steps {
 public:
  Steps(const StressProgress& progress, Index total) : progress_(&progress), total_(total) {}
  void done() {
    ++done_;
    if (*progress_) (*progress_)(done_, total_);
  }

 private:
  const StressProgress* progress_;
  Index done_ = 0;
  Index total_;
};

/// sum (H - mean)^2 over a tile's pairs.
double variation(const PairTiles::Tile& tile, std::span<const double> h, double mean) {
  double sum = 0;
  for (Index r = 0; r < tile.count; ++r) {
    for (Index c = tile.row_begin(r); c < tile.width; ++c) {
      const double centred = h[static_cast<std::size_t>(r * tile.width + c)] - mean;
      sum += centred * centred;
    }
  }
  return sum;
}

/// One round of the pass over pairs. Returns sum (H - mean)^2.
double add_pairs(SweepWorkspace& work, const PairTiles::Tile& tile, double mean_h) {
  for (Index r = 0; r < tile.count; r += HellingerRows::row_block) {
    const Index count = std::min(HellingerRows::row_block, tile.count - r);
    work.rows.compute(tile.first + r, count, tile.j_begin, tile.width, std::span(work.h).subspan(static_cast<std::size_t>(r * tile.width)));
  }
  if (work.has_lag_kernels()) work.lags.add_pairs(tile, work.h);
  for (auto& sweep : work.sweeps) {
    if (sweep) sweep->add_pairs(tile, work.h, mean_h, work.squared);
  }
  return variation(tile, work.h, mean_h);
}

/// **Collective.** Spearman's correlations of the encodings with coordinates, and the sums for the others.
void correlate_ranks(const SquareRootDistributions& s, SweepWorkspace& work, StressRanks& ranks, Steps& steps) {
  ranks.rank_hellinger();
  if (work.has_lag_kernels()) ranks.sum_by_lag(s.position);
  for (auto& sweep : work.sweeps) {
    if (!sweep) continue;
    ranks.start();
    for (Index cell = 0; cell < sweep->cell_count(); ++cell) {
      sweep->set_spearman(cell, ranks.next(*sweep, cell));
      steps.done();
    }
  }
}

}  // namespace

std::vector<StressColumns> stress_sweep(const Communicator& comm, const SquareRootDistributions& s, const HellingerSummary& summary,
                                        const std::vector<StressRequest>& requests, const StressProgress& progress,
                                        const StressSweepOptions& options) {
  if (requests.empty()) return {};
  SweepWorkspace work = collective(comm, "preparing the stress sweep", [&] { return SweepWorkspace(s, requests); });
  const PairTiles tiles(comm, s.row_count());
  const AnchorBlocks blocks(comm, s.row_count(), TripleBuffers::row_block);
  const bool triples = options.violation_rate && work.has_coordinates();
  std::optional<StressRanks> ranks;
  if (options.spearman) ranks.emplace(comm, tiles, RankOptions{});
  Steps steps(progress, tiles.rounds() + (triples ? blocks.rounds() : 0) + (options.spearman ? work.cell_count() : 0));

  CompensatedSum h_variation;
  for (Index round = 0; round < tiles.rounds(); ++round) {
    const PairTiles::Tile tile = tiles.tile(round);
    if (tile.count > 0) {
      h_variation.add(add_pairs(work, tile, summary.mean));
      if (ranks) ranks->keep(round, tile, work.h);
    }
    steps.done();
  }
  combine(comm, std::span(&h_variation, 1));
  work.lags.combine_pairs(comm);
  for (auto& sweep : work.sweeps) {
    if (sweep) sweep->combine_pairs(comm);
  }

  // The tie of a violation is a share of the largest distance, which only the first pass knows.
  for (Index round = 0; triples && round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    for (auto& sweep : work.sweeps) {
      if (sweep && count > 0) sweep->add_triples(first, count, work.counter, *work.triples);
    }
    steps.done();
  }
  if (ranks) correlate_ranks(s, work, *ranks, steps);

  std::vector<StressColumns> columns;
  for (std::size_t e = 0; e < requests.size(); ++e) {
    columns.push_back(work.sweeps[e]
                          ? work.sweeps[e]->finish(comm, summary, h_variation.value())
                          : lag_stress(comm, requests[e], work.lags, summary, h_variation.value(), options, ranks ? &*ranks : nullptr));
  }
  return columns;
}

}  // namespace posgeom
