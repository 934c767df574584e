#include "geometry/stress_lags.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/anchor_blocks.hpp"
#include "geometry/stress_ranks.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// This rank's anchors' violations of distances by lag, for positions with gaps.
ViolationCount count_with_gaps(const Communicator& comm, const LagSums& lags, ViolationCounter& counter, std::span<const double> distances,
                               double tie) {
  const auto positions = lags.positions();
  const AnchorBlocks blocks(comm, std::ssize(positions));
  std::vector<double> row(positions.size());
  ViolationCount total;
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const AnchorBlocks::Block block = blocks.block(round);
    for (Index i = block.first; i < block.first + block.count; ++i) {
      const std::int32_t here = positions[static_cast<std::size_t>(i)];
      std::ranges::transform(positions, row.begin(),
                             [&](std::int32_t there) { return distances[static_cast<std::size_t>(std::abs(there - here))]; });
      total += counter.count(row, i, tie);
    }
  }
  return total;
}

}  // namespace

LagSums::LagSums(std::span<const std::int32_t> positions) : positions_(positions) {
  const auto lags = static_cast<std::size_t>(Index{positions.back()} - positions.front() + 1);
  pairs_.resize(lags);
  h_.resize(lags);
  h_squared_.resize(lags);
}

void LagSums::add_pairs(const PairTiles::Tile& tile, std::span<const double> h) {
  for (Index r = 0; r < tile.count; ++r) {
    const std::int32_t here = positions_[static_cast<std::size_t>(tile.first + r)];
    for (Index c = tile.row_begin(r); c < tile.width; ++c) {
      const auto lag = static_cast<std::size_t>(positions_[static_cast<std::size_t>(tile.j_begin + c)] - here);
      const double x = h[static_cast<std::size_t>(r * tile.width + c)];
      ++pairs_[lag];
      h_[lag].add(x);
      h_squared_[lag].add(x * x);
    }
  }
}

void LagSums::combine_pairs(const Communicator& comm) {
  all_reduce(comm, std::span(pairs_));
  combine(comm, h_);
  combine(comm, h_squared_);
}

double LagSums::largest(std::span<const double> distances) const {
  double result = 0;
  for (std::size_t lag = 0; lag < pairs_.size(); ++lag) {
    if (pairs_[lag] > 0) result = std::max(result, distances[lag]);
  }
  return result;
}

CellSums LagSums::against(std::span<const double> distances, double mean_h) const {
  CompensatedSum d, d_squared, d_h, residual, variation, covariation;
  double smallest = std::numeric_limits<double>::infinity();
  Count pair_count = 0;
  for (std::size_t lag = 0; lag < pairs_.size(); ++lag) {
    if (pairs_[lag] == 0) continue;
    const auto n = static_cast<double>(pairs_[lag]);
    const double x = distances[lag];
    const double h = h_[lag].value();
    pair_count += pairs_[lag];
    d.add(n * x);
    d_squared.add(n * x * x);
    d_h.add(x * h);
    // sum (D - H)^2 at this lag, about the mean of H there: no term is negative.
    residual.add(n * (x - h / n) * (x - h / n) + std::max(0.0, h_squared_[lag].value() - h / n * h));
    smallest = std::min(smallest, x);
  }
  const double mean = pair_count > 0 ? d.value() / static_cast<double>(pair_count) : 0.0;
  for (std::size_t lag = 0; lag < pairs_.size(); ++lag) {
    if (pairs_[lag] == 0) continue;
    const auto n = static_cast<double>(pairs_[lag]);
    const double centred = distances[lag] - mean;
    variation.add(n * centred * centred);
    covariation.add(centred * (h_[lag].value() - n * mean_h));
  }
  return {d_squared.value(), d_h.value(), residual.value(), variation.value(), covariation.value(), smallest, {}};
}

StressColumns lag_stress(const Communicator& comm, const StressRequest& request, const LagSums& lags, const HellingerSummary& summary,
                         double h_variation, const StressSweepOptions& options, const StressRanks* ranks) {
  const auto& kernel = std::get<LagKernel>(request.encoding.form);
  const std::size_t evaluated = kernel.same_at_every_d ? std::min<std::size_t>(1, request.dimensions.size()) : request.dimensions.size();
  // Sums by lag and, where positions are consecutive, violations too are one rank's work; with gaps, all ranks count each dimension's.
  std::vector<CellSums> sums(evaluated);
  std::vector<Count> violations(2 * evaluated, 0);
  std::vector<int> is_defined(evaluated, 0);
  collective(comm, "computing the stress of encoding " + request.encoding.name, [&] {
    ViolationCounter counter(lags.positions());
    for (std::size_t t = 0; t < evaluated; ++t) {
      const bool mine = static_cast<Index>(t) % comm.size() == comm.rank();
      if (lags.consecutive() && !mine) continue;
      const std::vector<double> distances = kernel.distances(lags.lag_count(), request.dimensions[t]);
      expects(std::ssize(distances) == lags.lag_count(), "a distance for every lag");
      if (std::isnan(distances.front())) continue;
      if (options.violation_rate) {
        const double tie = tie_share * lags.largest(distances);
        const ViolationCount found =
            lags.consecutive() ? count_lag_violations(distances, tie) : count_with_gaps(comm, lags, counter, distances, tie);
        violations[2 * t] = found.violations;
        violations[2 * t + 1] = found.comparisons;
      }
      is_defined[t] = 1;
      if (!mine) continue;
      sums[t] = lags.against(distances, summary.mean);
      if (ranks != nullptr) sums[t].spearman = ranks->of_lags(distances);
    }
  });
  all_reduce(comm, std::span(violations));
  all_reduce(comm, std::span(is_defined), Reduction::maximum);
  for (std::size_t t = 0; t < evaluated; ++t) {
    broadcast(comm, std::span(&sums[t], 1), static_cast<int>(static_cast<Index>(t) % comm.size()));
  }

  StressColumns columns;
  for (std::size_t t = 0; t < request.dimensions.size(); ++t) {
    const std::size_t from = kernel.same_at_every_d ? 0 : t;
    CellSums total = sums[from];
    total.violations = {violations[2 * from], violations[2 * from + 1]};
    append(columns, is_defined[from] != 0 ? finish_cell(total, summary, h_variation) : undefined_cell());
  }
  return columns;
}

}  // namespace posgeom
