#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace posgeom {

/// The places of `id` among `ids`, ascending: all at once, since documents may be so short that a search for each would take longer than
/// everything else. Fewer than 2^32 ids.
void list_places(std::span<const std::uint16_t> ids, std::uint32_t id, std::vector<std::uint32_t>& places);
void list_places(std::span<const std::uint32_t> ids, std::uint32_t id, std::vector<std::uint32_t>& places);

}  // namespace posgeom
