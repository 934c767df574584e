#pragma once
#include <span>
#include <vector>

#include "geometry/compensated_sum.hpp"
#include "geometry/pair_tiles.hpp"
#include "geometry/stress_cell.hpp"

namespace posgeom {

/// H summed by lag: with it, the stress of an encoding that depends on the lag alone costs O(n), not O(n^2), at each dimension.
class LagSums {
 public:
  explicit LagSums(std::span<const std::int32_t> positions);
  /// A tile's pairs; `h` is count x width.
  void add_pairs(const PairTiles::Tile& tile, std::span<const double> h);
  /// **Collective.** The sums of all ranks.
  void combine_pairs(const Communicator& comm);

  /// Lags 0 .. lag_count()-1 can occur.
  Index lag_count() const { return std::ssize(pairs_); }
  /// Whether every position between the first and the last is there.
  bool consecutive() const { return lag_count() == std::ssize(positions_); }
  std::span<const std::int32_t> positions() const { return positions_; }
  /// The largest distance at a lag that occurs.
  double largest(std::span<const double> distances) const;
  /// Everything but the violations.
  CellSums against(std::span<const double> distances, double mean_h) const;

 private:
  std::span<const std::int32_t> positions_;
  std::vector<Count> pairs_;
  std::vector<CompensatedSum> h_;
  std::vector<CompensatedSum> h_squared_;
};

class StressRanks;

/// **Collective.** The cells of one request of a LagKernel; dimensions are dealt to the ranks in turn. `ranks`: null without Spearman.
StressColumns lag_stress(const Communicator& comm, const StressRequest& request, const LagSums& lags, const HellingerSummary& summary,
                         double h_variation, const StressSweepOptions& options, const StressRanks* ranks);

}  // namespace posgeom
