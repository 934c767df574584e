#include "geometry/smacof_pass.hpp"

#include <algorithm>
#include <cmath>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Columns of a tile: its squared distances and the columns of x it needs stay in a core's cache.
constexpr Index tile_width = 512;

}  // namespace

RowBlocks::RowBlocks(const Communicator& comm, Index rows) : comm_(&comm), rows_(rows) {
  const AnchorBlocks blocks(comm, rows, size);
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const AnchorBlocks::Block block = blocks.block(round);
    if (block.count == 0) continue;
    own_.push_back(block);
    own_rows_ += block.count;
  }
}

std::vector<double> RowBlocks::gather_rows(std::span<const double> own, Index width) const {
  expects(std::ssize(own) == own_rows_ * width, "numbers for the own rows");
  const std::vector<double> by_rank = all_gather(*comm_, own);
  if (comm_->size() == 1) return by_rank;
  std::vector<double> rows(by_rank.size());
  auto from = by_rank.begin();
  for (int rank = 0; rank < comm_->size(); ++rank) {
    for (Index first = rank * size; first < rows_; first += size * comm_->size()) {
      const Index count = std::min(size, rows_ - first) * width;
      std::copy_n(from, count, rows.begin() + first * width);
      from += count;
    }
  }
  return rows;
}

std::vector<double> RowBlocks::sum_blocks(std::span<const double> own, Index width) const {
  expects(std::ssize(own) == std::ssize(own_) * width, "numbers for the own blocks");
  const std::vector<double> by_rank = all_gather(*comm_, own);
  const Index ranks = comm_->size();
  const Index blocks = (rows_ + size - 1) / size;
  std::vector<Index> begin;  // of each rank's blocks
  for (Index rank = 0, next = 0; rank < ranks; ++rank) {
    begin.push_back(next);
    next += rank < blocks ? (blocks - rank + ranks - 1) / ranks : 0;
  }
  std::vector<double> sums(static_cast<std::size_t>(width), 0.0);
  for (Index block = 0; block < blocks; ++block) {
    const Index at = (begin[static_cast<std::size_t>(block % ranks)] + block / ranks) * width;
    for (Index k = 0; k < width; ++k) sums[static_cast<std::size_t>(k)] += by_rank[static_cast<std::size_t>(at + k)];
  }
  return sums;
}

GuttmanPass::GuttmanPass(const Communicator& comm, const SquareRootDistributions& s, const SmacofOptions& options)
    : blocks_(comm, s.row_count()), rows_(s) {
  const Index m = s.row_count();
  const Index block_bytes = hellinger_bytes(m, RowBlocks::size);
  const Index all = std::ssize(blocks_.own());
  kept_blocks_ = options.hellinger_bytes == 0 ? all : std::min(all, options.hellinger_bytes / block_bytes);
  std::vector<double> sums(blocks_.own().size());
  collective(comm, "computing the Hellinger distances of smacof", [&] {
    expects(options.row_weights.empty() || std::ssize(options.row_weights) == m, "a weight for each row");
    weights_.assign(static_cast<std::size_t>(padded_rows()), 0.0);
    if (options.row_weights.empty()) {
      std::fill_n(weights_.begin(), m, 1.0);
    } else {
      std::ranges::copy(options.row_weights, weights_.begin());
    }
    for (const double w : weights()) {
      expects(w > 0 && std::isfinite(w), "positive weights");
      weight_sum_ += w;
    }
    compact_.resize(static_cast<std::size_t>(RowBlocks::size * m));
    kept_.assign(static_cast<std::size_t>(kept_blocks_ * RowBlocks::size * padded_rows()), 0.0);
    if (kept_blocks_ < all) scratch_.assign(static_cast<std::size_t>(RowBlocks::size * padded_rows()), 0.0);
    for (Index k = 0; k < kept_blocks_; ++k) {
      compute_hellinger(blocks_.own()[static_cast<std::size_t>(k)],
                        std::span(kept_).subspan(static_cast<std::size_t>(k * RowBlocks::size * padded_rows())));
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double* const h = hellinger_of(k);
      const auto [first, count] = blocks_.own()[k];
      for (Index r = 0; r < count; ++r) {
        double row = 0;
        for (Index j = 0; j < m; ++j) row += weights_[static_cast<std::size_t>(j)] * h[r * padded_rows() + j] * h[r * padded_rows() + j];
        sums[k] += weights_[static_cast<std::size_t>(first + r)] * row;
      }
    }
  });
  sum_squared_ = blocks_.sum_blocks(sums, 1).front() / 2;
}

