#pragma once
#include <optional>
#include <span>
#include <vector>

#include "geometry/pair_ranks.hpp"
#include "geometry/pair_tiles.hpp"
#include "geometry/stress_coordinates.hpp"
#include "geometry/stress_lags.hpp"

namespace posgeom {

/// The ranks of H over all pairs, and the Spearman correlations against them. Holds 16 bytes for each pair of this rank's tiles: H, whose
/// place D^2 takes once H is ranked, and the rank of H. Distances within about tie_share of the largest are ties.
class StressRanks {
 public:
  /// **Collective.**
  StressRanks(const Communicator& comm, const PairTiles& tiles, const RankOptions& options);

  /// In the pass over pairs: this round's tile of H, count x width.
  void keep(Index round, const PairTiles::Tile& tile, std::span<const double> h);
  /// **Collective.** After that pass.
  void rank_hellinger();

  /// **Collective.** Spearman's correlation of one cell after the other, in order: D^2 is carried from cell to cell.
  void start();
  double next(CoordinateSweep& sweep, Index cell);

  /// **Collective.** Sums for lag kernels: pairs and doubled ranks of H at each lag.
  void sum_by_lag(std::span<const std::int32_t> positions);
  /// For an encoding with these distances by lag, after sum_by_lag(). No communication.
  double of_lags(std::span<const double> distances) const;

 private:
  struct Piece {
    PairTiles::Tile tile;
    std::size_t values;  ///< where its D^2 begins
    std::size_t pairs;   ///< where its pairs begin
  };
  /// The rows of a tile that hold pairs one after the other.
  template <class Body>
  static void for_each_row(const Piece& piece, Body body);

  const Communicator* comm_;
  std::vector<Piece> pieces_;  ///< [rounds]
  std::vector<double> values_;
  std::vector<Count> h_ranks_;
  std::vector<double> row_;  ///< distances of a round
  std::optional<PairRanks> ranks_;
  double h_variation_ = 0;
  std::vector<Count> lag_pairs_;
  std::vector<Count> lag_ranks_;
};

}  // namespace posgeom
