#pragma once
#include <cstdint>

#include "posgeom/types.hpp"

namespace posgeom {

/// Ids in a cache line: so many sequences are transposed together, and so many positions at a time.
template <class Id>
inline constexpr Index line_ids = 64 / static_cast<Index>(sizeof(Id));

/// tile[p * line_ids + s] = sequences[s][offset + p] for p, s in [0, line_ids). `tile` is aligned to 64 bytes.
void transpose(const std::uint16_t* const* sequences, Index offset, std::uint16_t* tile);
void transpose(const Token* const* sequences, Index offset, Token* tile);

}  // namespace posgeom
