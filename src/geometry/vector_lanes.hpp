#pragma once
#include <cmath>

#include "posgeom/simd.hpp"
#include "posgeom/types.hpp"

#if defined(POSGEOM_SIMD_LEVELS)
#include <immintrin.h>
#endif

/// What the kernels over pairs are written in. Internal to the kernels' sources.
namespace posgeom {

inline constexpr Index pair_lanes = 8;
/// Eight doubles, which the compiler maps to one register or to several.
using PairVector = double __attribute__((vector_size(pair_lanes * sizeof(double)), aligned(sizeof(double)), may_alias));

inline const PairVector& vector_at(const double* place) { return *reinterpret_cast<const PairVector*>(place); }
inline PairVector& vector_at(double* place) { return *reinterpret_cast<PairVector*>(place); }

/// Square roots a vector at a time: one implementation a level of x86-64, as the compiler takes them one by one where errno could be read.
struct PlainRoots {
  static inline void take(PairVector& v) {
    for (Index l = 0; l < pair_lanes; ++l) v[l] = std::sqrt(v[l]);
  }
};
#if defined(POSGEOM_SIMD_LEVELS)
struct Sse2Roots {
  static inline void take(PairVector& v) {
    auto* part = reinterpret_cast<__m128d*>(&v);
    for (int k = 0; k < 4; ++k) part[k] = _mm_sqrt_pd(part[k]);
  }
};
struct Avx2Roots {
  __attribute__((target("arch=x86-64-v3"))) static inline void take(PairVector& v) {
    auto* part = reinterpret_cast<__m256d*>(&v);
    for (int k = 0; k < 2; ++k) part[k] = _mm256_sqrt_pd(part[k]);
  }
};
struct Avx512Roots {
  __attribute__((target("arch=x86-64-v4"))) static inline void take(PairVector& v) {
    v = _mm512_maskz_sqrt_pd(0xff, v);  // _mm512_sqrt_pd reads what GCC 12 warns about
  }
};
#endif

}  // namespace posgeom
