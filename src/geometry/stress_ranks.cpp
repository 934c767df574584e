#include "geometry/stress_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/stress_cell.hpp"
#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {

/// Distances that are equal but for roundings are ties, as they are for the violations: in units of a billionth of the largest.
POSGEOM_SIMD static void round_to_ties(double* distances, std::size_t count, double largest) {
  const double units = largest > 0 ? 1 / (tie_share * largest) : 0;
  for (std::size_t k = 0; k < count; ++k) distances[k] = std::nearbyint(distances[k] * units);
}

StressRanks::StressRanks(const Communicator& comm, const PairTiles& tiles, const RankOptions& options) : comm_(&comm) {
  std::size_t pairs = 0;
  collective(comm, "preparing the ranks of distances", [&] {
    std::size_t values = 0;
    for (Index round = 0; round < tiles.rounds(); ++round) {
      const PairTiles::Tile tile = tiles.tile(round);
      pieces_.push_back({tile, values, pairs});
      if (tile.count == 0) continue;
      values += static_cast<std::size_t>(SquaredDistances::padded_count(tile.count) * SquaredDistances::stride(tile.width));
      pairs += static_cast<std::size_t>(tile.pair_count());
    }
    values_.resize(values);
    h_ranks_.resize(pairs);
    row_.resize(static_cast<std::size_t>(PairTiles::height * PairTiles::width));
  });
  ranks_.emplace(comm, static_cast<Index>(pairs), tiles.rounds(), options);
}

template <class Body>
void StressRanks::for_each_row(const Piece& piece, Body body) {
  for (Index r = 0; r < piece.tile.count; ++r) {
    const Index begin = piece.tile.row_begin(r);
    if (begin < piece.tile.width) body(r, begin, piece.tile.width - begin);
  }
}

void StressRanks::keep(Index round, const PairTiles::Tile& tile, std::span<const double> h) {
  const Piece& piece = pieces_[static_cast<std::size_t>(round)];
  double* to = values_.data() + piece.pairs;  // pairs alone need less room than whole tiles
  for_each_row(piece, [&](Index r, Index begin, Index count) { to = std::copy_n(h.data() + r * tile.width + begin, count, to); });
}

void StressRanks::rank_hellinger() {
  const std::span<double> kept = std::span(values_).first(h_ranks_.size());
  const double largest = all_reduce(*comm_, kept.empty() ? 0.0 : std::ranges::max(kept), Reduction::maximum);
  round_to_ties(kept.data(), kept.size(), largest);
  const PairRanks::Source source = [this](Index round) {
    const Piece& piece = pieces_[static_cast<std::size_t>(round)];
    return std::span<const double>(values_).subspan(piece.pairs, static_cast<std::size_t>(piece.tile.pair_count()));
  };
  h_variation_ = ranks_->rank(source, h_ranks_).variation;
}

void StressRanks::start() { std::ranges::fill(values_, 0.0); }

double StressRanks::next(CoordinateSweep& sweep, Index cell) {
  for (const Piece& piece : pieces_) {
    if (piece.tile.count > 0) sweep.add_columns(piece.tile, cell, std::span(values_).subspan(piece.values));
  }
  const double largest = sweep.largest(cell);
  const PairRanks::Source source = [this, largest](Index round) {
    const Piece& piece = pieces_[static_cast<std::size_t>(round)];
    double* to = row_.data();
    for_each_row(piece, [&](Index r, Index begin, Index count) {
      square_roots(values_.data() + piece.values + static_cast<std::size_t>(r * SquaredDistances::stride(piece.tile.width) + begin), count,
                   to);
      to += count;
    });
    const std::span<double> distances(row_.data(), to);
    round_to_ties(distances.data(), distances.size(), largest);
    return std::span<const double>(distances);
  };
  return rank_correlation(ranks_->correlate(source, h_ranks_), h_variation_);
}

void StressRanks::sum_by_lag(std::span<const std::int32_t> positions) {
  const auto lags = static_cast<std::size_t>(Index{positions.back()} - positions.front() + 1);
  collective(*comm_, "summing ranks by lag", [&] {
    lag_pairs_.assign(lags, 0);
    lag_ranks_.assign(lags, 0);
    for (const Piece& piece : pieces_) {
      const Count* rank = h_ranks_.data() + piece.pairs;
      for_each_row(piece, [&](Index r, Index begin, Index count) {
        const std::int32_t here = positions[static_cast<std::size_t>(piece.tile.first + r)];
        const auto others = positions.subspan(static_cast<std::size_t>(piece.tile.j_begin + begin), static_cast<std::size_t>(count));
        for (const std::int32_t there : others) {
          const auto lag = static_cast<std::size_t>(there - here);
          ++lag_pairs_[lag];
          lag_ranks_[lag] += *rank++;
        }
      });
    }
  });
  all_reduce(*comm_, std::span(lag_pairs_));
  all_reduce(*comm_, std::span(lag_ranks_));
}

double StressRanks::of_lags(std::span<const double> exact) const {
  std::vector<std::size_t> order;
  double largest = 0;
  for (std::size_t lag = 0; lag < lag_pairs_.size(); ++lag) {
    if (lag_pairs_[lag] == 0) continue;
    order.push_back(lag);
    largest = std::max(largest, exact[lag]);
  }
  std::vector<double> distances(exact.begin(), exact.end());
  round_to_ties(distances.data(), distances.size(), largest);
  std::ranges::sort(order, {}, [&](std::size_t lag) { return distances[lag]; });
  WideCount squares = 0;
  WideCount products = 0;
  Count below = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    Count pairs = 0;
    WideCount others = 0;
    for (; end < order.size() && distances[order[end]] == distances[order[begin]]; ++end) {
      pairs += lag_pairs_[order[end]];
      others += lag_ranks_[order[end]];
    }
    const WideCount rank = 2 * WideCount{below} + pairs + 1;
    squares += rank * rank * pairs;
    products += rank * others;
    below += pairs;
  }
  return rank_correlation({ranks_->centred(squares), ranks_->centred(products)}, h_variation_);
}

Index stress_bytes(Index rows, Index ranks) {
  const Index pairs = rows * (rows - 1) / 2 / ranks;
  // Of every pair H, or D^2, and its rank. Of those that are sorted at a time: sent, sorted, scratch, and their ranks both ways.
  constexpr Index kept = sizeof(double) + sizeof(Count), sorted = 3 * 2 * sizeof(std::uint64_t) + 2 * sizeof(Count);
  return kept * pairs + sorted * std::min(pairs, RankOptions{}.window_pairs) * 17 / 16;
}

}  // namespace posgeom
