#include "geometry/pair_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

#if defined(POSGEOM_SIMD_LEVELS)
#include <immintrin.h>
#endif

namespace posgeom {
namespace {

constexpr Index lanes = 8;
/// Eight doubles, which the compiler maps to one register or to several.
using Vector = double __attribute__((vector_size(lanes * sizeof(double)), aligned(sizeof(double)), may_alias));

constexpr Vector lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};

const Vector& vector_at(const double* place) { return *reinterpret_cast<const Vector*>(place); }
double sum_of(const Vector& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

}  // namespace

POSGEOM_SIMD void add_packed(const double* anchors, Index groups, const double* others, Index vectors, Index columns, double* squared) {
  constexpr Index rows = SquaredDistances::group;
  const Index stride = vectors * lanes;
  for (Index v = 0; v < vectors; ++v) {
    for (Index g = 0; g < groups; ++g) {
      double* place = squared + g * rows * stride + v * lanes;
      Vector sum[rows];
#pragma GCC unroll 6
      for (Index r = 0; r < rows; ++r) sum[r] = vector_at(place + r * stride);
      const double* anchor = anchors + g * columns * rows;
      const double* other = others + v * columns * lanes;
      for (Index k = 0; k < columns; ++k, anchor += rows, other += lanes) {
        const Vector values = vector_at(other);
#pragma GCC unroll 6
        for (Index r = 0; r < rows; ++r) {
          const Vector difference = values - anchor[r];
          sum[r] += difference * difference;
        }
      }
#pragma GCC unroll 6
      for (Index r = 0; r < rows; ++r) *reinterpret_cast<Vector*>(place + r * stride) = sum[r];
    }
  }
}

/// Packs x[first + r], r < group, of `columns` columns one after the other. A whole vector is written for each, whose last two numbers the
/// next one replaces: of the last group there is room for them.
POSGEOM_SIMD void pack_group(const double* x, Index rows, Index columns, double* packed) {
  for (Index k = 0; k < columns; ++k, x += rows, packed += SquaredDistances::group) *reinterpret_cast<Vector*>(packed) = vector_at(x);
}

/// Packs `vectors` vectors of rows of `columns` columns: all columns of the first vector, of the second, ...
POSGEOM_SIMD static void pack_vectors(const double* x, Index rows, Index vectors, Index columns, double* packed) {
  for (Index k = 0; k < columns; ++k, x += rows) {
    for (Index v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(packed + (v * columns + k) * lanes) = vector_at(x + v * lanes);
  }
}

SquaredDistances::SquaredDistances(const double* x, Index rows, Index count, Index width)
    : x_(x),
      rows_(rows),
      anchors_(static_cast<std::size_t>(padded_count(count) * depth + lanes - group)),
      others_(static_cast<std::size_t>(stride(width) * depth)) {}

void SquaredDistances::add(Index first, Index count, Index j_begin, Index width, Index k_begin, Index k_end, double* squared) {
  expects(count >= 1 && width >= 1 && padded_count(count) * depth <= std::ssize(anchors_) && stride(width) * depth <= std::ssize(others_),
          "a tile of the size that was asked for");
  const Index padded = padded_count(count);
  for (Index begin = k_begin; begin < k_end; begin += depth) {
    const Index columns = std::min(depth, k_end - begin);
    const double* block = x_ + begin * rows_;
    // Beyond a tile's last row and column are those that follow, and beyond x's the last one again: finite numbers that nobody reads.
    for (Index r = 0; r < padded; r += group) {
      double* packed = anchors_.data() + r * columns;
      if (first + r + lanes <= rows_) {
        pack_group(block + first + r, rows_, columns, packed);
        continue;
      }
      for (Index k = 0; k < columns; ++k) {
        for (Index s = 0; s < group; ++s) packed[k * group + s] = block[k * rows_ + std::min(first + r + s, rows_ - 1)];
      }
    }
    const Index whole = width / lanes;
    pack_vectors(block + j_begin, rows_, whole, columns, others_.data());
    for (Index k = 0; k < columns && whole * lanes < width; ++k) {
      double* packed = others_.data() + (whole * columns + k) * lanes;
      for (Index l = 0; l < lanes; ++l) packed[l] = block[k * rows_ + j_begin + std::min(whole * lanes + l, width - 1)];
    }
    add_packed(anchors_.data(), padded / group, others_.data(), stride(width) / lanes, columns, squared);
  }
}

namespace {

/// Square roots a vector at a time: one implementation a level of x86-64, as the compiler takes them one by one where errno could be read.
struct PlainRoots {
  static inline void take(Vector& v) {
    for (Index l = 0; l < lanes; ++l) v[l] = std::sqrt(v[l]);
  }
};
#if defined(POSGEOM_SIMD_LEVELS)
struct Sse2Roots {
  static inline void take(Vector& v) {
    auto* part = reinterpret_cast<__m128d*>(&v);
    for (int k = 0; k < 4; ++k) part[k] = _mm_sqrt_pd(part[k]);
  }
};
struct Avx2Roots {
  __attribute__((target("arch=x86-64-v3"))) static inline void take(Vector& v) {
    auto* part = reinterpret_cast<__m256d*>(&v);
    for (int k = 0; k < 2; ++k) part[k] = _mm256_sqrt_pd(part[k]);
  }
};
struct Avx512Roots {
  __attribute__((target("arch=x86-64-v4"))) static inline void take(Vector& v) {
    v = _mm512_maskz_sqrt_pd(0xff, v);  // _mm512_sqrt_pd reads what GCC 12 warns about
  }
};
#endif

template <class Roots>
[[gnu::always_inline]] inline void moments_of(const PairTileView& tile, double shift, double mean_h, PairMoments& moments) {
  Vector shifted = {};
  Vector shifted_squared = {};
  Vector cross = {};
  Vector square = {};
  Vector product = {};
  Vector residual = {};
  Vector largest = {};
  const Vector infinity = Vector{} + std::numeric_limits<double>::infinity();
  Vector smallest = infinity;
  for (Index r = 0; r < tile.count; ++r) {
    const Index offset = r + tile.diagonal + 1;
    const Index begin = offset > 0 ? offset : 0;
    for (Index c = begin / lanes * lanes; c < tile.width; c += lanes) {
      Vector counted = vector_at(tile.squared + r * tile.squared_stride + c);
      Vector low = counted;
      const Vector h = vector_at(tile.h + r * tile.h_stride + c);
      Vector d = counted;
      Roots::take(d);
      Vector centred = d - shift;
      Vector difference = d - h;
      if (c < begin || c + lanes > tile.width) {  // at the ends of a row some lanes are no pairs
        const Vector column = lane_numbers + static_cast<double>(c);
        const auto inside = (column >= static_cast<double>(begin)) & (column < static_cast<double>(tile.width));
        d = inside ? d : Vector{};
        centred = inside ? centred : Vector{};
        difference = inside ? difference : Vector{};
        counted = inside ? counted : Vector{};
        low = inside ? low : infinity;
      }
      shifted += centred;
      shifted_squared += centred * centred;
      cross += centred * (h - mean_h);
      square += counted;
      product += d * h;
      residual += difference * difference;
      smallest = low < smallest ? low : smallest;
      largest = counted > largest ? counted : largest;
    }
  }
  moments.shifted = sum_of(shifted);
  moments.shifted_squared = sum_of(shifted_squared);
  moments.cross = sum_of(cross);
  moments.squared = sum_of(square);
  moments.product = sum_of(product);
  moments.residual = sum_of(residual);
  // The square root is monotone to the last bit, so that the extremes' roots are the roots' extremes.
  for (Index l = 0; l < lanes; ++l) {
    moments.smallest = smallest[l] < moments.smallest ? smallest[l] : moments.smallest;
    moments.largest = largest[l] > moments.largest ? largest[l] : moments.largest;
  }
}

template <class Roots>
[[gnu::always_inline]] inline void take_roots(const double* squared, Index count, double* roots) {
  Index c = 0;
  for (; c + lanes <= count; c += lanes) {
    Vector v = vector_at(squared + c);
    Roots::take(v);
    *reinterpret_cast<Vector*>(roots + c) = v;
  }
  for (; c < count; ++c) roots[c] = std::sqrt(squared[c]);
}

#if defined(POSGEOM_SIMD_LEVELS)
__attribute__((target("arch=x86-64-v4"))) void moments_v4(const PairTileView& tile, double shift, double mean_h, PairMoments& moments) {
  moments_of<Avx512Roots>(tile, shift, mean_h, moments);
}
__attribute__((target("arch=x86-64-v3"))) void moments_v3(const PairTileView& tile, double shift, double mean_h, PairMoments& moments) {
  moments_of<Avx2Roots>(tile, shift, mean_h, moments);
}
__attribute__((target("arch=x86-64-v4"))) void roots_v4(const double* squared, Index count, double* roots) {
  take_roots<Avx512Roots>(squared, count, roots);
}
__attribute__((target("arch=x86-64-v3"))) void roots_v3(const double* squared, Index count, double* roots) {
  take_roots<Avx2Roots>(squared, count, roots);
}
#endif

}  // namespace

PairMoments pair_moments(const PairTileView& tile, double shift, double mean_h) {
  PairMoments moments;
#if defined(POSGEOM_SIMD_LEVELS)
  if (__builtin_cpu_supports("x86-64-v4")) {
    moments_v4(tile, shift, mean_h, moments);
  } else if (__builtin_cpu_supports("x86-64-v3")) {
    moments_v3(tile, shift, mean_h, moments);
  } else {
    moments_of<Sse2Roots>(tile, shift, mean_h, moments);
  }
#else
  moments_of<PlainRoots>(tile, shift, mean_h, moments);
#endif
  moments.smallest = std::sqrt(moments.smallest);
  moments.largest = std::sqrt(moments.largest);
  return moments;
}

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
