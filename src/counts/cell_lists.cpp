#include <cstring>

#include "counts/cells.hpp"
#include "posgeom/simd.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define POSGEOM_COMPRESS
#endif

namespace posgeom {
namespace {

template <class Cell>
std::size_t list_from(const Cell* cells, std::size_t begin, std::size_t size, Token* id, Count* value) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < size; ++i) {
    // Without a branch: whether a rare token occurs cannot be foretold.
    id[count] = static_cast<Token>(i);
    value[count] = static_cast<Count>(cells[i]);
    count += cells[i] != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

#if defined(POSGEOM_COMPRESS)

// Without a mask, GCC 12 warns of what its own header leaves undefined.
constexpr __mmask16 all16 = 0xffff;
constexpr __mmask8 all8 = 0xff;

#define POSGEOM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

POSGEOM_AVX512 static __m512i load16(const std::uint8_t* cells) {
  return _mm512_maskz_cvtepu8_epi32(all16, _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells)));
}
POSGEOM_AVX512 static __m512i load16(const std::uint16_t* cells) {
  return _mm512_maskz_cvtepu16_epi32(all16, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells)));
}
POSGEOM_AVX512 static __m512i load16(const std::uint32_t* cells) { return _mm512_loadu_si512(cells); }

/// 16 cells at a time.
template <class Cell>
POSGEOM_AVX512 static std::size_t list_compressing(const Cell* cells, std::size_t size, Token* id, Count* value) {
  std::size_t count = 0;
  __m512i ids = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (std::size_t begin = 0; begin < size; begin += 16, ids = _mm512_add_epi32(ids, _mm512_set1_epi32(16))) {
    const __m512i values = load16(cells + begin);
    const __mmask16 occupied = _mm512_test_epi32_mask(values, values);
    _mm512_storeu_si512(id + count, _mm512_maskz_compress_epi32(occupied, ids));
    const __m512i found = _mm512_maskz_compress_epi32(occupied, values);
    const __m256i low = _mm512_maskz_extracti64x4_epi64(all8, found, 0), high = _mm512_maskz_extracti64x4_epi64(all8, found, 1);
    _mm512_storeu_si512(value + count, _mm512_maskz_cvtepu32_epi64(all8, low));
    _mm512_storeu_si512(value + count + 8, _mm512_maskz_cvtepu32_epi64(all8, high));
    count += static_cast<std::size_t>(_mm_popcnt_u32(occupied));
  }
  return count;
}

template <class Cell>
POSGEOM_AVX512 static std::size_t count_by_masks(const Cell* cells, std::size_t size) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < size; begin += 64 / sizeof(Cell)) {
    const __m512i values = _mm512_loadu_si512(cells + begin);
    if constexpr (sizeof(Cell) == 1) {
      count += static_cast<std::size_t>(_mm_popcnt_u64(_mm512_test_epi8_mask(values, values)));
    } else if constexpr (sizeof(Cell) == 2) {
      count += static_cast<std::size_t>(_mm_popcnt_u32(_mm512_test_epi16_mask(values, values)));
    } else {
      count += static_cast<std::size_t>(_mm_popcnt_u32(_mm512_test_epi32_mask(values, values)));
    }
  }
  return count;
}

static bool compresses() { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"); }

#endif

template <class Cell>
std::size_t count_occupied(const Cell* cells, std::size_t size) {
#if defined(POSGEOM_COMPRESS)
  if constexpr (sizeof(Cell) <= 4) {
    if (compresses()) return count_by_masks(cells, size);
  }
#endif
  std::size_t count = 0;
  for (std::size_t i = 0; i < size; ++i) count += cells[i] != 0 ? 1 : 0;
  return count;
}

template <class Cell>
std::size_t list_occupied(const Cell* cells, std::size_t size, Token* id, Count* value) {
#if defined(POSGEOM_COMPRESS)
  if constexpr (sizeof(Cell) <= 4) {
    if (compresses()) return list_compressing(cells, size, id, value);
  }
#endif
  return list_from(cells, 0, size, id, value);
}

POSGEOM_SIMD void add_to_tile(std::uint16_t* tile, const std::uint8_t* cells, std::size_t size) {
  // By vectors of the compiler's own, since at -O2 GCC leaves such loops as they are.
  using Bytes [[gnu::vector_size(32)]] = std::uint8_t;
  using Words [[gnu::vector_size(64)]] = std::uint16_t;
  std::size_t i = 0;
  for (; i + 32 <= size; i += 32) {
    Bytes bytes;
    Words words;
    std::memcpy(&bytes, cells + i, sizeof bytes);
    std::memcpy(&words, tile + i, sizeof words);
    words += __builtin_convertvector(bytes, Words);
    std::memcpy(tile + i, &words, sizeof words);
  }
  for (; i < size; ++i) tile[i] = static_cast<std::uint16_t>(tile[i] + cells[i]);
}

template std::size_t count_occupied(const std::uint8_t*, std::size_t);
template std::size_t count_occupied(const std::uint16_t*, std::size_t);
template std::size_t count_occupied(const std::uint32_t*, std::size_t);
template std::size_t count_occupied(const std::uint64_t*, std::size_t);
template std::size_t list_occupied(const std::uint8_t*, std::size_t, Token*, Count*);
template std::size_t list_occupied(const std::uint16_t*, std::size_t, Token*, Count*);
template std::size_t list_occupied(const std::uint32_t*, std::size_t, Token*, Count*);
template std::size_t list_occupied(const std::uint64_t*, std::size_t, Token*, Count*);

}  // namespace posgeom
