#include "geometry/pair_moments.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/vector_lanes.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index moments_count = 8;
constexpr PairVector lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};

double sum_of(const double* v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

/// What the kernel works on.
struct Batch {
  const PackedTile* packed;
  PairTileView tile;
  std::span<const PairCell> cells;
  double mean_h;
  double* sums;
};

/// Adds the pairs of one group of rows and `together` vectors of columns. `edge`: some lanes are no pairs.
template <class Roots, Index together, bool edge>
[[gnu::always_inline]] inline void sum_cell(const Batch& batch, Index first_row, Index first_column, double shift,
                                            const PairVector (&squared)[PackedTile::group][together], double* sums) {
  const PairTileView& tile = batch.tile;
  const PairVector infinity = PairVector{} + std::numeric_limits<double>::infinity();
  PairVector m[moments_count];
#pragma GCC unroll 8
  for (Index k = 0; k < moments_count; ++k) m[k] = vector_at(sums + k * pair_lanes);
#pragma GCC unroll 6
  for (Index r = 0; r < PackedTile::group; ++r) {
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) {
      const PairVector h = vector_at(tile.h + (first_row + r) * tile.width + first_column + t * pair_lanes);
      // NOLINTBEGIN(misc-const-correctness): `edge` changes them
      PairVector counted = squared[r][t];
      PairVector low = counted;
      PairVector d = counted;
      Roots::take(d);
      PairVector centred = d - shift;
      PairVector difference = d - h;
      // NOLINTEND(misc-const-correctness)
      if constexpr (edge) {
        const PairVector column = lane_numbers + static_cast<double>(first_column + t * pair_lanes);
        const double last = first_row + r < tile.count ? static_cast<double>(tile.width) : 0.0;
        const auto inside = (column > static_cast<double>(first_row + r + tile.diagonal)) & (column < last);
        d = inside ? d : PairVector{};
        centred = inside ? centred : PairVector{};
        difference = inside ? difference : PairVector{};
        counted = inside ? counted : PairVector{};
        low = inside ? low : infinity;
      }
      m[0] += centred;
      m[1] += centred * centred;
      m[2] += centred * (h - batch.mean_h);
      m[3] += counted;
      m[4] += d * h;
      m[5] += difference * difference;
      m[6] = low < m[6] ? low : m[6];
      m[7] = counted > m[7] ? counted : m[7];
    }
  }
#pragma GCC unroll 8
  for (Index k = 0; k < moments_count; ++k) vector_at(sums + k * pair_lanes) = m[k];
}

template <class Roots, Index together, bool edge>
[[gnu::always_inline]] inline void sum_block(const Batch& batch, Index g, Index v) {
  const Index stride = PackedTile::stride(batch.tile.width);
  double* place = batch.tile.squared + g * PackedTile::group * stride + v * pair_lanes;
  PairVector squared[PackedTile::group][together];
#pragma GCC unroll 6
  for (Index r = 0; r < PackedTile::group; ++r) {
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) squared[r][t] = vector_at(place + r * stride + t * pair_lanes);
  }
  const Index columns = batch.packed->columns();
  const double* anchor = batch.packed->anchors(g);
  const double* other = batch.packed->others(v);
  Index k = 0;
  const auto add_until = [&](Index end) __attribute__((always_inline)) {
    for (; k < end; ++k, anchor += PackedTile::group, other += pair_lanes) {
#pragma GCC unroll 6
      for (Index r = 0; r < PackedTile::group; ++r) {
#pragma GCC unroll 2
        for (Index t = 0; t < together; ++t) {
          const PairVector difference = vector_at(other + t * columns * pair_lanes) - anchor[r];
          squared[r][t] += difference * difference;
        }
      }
    }
  };
  double* sums = batch.sums;
  for (const PairCell& cell : batch.cells) {
    add_until(cell.end);
    sum_cell<Roots, together, edge>(batch, g * PackedTile::group, v * pair_lanes, cell.shift, squared, sums);
    sums += moments_count * pair_lanes;
  }
  add_until(columns);
#pragma GCC unroll 6
  for (Index r = 0; r < PackedTile::group; ++r) {
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) vector_at(place + r * stride + t * pair_lanes) = squared[r][t];
  }
}

template <class Roots, Index together>
[[gnu::always_inline]] inline void sum_tile(const Batch& batch) {
  const PairTileView& tile = batch.tile;
  const Index vectors = PackedTile::stride(tile.width) / pair_lanes;
  for (Index g = 0; g * PackedTile::group < tile.count; ++g) {
    const Index first_row = g * PackedTile::group;
    // From the first vector that has a pair on; up to the last row's first pair, and at the ends, lanes have to be looked at.
    const Index begin = std::max<Index>(0, first_row + tile.diagonal + 1) / pair_lanes;
    const Index whole_begin = (std::max<Index>(0, first_row + PackedTile::group + tile.diagonal) + pair_lanes - 1) / pair_lanes;
    const Index whole_end = first_row + PackedTile::group <= tile.count ? tile.width / pair_lanes : 0;
    Index v = begin;
    for (; v < std::min(whole_begin, vectors); ++v) sum_block<Roots, 1, true>(batch, g, v);
    for (; v + together <= whole_end; v += together) sum_block<Roots, together, false>(batch, g, v);
    for (; v < vectors; ++v) sum_block<Roots, 1, true>(batch, g, v);
  }
}

#if defined(POSGEOM_SIMD_LEVELS)
__attribute__((target("arch=x86-64-v4"))) void sum_tile_v4(const Batch& batch) { sum_tile<Avx512Roots, 2>(batch); }
__attribute__((target("arch=x86-64-v3"))) void sum_tile_v3(const Batch& batch) { sum_tile<Avx2Roots, 1>(batch); }
#endif

}  // namespace

PairMomentSums::PairMomentSums() : sums_(static_cast<std::size_t>(most_cells * moments_count * pair_lanes)) {}

void PairMomentSums::add(const PackedTile& packed, const PairTileView& tile, std::span<const PairCell> cells, double mean_h,
                         std::span<PairMoments> moments) {
  expects(std::ssize(cells) <= most_cells && moments.size() == cells.size(), "no more cells than there is room for");
  constexpr auto vector = static_cast<std::size_t>(pair_lanes);
  std::ranges::fill(sums_, 0.0);
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    std::fill_n(sums_.begin() + static_cast<std::ptrdiff_t>((cell * moments_count + 6) * vector), pair_lanes,
                std::numeric_limits<double>::infinity());
  const Batch batch{&packed, tile, cells, mean_h, sums_.data()};
#if defined(POSGEOM_SIMD_LEVELS)
  if (__builtin_cpu_supports("x86-64-v4")) {
    sum_tile_v4(batch);
  } else if (__builtin_cpu_supports("x86-64-v3")) {
    sum_tile_v3(batch);
  } else {
    sum_tile<Sse2Roots, 1>(batch);
  }
#else
  sum_tile<PlainRoots, 1>(batch);
#endif
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const double* sums = sums_.data() + cell * moments_count * vector;
    const auto of = [sums](std::size_t k) { return sum_of(sums + k * vector); };
    // The square root is monotone to the last bit, so that the extremes' roots are the roots' extremes.
    moments[cell] = {.shifted = of(0),
                     .shifted_squared = of(1),
                     .cross = of(2),
                     .squared = of(3),
                     .product = of(4),
                     .residual = of(5),
                     .smallest = std::sqrt(*std::min_element(sums + 6 * vector, sums + 7 * vector)),
                     .largest = std::sqrt(*std::max_element(sums + 7 * vector, sums + 8 * vector))};
  }
}

}  // namespace posgeom
