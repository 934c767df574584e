#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// What does not fit into the cell of an id: so many times more than the cell can tell apart.
struct Carry {
  std::uint32_t id;
  std::uint32_t times;
};

/// A tile is a counter of 16 bits for each id, which stays in cache; all zero between two uses. It holds at most 65280 tokens more than 255
/// an id, so that no counter wraps. Tiles and rows of cells have a multiple of 64 entries.
template <class Id>
void count_ids(std::uint16_t* tile, std::span<const Id> ids);

/// The ids whose counters are not zero, ascending, and the counters; returns how many. Room for `size` + 16 of them: what lies beyond is
/// overwritten.
template <class Id>
std::size_t find_occupied(const std::uint16_t* tile, std::size_t size, Id* id, std::uint16_t* value);

/// How many cells are not zero.
template <class Cell>
std::size_t count_occupied(const Cell* cells, std::size_t size);

/// The ids whose cells are not zero, ascending, and the cells; returns how many. Room for 16 more than there are: what lies beyond is
/// overwritten.
template <class Cell>
std::size_t list_occupied(const Cell* cells, std::size_t size, Token* id, Count* value);

/// Adds cells from other rows into a tile, which must have room for them.
void add_to_tile(std::uint16_t* tile, const std::uint8_t* cells, std::size_t size);

/// Moves a tile into cells; where they are narrow, appends what they cannot hold to `carries`, ids ascending.
void add_tile(std::uint8_t* cells, std::uint16_t* tile, std::size_t size, std::vector<Carry>& carries);
void add_tile(std::uint16_t* cells, std::uint16_t* tile, std::size_t size, std::vector<Carry>& carries);
void add_tile(std::uint32_t* cells, std::uint16_t* tile, std::size_t size);
void add_tile(std::uint64_t* cells, std::uint16_t* tile, std::size_t size);

}  // namespace posgeom
