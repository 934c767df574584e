#include "geometry/pair_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/vector_lanes.hpp"

namespace posgeom {
namespace {

/// One group of rows with `together` vectors of columns: as many sums in registers as the CPU has registers for.
template <Index together>
[[gnu::always_inline]] inline void add_block(const PackedTile& packed, Index g, Index v, double* squared, Index stride) {
  constexpr Index rows = PackedTile::group;
  double* place = squared + g * rows * stride + v * pair_lanes;
  PairVector sum[rows][together];
#pragma GCC unroll 6
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) sum[r][t] = vector_at(place + r * stride + t * pair_lanes);
  }
  const Index columns = packed.columns();
  const double* anchor = packed.anchors(g);
  const double* other = packed.others(v);
  for (Index k = 0; k < columns; ++k, anchor += rows, other += pair_lanes) {
    PairVector values[together];
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) values[t] = vector_at(other + t * columns * pair_lanes);
#pragma GCC unroll 6
    for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (Index t = 0; t < together; ++t) {
        const PairVector difference = values[t] - anchor[r];
        sum[r][t] += difference * difference;
      }
    }
  }
#pragma GCC unroll 6
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (Index t = 0; t < together; ++t) vector_at(place + r * stride + t * pair_lanes) = sum[r][t];
  }
}

template <Index together>
[[gnu::always_inline]] inline void add_packed_by(const PackedTile& packed, Index groups, Index vectors, double* squared) {
  Index v = 0;
  for (; v + together <= vectors; v += together) {
    for (Index g = 0; g < groups; ++g) add_block<together>(packed, g, v, squared, vectors * pair_lanes);
  }
  for (; v < vectors; ++v) {
    for (Index g = 0; g < groups; ++g) add_block<1>(packed, g, v, squared, vectors * pair_lanes);
  }
}

}  // namespace

POSGEOM_SIMD static void add_packed_singly(const PackedTile& packed, Index groups, Index vectors, double* squared) {
  add_packed_by<1>(packed, groups, vectors, squared);
}

#if defined(POSGEOM_SIMD_LEVELS)
/// 12 sums in 32 registers: their additions follow each other more slowly than one of 6 would have to.
__attribute__((target("arch=x86-64-v4"))) static void add_packed_v4(const PackedTile& packed, Index groups, Index vectors,
                                                                    double* squared) {
  add_packed_by<2>(packed, groups, vectors, squared);
}
#endif

void SquaredDistances::add(Index first, Index count, Index j_begin, Index width, Index k_begin, Index k_end, double* squared) {
  const Index groups = padded_count(count) / PackedTile::group;
  const Index vectors = stride(width) / pair_lanes;
  for (Index begin = k_begin; begin < k_end; begin += PackedTile::depth) {
    packed_.pack(first, count, j_begin, width, begin, std::min(PackedTile::depth, k_end - begin));
#if defined(POSGEOM_SIMD_LEVELS)
    if (__builtin_cpu_supports("x86-64-v4")) {
      add_packed_v4(packed_, groups, vectors, squared);
      continue;
    }
#endif
    add_packed_singly(packed_, groups, vectors, squared);
  }
}

namespace {

template <class Roots>
[[gnu::always_inline]] inline void take_roots(const double* squared, Index count, double* roots) {
  Index c = 0;
  for (; c + pair_lanes <= count; c += pair_lanes) {
    PairVector v = vector_at(squared + c);
    Roots::take(v);
    vector_at(roots + c) = v;
  }
  for (; c < count; ++c) roots[c] = std::sqrt(squared[c]);
}

#if defined(POSGEOM_SIMD_LEVELS)
__attribute__((target("arch=x86-64-v4"))) void roots_v4(const double* squared, Index count, double* roots) {
  take_roots<Avx512Roots>(squared, count, roots);
}
__attribute__((target("arch=x86-64-v3"))) void roots_v3(const double* squared, Index count, double* roots) {
  take_roots<Avx2Roots>(squared, count, roots);
}
#endif

}  // namespace

void square_roots(const double* squared, Index count, double* roots) {
#if defined(POSGEOM_SIMD_LEVELS)
  if (__builtin_cpu_supports("x86-64-v4")) return roots_v4(squared, count, roots);
  if (__builtin_cpu_supports("x86-64-v3")) return roots_v3(squared, count, roots);
  take_roots<Sse2Roots>(squared, count, roots);
#else
  take_roots<PlainRoots>(squared, count, roots);
#endif
}

}  // namespace posgeom
