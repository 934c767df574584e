#include "posgeom/geometry/denoised.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "geometry/aligned_vector.hpp"
#include "geometry/compensated_sum.hpp"
#include "geometry/pair_tiles.hpp"
#include "geometry/stress_cell.hpp"
#include "geometry/stress_coordinates.hpp"
#include "geometry/stress_lags.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// The rows of `from` that `positions` are.
std::vector<std::size_t> rows_of(std::span<const std::int32_t> from, std::span<const std::int32_t> positions) {
  std::vector<std::size_t> rows;
  for (const std::int32_t position : positions) {
    const auto found = std::ranges::lower_bound(from, position);
    expects(found != from.end() && *found == position, "positions that are kept");
    rows.push_back(static_cast<std::size_t>(found - from.begin()));
  }
  return rows;
}

/// sqrt(max(0, D^2)); what is zero but for rounding is zero, since a root makes much of it.
double distance(double squared) {
  constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
  return squared > rounding ? std::sqrt(squared) : 0.0;
}

/// Visits this rank's pairs i < j in tiles, with their distances: visit(tile, h), h with a vector to spare.
template <class Visit>
void for_each_tile(const DistributedMatrix& squared, Visit&& visit) {
  AlignedVector<double> h(PairTiles::room);
  const auto visit_block = [&](const BlockCyclic::Run& rows, const BlockCyclic::Run& columns) {
    for (Index a = 0; a < rows.count; a += PairTiles::height) {
      const Index first = rows.global + a;
      for (Index b = rows.global == columns.global ? a : 0; b < columns.count; b += PairTiles::width) {
        const PairTiles::Tile tile{first, std::min(PairTiles::height, rows.count - a), columns.global + b,
                                   std::min(PairTiles::width, columns.count - b)};
        for (Index c = 0; c < tile.width; ++c) {
          for (Index r = 0; r < tile.count; ++r)
            h[static_cast<std::size_t>(r * tile.width + c)] = distance(squared.local(rows.local + a + r, columns.local + b + c));
        }
        visit(tile, std::span<const double>(h));
      }
    }
  };
  for (const BlockCyclic::Run& columns : squared.column_axis().blocks()) {
    for (const BlockCyclic::Run& rows : squared.row_axis().blocks()) {
      if (rows.global <= columns.global) visit_block(rows, columns);
    }
  }
}

/// sum h and sum h^2 over a tile's pairs.
struct TileSums {
  double sum = 0, squared = 0;
};
TileSums sums_of(const PairTiles::Tile& tile, std::span<const double> h) {
  TileSums sums;
  for (Index r = 0; r < tile.count; ++r) {
    for (Index c = tile.row_begin(r); c < tile.width; ++c) {
      const double x = h[static_cast<std::size_t>(r * tile.width + c)];
      sums.sum += x;
      sums.squared += x * x;
    }
  }
  return sums;
}

}  // namespace

SquareRootDistributions kept_rows(const SquareRootDistributions& s, std::span<const std::int32_t> positions) {
  SquareRootDistributions kept;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  kept.length = s.length;
  kept.column_count = s.column_count;
  kept.position.assign(positions.begin(), positions.end());
  for (const std::size_t row : rows_of(s.position, positions)) {
    const Index begin = s.row_begin[row], end = s.row_end[row];
    kept.row_begin.push_back(std::ssize(value));
    column.insert(column.end(), s.column.begin() + begin, s.column.begin() + end);
    value.insert(value.end(), s.value.begin() + begin, s.value.begin() + end);
    kept.row_end.push_back(std::ssize(value));
    if (!s.total.empty()) kept.total.push_back(s.total[row]);
  }
  kept.column = std::move(column);
  kept.value = std::move(value);
  return kept;
}

Coordinates kept_rows(const Coordinates& x, std::span<const std::int32_t> from, std::span<const std::int32_t> positions) {
  expects(x.rows == std::ssize(from), "coordinates of these positions");
  Coordinates kept = x;
  kept.rows = std::ssize(positions);
  kept.values.clear();
  const std::vector<std::size_t> rows = rows_of(from, positions);
  for (Index j = 0; j < x.stored; ++j) {
    for (const std::size_t row : rows) kept.values.push_back(x.values[row + static_cast<std::size_t>(j * x.rows)]);
  }
  return kept;
}

DenoisedScores denoised_stress(const DistributedMatrix& squared, std::span<const std::int32_t> positions,
                               const std::vector<StressRequest>& requests) {
  const Communicator& comm = squared.grid().communicator();
  const Index m = std::ssize(positions);
  expects(m >= 1 && squared.rows() == m, "distances of these positions");
  std::vector<std::optional<CoordinateSweep>> sweeps;  // one a request; empty for lag kernels
  std::optional<LagSums> lags;
  CompensatedSum sum, sum_squared;
  collective(comm, "scoring against the de-noised distances", [&] {
    for (const StressRequest& request : requests) {
      sweeps.emplace_back();
      if (const auto* x = std::get_if<Coordinates>(&request.encoding.form)) {
        expects(x->rows == m, "coordinates of the positions of the noise analysis");
        sweeps.back().emplace(request, m);
      }
    }
    lags.emplace(positions);
    AlignedVector<double> of_tile(PairTiles::room);
    for_each_tile(squared, [&](const PairTiles::Tile& tile, std::span<const double> h) {
      const TileSums sums = sums_of(tile, h);
      sum.add(sums.sum);
      sum_squared.add(sums.squared);
      lags->add_pairs(tile, h);
      for (auto& sweep : sweeps) {
        if (sweep) sweep->add_pairs(tile, h, 0, of_tile);
      }
    });
  });
  combine(comm, std::span(&sum, 1));
  combine(comm, std::span(&sum_squared, 1));
  lags->combine_pairs(comm);
  HellingerSummary summary;
  summary.pair_count = m * (m - 1) / 2;
  summary.sum = sum.value();
  summary.sum_squared = sum_squared.value();
  DenoisedScores scores;
  scores.constant_baseline = constant_baseline(summary.sum, summary.sum_squared, summary.pair_count);
  const StressSweepOptions sums_only{.violation_rate = false, .spearman = false};
  for (std::size_t e = 0; e < requests.size(); ++e) {
    if (sweeps[e]) sweeps[e]->combine_pairs(comm);
    const StressColumns columns =
        sweeps[e] ? sweeps[e]->finish(comm, summary, 0) : lag_stress(comm, requests[e], *lags, summary, 0, sums_only, nullptr);
    scores.columns.push_back({columns.raw, columns.scaled});
  }
  return scores;
}

}  // namespace posgeom