void GuttmanPass::compute_hellinger(const AnchorBlocks::Block& block, std::span<double> to) {
  const Index m = blocks_.row_count();
  rows_.compute(block.first, block.count, compact_);
  for (Index r = 0; r < block.count; ++r) std::copy_n(compact_.begin() + r * m, m, to.begin() + r * padded_rows());
}

const double* GuttmanPass::hellinger_of(std::size_t k) {
  if (static_cast<Index>(k) < kept_blocks_) return kept_.data() + static_cast<Index>(k) * RowBlocks::size * padded_rows();
  compute_hellinger(blocks_.own()[k], scratch_);
  return scratch_.data();
}

double GuttmanPass::run(std::span<const double> x, Index d, std::span<double> transform) {
  const Index m = blocks_.row_count();
  const Index padded = padded_rows();
  expects(std::ssize(x) == padded * d && std::ssize(transform) == blocks_.own_row_count() * d, "coordinates of every row");
  // A ratio h / D above this would drown the sums in the rounding errors of its own term; a smaller one still majorises.
  const double floor = 1e-12 * std::sqrt(sum_squared_ / (weight_sum_ * weight_sum_));
  const Index width = std::min(tile_width, m);
  SquaredDistances distances(x.data(), padded, RowBlocks::size, width);
  std::vector<double> squared(static_cast<std::size_t>(SquaredDistances::padded_count(RowBlocks::size) * SquaredDistances::stride(width)));
  std::vector<double> roots(static_cast<std::size_t>(SquaredDistances::stride(width)));
  std::vector<double> residuals(blocks_.own().size());
  std::ranges::fill(transform, 0.0);
  double* out = transform.data();
  for (std::size_t k = 0; k < blocks_.own().size(); ++k) {
    const auto [first, count] = blocks_.own()[k];
    const double* const h = hellinger_of(k);
    GuttmanSums sums[RowBlocks::size];
    for (Index begin = 0; begin < m; begin += tile_width) {
      const Index columns = std::min(tile_width, m - begin);
      const Index stride = SquaredDistances::stride(columns);
      std::fill_n(squared.begin(), SquaredDistances::padded_count(count) * stride, 0.0);
      distances.add(first, count, begin, columns, 0, d, squared.data());
      guttman_ratios({squared.data(), stride, h + begin, padded, weights_.data() + begin, count}, floor, roots.data(), sums);
      guttman_products(squared.data(), stride, count, x.data() + begin, padded, d, out);
    }
    for (Index r = 0; r < count; ++r) {
      const Index i = first + r;
      for (Index c = 0; c < d; ++c) {
        double& place = out[r * d + c];
        place = (sums[r].ratio * x[static_cast<std::size_t>(c * padded + i)] - place) / weight_sum_;
      }
      residuals[k] += weights_[static_cast<std::size_t>(i)] * sums[r].residual;
    }
    out += count * d;
  }
  return blocks_.sum_blocks(residuals, 1).front() / 2 / sum_squared_;
}

Index GuttmanPass::work_bytes(Index m, Index d) {
  const Index width = SquaredDistances::stride(std::min(tile_width, m));
  return static_cast<Index>(sizeof(double)) * (RowBlocks::size * (2 * width + m) + width * 64 + 2 * m + m * d);
}

}  // namespace posgeom
