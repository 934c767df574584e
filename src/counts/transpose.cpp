#include "counts/transpose.hpp"

#include <cstring>

#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

// A vector has four lanes of 16 bytes, and lane l holds sequences of the l-th quarter: the interleavings below stay within lanes, which is
// one instruction for every vector width of x86 (and of others).
using Line16 = std::uint16_t __attribute__((vector_size(64)));
using Line32 = std::uint32_t __attribute__((vector_size(64)));
using Line64 = std::uint64_t __attribute__((vector_size(64)));

constexpr Index lanes = 4;
constexpr std::size_t lane_bytes = 16;

// By reference: vectors by value would change the calling convention with the instruction set.
[[gnu::always_inline]] inline void interleave16(const Line16& a, const Line16& b, Line32& low, Line32& high) {
  low = reinterpret_cast<Line32>(__builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, 10, 42, 11, 43, 16, 48, 17, 49, 18,
                                                         50, 19, 51, 24, 56, 25, 57, 26, 58, 27, 59));
  high = reinterpret_cast<Line32>(__builtin_shufflevector(a, b, 4, 36, 5, 37, 6, 38, 7, 39, 12, 44, 13, 45, 14, 46, 15, 47, 20, 52, 21, 53,
                                                          22, 54, 23, 55, 28, 60, 29, 61, 30, 62, 31, 63));
}

[[gnu::always_inline]] inline void interleave32(const Line32& a, const Line32& b, Line64& low, Line64& high) {
  low = reinterpret_cast<Line64>(__builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29));
  high = reinterpret_cast<Line64>(__builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31));
}

[[gnu::always_inline]] inline void interleave64(const Line64& a, const Line64& b, Line64* low, Line64* high) {
  *low = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  *high = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}

/// Lane l of `line`: 16 bytes of sequence `first` + l * `stride`, from `offset` on.
template <class Id, class Line>
[[gnu::always_inline]] inline void gather(const Id* const* sequences, Index first, Index stride, Index offset, Line& line) {
  for (Index l = 0; l < lanes; ++l) {
    std::memcpy(reinterpret_cast<char*>(&line) + static_cast<std::size_t>(l) * lane_bytes, sequences[first + l * stride] + offset,
                lane_bytes);
  }
}

}  // namespace

POSGEOM_SIMD void transpose(const std::uint16_t* const* sequences, Index offset, std::uint16_t* tile) {
  constexpr Index width = 8;  // ids of a lane
  auto* out = static_cast<Line64*>(__builtin_assume_aligned(tile, 64));
  for (Index block = 0; block < line_ids<std::uint16_t>; block += width) {
    Line16 rows[8];
    for (Index r = 0; r < 8; ++r) gather(sequences, r, width, offset + block, rows[r]);
    Line32 pairs[8];
    for (Index r = 0; r < 8; r += 2) interleave16(rows[r], rows[r + 1], pairs[r], pairs[r + 1]);
    for (Index half = 0; half < 2; ++half) {
      Line64 low[2];
      Line64 high[2];
      interleave32(pairs[half], pairs[half + 2], low[0], low[1]);
      interleave32(pairs[half + 4], pairs[half + 6], high[0], high[1]);
      for (Index k = 0; k < 2; ++k) {
        Line64* position = out + block + 4 * half + 2 * k;
        interleave64(low[k], high[k], position, position + 1);
      }
    }
  }
}

POSGEOM_SIMD void transpose(const Token* const* sequences, Index offset, Token* tile) {
  constexpr Index width = 4;
  auto* out = static_cast<Line64*>(__builtin_assume_aligned(tile, 64));
  for (Index block = 0; block < line_ids<Token>; block += width) {
    Line32 rows[4];
    for (Index r = 0; r < 4; ++r) gather(sequences, r, width, offset + block, rows[r]);
    Line64 low[2];
    Line64 high[2];
    interleave32(rows[0], rows[1], low[0], low[1]);
    interleave32(rows[2], rows[3], high[0], high[1]);
    for (Index k = 0; k < 2; ++k) interleave64(low[k], high[k], out + block + 2 * k, out + block + 2 * k + 1);
  }
}

}  // namespace posgeom
