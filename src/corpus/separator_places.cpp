#include "corpus/separator_places.hpp"

#include <bit>
#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace posgeom {
namespace {

constexpr std::size_t group = 64;

/// Appends begin + i for each bit i.
inline void append_bits(std::uint64_t bits, std::size_t begin, std::vector<std::uint32_t>& places) {
  for (; bits != 0; bits &= bits - 1)
    places.push_back(static_cast<std::uint32_t>(begin) + static_cast<std::uint32_t>(std::countr_zero(bits)));
}

#if defined(__x86_64__) && defined(__GNUC__)

inline __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }

/// Bit i: ids[i] is the one; of a group. By SSE2, whose results are numbers: GCC 12 was seen to widen AVX-512's masks wrongly.
inline std::uint64_t equal_bits(const std::uint16_t* ids, std::uint16_t id) {
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(id));
  std::uint64_t bits = 0;
  for (std::size_t part = 0; part < group; part += 16) {
    const __m128i low = _mm_cmpeq_epi16(load(ids + part), wanted), high = _mm_cmpeq_epi16(load(ids + part + 8), wanted);
    bits |= static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << part;
  }
  return bits;
}
inline std::uint64_t equal_bits(const std::uint32_t* ids, std::uint32_t id) {
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(id));
  std::uint64_t bits = 0;
  for (std::size_t part = 0; part < group; part += 16) {
    __m128i equal[4];
    for (std::size_t k = 0; k < 4; ++k) equal[k] = _mm_cmpeq_epi32(load(ids + part + 4 * k), wanted);
    const __m128i all = _mm_packs_epi16(_mm_packs_epi32(equal[0], equal[1]), _mm_packs_epi32(equal[2], equal[3]));
    bits |= static_cast<std::uint64_t>(_mm_movemask_epi8(all)) << part;
  }
  return bits;
}

#else

template <class Id>
std::uint64_t equal_bits(const Id* ids, Id id) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < group; ++i) bits |= std::uint64_t{ids[i] == id} << i;
  return bits;
}

#endif

template <class Id>
void list_groups(const Id* ids, std::size_t end, Id id, std::vector<std::uint32_t>& places) {
  for (std::size_t begin = 0; begin < end; begin += group) append_bits(equal_bits(ids + begin, id), begin, places);
}

template <class Id>
void list(std::span<const Id> ids, std::uint32_t id, std::vector<std::uint32_t>& places) {
  places.clear();
  const auto wanted = static_cast<Id>(id);
  if (wanted != id) return;
  const std::size_t whole = ids.size() / group * group;
  list_groups(ids.data(), whole, wanted, places);
  for (std::size_t i = whole; i < ids.size(); ++i) {
    if (ids[i] == wanted) places.push_back(static_cast<std::uint32_t>(i));
  }
}

}  // namespace

void list_places(std::span<const std::uint16_t> ids, std::uint32_t id, std::vector<std::uint32_t>& places) { list(ids, id, places); }
void list_places(std::span<const std::uint32_t> ids, std::uint32_t id, std::vector<std::uint32_t>& places) { list(ids, id, places); }

}  // namespace posgeom
