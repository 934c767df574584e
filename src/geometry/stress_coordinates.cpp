#include "geometry/stress_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::size_t moments = 6;

/// sum_i (x_i - mean)^2 of one column.
double variation(std::span<const double> column) {
  const auto rows = static_cast<double>(column.size());
  CompensatedSum sum;
  for (const double x : column) sum.add(x);
  const double mean = sum.value() / rows;
  double result = 0;
  for (const double x : column) result += (x - mean) * (x - mean);
  return result;
}

}  // namespace

CoordinateSweep::CoordinateSweep(const StressRequest& request, Index rows)
    : x_(&std::get<Coordinates>(request.encoding.form)),
      rows_(rows),
      tile_distances_(x_->values.data(), rows, PairTiles::height, PairTiles::width) {
  expects(x_->rows == rows && std::ssize(x_->values) == rows * x_->stored, "coordinates of every kept position");
  for (const std::int32_t d : request.dimensions) {
    expects(d >= 1, "dimensions from 1");
    if (d > x_->columns && !x_->zero_beyond && !x_->whole) {
      cell_of_dimension_.push_back(-1);
      continue;
    }
    const Index width = x_->whole ? x_->stored : std::min<Index>(d, x_->stored);
    if (width_.empty() || width_.back() < width) width_.push_back(width);
    expects(width_.back() == width, "ascending dimensions");
    cell_of_dimension_.push_back(std::ssize(width_) - 1);
  }
  // sum_{i<j} D^2 = m sum_i |x_i - mean|^2 gives the root mean square of D ahead of the pairs: the shift of their moments.
  double total = 0;
  Index column = 0;
  for (const Index width : width_) {
    for (; column < width; ++column)
      total += variation(std::span(x_->values).subspan(static_cast<std::size_t>(column * rows), static_cast<std::size_t>(rows)));
    shift_.push_back(rows > 1 ? std::sqrt(2 * total / static_cast<double>(rows - 1)) : 0.0);
  }
  sums_.resize(width_.size() * moments);
  smallest_.assign(width_.size(), std::numeric_limits<double>::infinity());
  largest_.assign(width_.size(), 0.0);
  violations_.assign(2 * width_.size(), 0);
  spearman_.assign(width_.size(), std::numeric_limits<double>::quiet_NaN());
}

void CoordinateSweep::add_columns(const PairTiles::Tile& tile, Index cell, std::span<double> squared) {
  const auto at = static_cast<std::size_t>(cell);
  tile_distances_.add(tile.first, tile.count, tile.j_begin, tile.width, at == 0 ? 0 : width_[at - 1], width_[at], squared.data());
}

void CoordinateSweep::add_pairs(const PairTiles::Tile& tile, std::span<const double> h, double mean_h, std::span<double> squared) {
  const Index stride = SquaredDistances::stride(tile.width);
  std::ranges::fill(squared.first(static_cast<std::size_t>(SquaredDistances::padded_count(tile.count) * stride)), 0.0);
  const PairTileView view{squared.data(), h.data(), tile.count, tile.width, tile.first - tile.j_begin};
  std::size_t cell = 0;
  for (Index begin = 0; cell < width_.size();) {
    // As many columns at a time as are packed together, or as have the most cells.
    const Index last_cell = std::min<Index>(static_cast<Index>(cell) + PairMomentSums::most_cells, cell_count()) - 1;
    const Index end = std::min(begin + PackedTile::depth, width_[static_cast<std::size_t>(last_cell)]);
    batch_.clear();
    for (; cell < width_.size() && width_[cell] <= end; ++cell) batch_.push_back({width_[cell] - begin, shift_[cell]});
    batch_moments_.resize(batch_.size());
    PackedTile& packed = tile_distances_.packed();
    packed.pack(tile.first, tile.count, tile.j_begin, tile.width, begin, end - begin);
    moment_sums_.add(packed, view, batch_, mean_h, batch_moments_);
    for (std::size_t k = 0; k < batch_.size(); ++k) add_moments(cell - batch_.size() + k, batch_moments_[k]);
    begin = end;
  }
}

void CoordinateSweep::add_moments(std::size_t cell, const PairMoments& sum) {
  CompensatedSum* sums = &sums_[cell * moments];
  sums[0].add(sum.shifted);
  sums[1].add(sum.shifted_squared);
  sums[2].add(sum.cross);
  sums[3].add(sum.squared);
  sums[4].add(sum.product);
  sums[5].add(sum.residual);
  smallest_[cell] = std::min(smallest_[cell], sum.smallest);
  largest_[cell] = std::max(largest_[cell], sum.largest);
}

void CoordinateSweep::combine_pairs(const Communicator& comm) {
  combine(comm, sums_);
  all_reduce(comm, std::span(smallest_), Reduction::minimum);
  all_reduce(comm, std::span(largest_), Reduction::maximum);
}

void CoordinateSweep::add_triples(Index first, Index count, ViolationCounter& counter, TripleBuffers& buffers) {
  std::ranges::fill(buffers.squared, 0.0);
  Index done = 0;
  for (std::size_t cell = 0; cell < width_.size(); ++cell) {
    for (Index j_begin = 0; j_begin < rows_; j_begin += PairTiles::width) {
      tile_distances_.add(first, count, j_begin, std::min(PairTiles::width, rows_ - j_begin), done, width_[cell],
                          buffers.part(j_begin).data());
    }
    done = width_[cell];
    for (Index r = 0; r < count; ++r) {
      for (Index j_begin = 0; j_begin < rows_; j_begin += PairTiles::width) {
        const Index width = std::min(PairTiles::width, rows_ - j_begin);
        square_roots(buffers.part(j_begin).data() + r * SquaredDistances::stride(width), width, buffers.distances.data() + j_begin);
      }
      const ViolationCount found = counter.count(buffers.distances, first + r, tie_share * largest_[cell]);
      violations_[2 * cell] += found.violations;
      violations_[2 * cell + 1] += found.comparisons;
    }
  }
}

StressColumns CoordinateSweep::finish(const Communicator& comm, const HellingerSummary& summary, double h_variation) {
  all_reduce(comm, std::span(violations_));
  const auto pairs = static_cast<double>(std::max<Index>(1, summary.pair_count));
  StressColumns columns;
  for (const Index cell : cell_of_dimension_) {
    if (cell < 0) {
      append(columns, undefined_cell());
      continue;
    }
    const auto at = static_cast<std::size_t>(cell);
    const CompensatedSum* sums = &sums_[at * moments];
    CellSums total;
    total.d_variation = std::max(0.0, sums[1].value() - sums[0].value() / pairs * sums[0].value());
    total.covariation = sums[2].value();
    total.d_squared = sums[3].value();
    total.d_h = sums[4].value();
    total.residual = sums[5].value();
    total.smallest = smallest_[at];
    total.violations = {violations_[2 * at], violations_[2 * at + 1]};
    total.spearman = spearman_[at];
    append(columns, finish_cell(total, summary, h_variation));
  }
  return columns;
}

}  // namespace posgeom
