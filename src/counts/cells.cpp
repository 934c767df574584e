#include "counts/cells.hpp"

#include <algorithm>
#include <bit>

#include "posgeom/simd.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define POSGEOM_COMPRESS
#endif

namespace posgeom {
namespace {

constexpr std::size_t group = 64;

/// Bit i: tile[i] is not zero; of a group.
inline std::uint64_t occupied(const std::uint16_t* tile) {
  std::uint64_t bits = 0;
#if defined(POSGEOM_COMPRESS)
  for (std::size_t part = 0; part < 4; ++part) {
    const auto* values = reinterpret_cast<const __m128i*>(tile + part * 16);
    const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(values), _mm_setzero_si128());
    const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(values + 1), _mm_setzero_si128());
    const int zero = _mm_movemask_epi8(_mm_packs_epi16(low, high));
    bits |= static_cast<std::uint64_t>(~zero & 0xffff) << (part * 16);
  }
#else
  for (std::size_t i = 0; i < group; ++i) bits |= std::uint64_t{tile[i] != 0} << i;
#endif
  return bits;
}

/// Adds from group `begin` on, clearing the tile, up to a group with a cell that cannot hold its sum, which is added but not cleared.
[[gnu::always_inline]] inline std::size_t add_groups(std::uint8_t* __restrict cells, std::uint16_t* __restrict tile, std::size_t begin,
                                                     std::size_t size) {
  for (; begin < size; begin += group) {
    std::uint16_t all = 0;
    for (std::size_t i = begin; i < begin + group; ++i) {
      const auto sum = static_cast<std::uint16_t>(cells[i] + tile[i]);
      all = static_cast<std::uint16_t>(all | sum);
    }
    for (std::size_t i = begin; i < begin + group; ++i) cells[i] = static_cast<std::uint8_t>(cells[i] + tile[i]);
    if (all > 0xff) return begin;
    std::fill_n(tile + begin, group, std::uint16_t{0});
  }
  return size;
}

[[gnu::always_inline]] inline std::size_t add_groups(std::uint16_t* __restrict cells, std::uint16_t* __restrict tile, std::size_t begin,
                                                     std::size_t size) {
  for (; begin < size; begin += group) {
    std::uint16_t wrapped = 0;
    for (std::size_t i = begin; i < begin + group; ++i) {
      const auto sum = static_cast<std::uint16_t>(cells[i] + tile[i]);
      wrapped = static_cast<std::uint16_t>(wrapped | (sum < tile[i]));
      cells[i] = sum;
    }
    if (wrapped != 0) return begin;
    std::fill_n(tile + begin, group, std::uint16_t{0});
  }
  return size;
}

}  // namespace

POSGEOM_SIMD static std::size_t add_up(std::uint8_t* cells, std::uint16_t* tile, std::size_t begin, std::size_t size) {
  return add_groups(cells, tile, begin, size);
}
POSGEOM_SIMD static std::size_t add_up(std::uint16_t* cells, std::uint16_t* tile, std::size_t begin, std::size_t size) {
  return add_groups(cells, tile, begin, size);
}

template <class Cell>
static void add_carrying(Cell* cells, std::uint16_t* tile, std::size_t size, std::vector<Carry>& carries) {
  constexpr unsigned bits = 8 * sizeof(Cell);
  for (std::size_t begin = 0; (begin = add_up(cells, tile, begin, size)) < size; begin += group) {
    for (std::size_t id = begin; id < begin + group; ++id) {
      // The cell holds the sum's low bits already: it went through zero where it is now below what was added.
      const std::uint32_t times = (std::uint32_t{tile[id]} >> bits) + (cells[id] < static_cast<Cell>(tile[id]));
      if (times > 0) carries.push_back({static_cast<std::uint32_t>(id), times});
      tile[id] = 0;
    }
  }
}

void add_tile(std::uint8_t* cells, std::uint16_t* tile, std::size_t size, std::vector<Carry>& carries) {
  add_carrying(cells, tile, size, carries);
}
void add_tile(std::uint16_t* cells, std::uint16_t* tile, std::size_t size, std::vector<Carry>& carries) {
  add_carrying(cells, tile, size, carries);
}

POSGEOM_SIMD void add_tile(std::uint32_t* cells, std::uint16_t* tile, std::size_t size) {
  for (std::size_t id = 0; id < size; ++id) cells[id] += tile[id];
  std::fill_n(tile, size, std::uint16_t{0});
}
POSGEOM_SIMD void add_tile(std::uint64_t* cells, std::uint16_t* tile, std::size_t size) {
  for (std::size_t id = 0; id < size; ++id) cells[id] += tile[id];
  std::fill_n(tile, size, std::uint16_t{0});
}

template <class Id>
void count_ids(std::uint16_t* tile, std::span<const Id> ids) {
  constexpr std::size_t unrolled = 8;
  const Id* next = ids.data();
  for (std::size_t left = ids.size() / unrolled; left > 0; --left, next += unrolled) {
    for (std::size_t k = 0; k < unrolled; ++k) ++tile[static_cast<std::size_t>(next[k])];
  }
  for (const Id* end = ids.data() + ids.size(); next < end; ++next) ++tile[static_cast<std::size_t>(*next)];
}

#if defined(POSGEOM_COMPRESS)
/// 16 counters at a time, without a branch that depends on them.
template <class Id>
__attribute__((target("avx512f,avx512bw,avx512vl,popcnt"))) static std::size_t find_compressing(const std::uint16_t* tile, std::size_t size,
                                                                                                Id* id, std::uint16_t* value) {
  std::size_t count = 0;
  constexpr __mmask16 all = 0xffff;  // without a mask, GCC 12 warns of what its own header leaves undefined
  __m512i ids = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (std::size_t begin = 0; begin < size; begin += 16, ids = _mm512_add_epi32(ids, _mm512_set1_epi32(16))) {
    const __m512i values = _mm512_maskz_cvtepu16_epi32(all, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile + begin)));
    const __mmask16 occupied = _mm512_test_epi32_mask(values, values);
    const __m512i found = _mm512_maskz_compress_epi32(occupied, ids);
    if constexpr (sizeof(Id) == 2) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(id + count), _mm512_maskz_cvtepi32_epi16(all, found));
    } else {
      _mm512_storeu_si512(id + count, found);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(value + count),
                        _mm512_maskz_cvtepi32_epi16(all, _mm512_maskz_compress_epi32(occupied, values)));
    count += static_cast<std::size_t>(_mm_popcnt_u32(occupied));
  }
  return count;
}
#endif

template <class Id>
std::size_t find_occupied(const std::uint16_t* tile, std::size_t size, Id* id, std::uint16_t* value) {
#if defined(POSGEOM_COMPRESS)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return find_compressing(tile, size, id, value);
#endif
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < size; begin += group) {
    for (std::uint64_t bits = occupied(tile + begin); bits != 0; bits &= bits - 1) {
      const std::size_t found = begin + static_cast<std::size_t>(std::countr_zero(bits));
      id[count] = static_cast<Id>(found);
      value[count++] = tile[found];
    }
  }
  return count;
}

template void count_ids(std::uint16_t*, std::span<const std::uint16_t>);
template void count_ids(std::uint16_t*, std::span<const Token>);
template std::size_t find_occupied(const std::uint16_t*, std::size_t, std::uint16_t*, std::uint16_t*);
template std::size_t find_occupied(const std::uint16_t*, std::size_t, Token*, std::uint16_t*);

}  // namespace posgeom
