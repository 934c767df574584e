#include "geometry/packed_tile.hpp"

#include <algorithm>

#include "geometry/vector_lanes.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

static_assert(PackedTile::lanes == pair_lanes);

/// A whole vector is written for each group, whose last two numbers the next one replaces: of the last group there is room for them.
POSGEOM_SIMD static void pack_group(const double* x, Index rows, Index columns, double* packed) {
  for (Index k = 0; k < columns; ++k, x += rows, packed += PackedTile::group) vector_at(packed) = vector_at(x);
}

POSGEOM_SIMD static void pack_vectors(const double* x, Index rows, Index vectors, Index columns, double* packed) {
  constexpr Index ahead = 4;  // columns: far apart in memory, which no prefetcher follows
  for (Index k = 0; k < columns; ++k, x += rows) {
    for (Index v = 0; v < vectors; ++v) __builtin_prefetch(x + ahead * rows + v * pair_lanes);
    for (Index v = 0; v < vectors; ++v) vector_at(packed + (v * columns + k) * pair_lanes) = vector_at(x + v * pair_lanes);
  }
}

PackedTile::PackedTile(const double* x, Index rows, Index count, Index width)
    : x_(x),
      rows_(rows),
      anchors_(static_cast<std::size_t>(padded_count(count) * depth + lanes - group)),
      others_(static_cast<std::size_t>(stride(width) * depth)) {}

void PackedTile::pack(Index first, Index count, Index j_begin, Index width, Index k_begin, Index columns) {
  expects(count >= 1 && width >= 1 && columns <= depth && padded_count(count) * depth <= std::ssize(anchors_) &&
              stride(width) * depth <= std::ssize(others_),
          "a tile of the size that was asked for");
  columns_ = columns;
  pack_anchors(x_ + k_begin * rows_, first, count);
  pack_others(x_ + k_begin * rows_, j_begin, width);
}

void PackedTile::pack_anchors(const double* block, Index first, Index count) {
  for (Index r = 0; r < count; r += group) {
    double* packed = anchors_.data() + r * columns_;
    if (first + r + lanes <= rows_) {
      pack_group(block + first + r, rows_, columns_, packed);
      continue;
    }
    for (Index k = 0; k < columns_; ++k) {
      for (Index s = 0; s < group; ++s) packed[k * group + s] = block[k * rows_ + std::min(first + r + s, rows_ - 1)];
    }
  }
}

void PackedTile::pack_others(const double* block, Index j_begin, Index width) {
  const Index whole = width / lanes;
  pack_vectors(block + j_begin, rows_, whole, columns_, others_.data());
  for (Index k = 0; k < columns_ && whole * lanes < width; ++k) {
    double* packed = others_.data() + (whole * columns_ + k) * lanes;
    for (Index l = 0; l < lanes; ++l) packed[l] = block[k * rows_ + j_begin + std::min(whole * lanes + l, width - 1)];
  }
}

}  // namespace posgeom
