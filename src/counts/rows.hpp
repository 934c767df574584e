#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "counts/cells.hpp"
#include "counts/row_memory.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// A row as it is stored, where it has a cell of 8 or 16 bits for each id; elsewhere `bits` is 0.
struct RowCells {
  int bits = 0;
  std::span<const std::byte> cells;  ///< whole words of 8 bytes
  std::span<const Carry> carries;
  Count carry_unit = 0;
  Count cell_total = 0;  ///< tokens in the cells, those in carries left out
};

/// Where a row changes its form. Injectable for tests.
struct RowLimits {
  Count narrow = (Count{1} << 40) - 1;  ///< tokens that cells of 8 bits and a carry of 32 hold, however they are distributed
  Count middle = (Count{1} << 48) - 1;  ///< likewise 16 bits and the carry
  Count wide = (Count{1} << 32) - 1;    ///< 32 bits without a carry
};

/// The counts of each position, exact whatever they are. A cell is 8 bits, since most tokens are rare at any one position; what is beyond
/// goes to the row's short list of carries. A row is sparse (ids and cells) up to a quarter of the ids, then has all V cells. Where the
/// carries would take as much as the cells, these become 16 bits, then 32 without carries, and 64 where those could overflow: at most
/// 4 bytes an id of the vocabulary, 8 with more than 2^32 - 1 tokens.
template <class Id>
class Rows {
 public:
  Rows(Index length, Index vocab_size, const RowLimits& limits = {});

  /// Counts ids of `position`.
  void count(Index position, std::span<const Id> ids);
  /// Adds counts > 0 of tokens, ascending and distinct.
  void add(Index position, std::span<const Token> token, std::span<const Count> count);
  /// Appends what is not zero, tokens ascending.
  void append(Index position, std::vector<Token>& token, std::vector<Count>& count) const;
  /// How many append() appends.
  Index nonzeros(Index position) const;
  /// They stay until the row changes.
  RowCells row_cells(Index position) const;
  /// Adds cells of `bits` bits, as row_cells() gives them, the first of which is id `first`'s: `tokens` tokens.
  void add_cells(Index position, int bits, Index first, std::span<const std::byte> cells, Count tokens);
  void clear(Index position);

  Index bytes() const;
  Index bytes(Index first, Index count) const;
  /// Of a row in which `nonzeros` ids occur, `carried` of them more than 255 times and `carried_far` more than 65535 times.
  static Index bytes_of(Index vocab_size, Index nonzeros, Index carried, Index carried_far, Count tokens);

 private:
  enum class Form : std::uint8_t { sparse, narrow, middle, wide, full };
  struct Row {
    RowMemory::Block block;      ///< sparse: [room] cells that are not 0, and [room] ids; else [V] cells
    std::vector<Carry> carries;  ///< 256 (sparse, narrow) or 65536 (middle) each; ids ascending
    Count total = 0;
    std::uint32_t entries = 0;
    std::uint32_t room = 0;  ///< sparse: entries that the block has room for
    Form form = Form::sparse;
  };

  /// Above this many ids all V cells are kept: three quarters of the memory that a sparse row takes by then.
  static Index sparse_limit(Index vocab_size) { return vocab_size / 4; }
  /// Entries of a sparse row's block: few different sizes, and some room to grow in.
  static Index room_for(Index entries);
  static Form next(Form form, Count total, const RowLimits& limits);
  static Count carry_unit(Form form);
  Index cell_bytes(Form form) const;
  template <class Cell>
  static Cell* cells(const Row& row) {
    return reinterpret_cast<Cell*>(row.block.data);
  }
  static Id* ids(const Row& row) { return reinterpret_cast<Id*>(row.block.data + row.room); }

  template <class Visit>
  void for_each(const Row& row, Visit&& visit) const;
  void store(Row& row, std::size_t id, Count count);
  void expect(Row& row, Count tokens);
  void change(Row& row, Form form);
  void keep_carries_few(Row& row);
  void carry(Row& row, std::size_t id, Count times);
  void merge_carries(Row& row);
  template <class Cell>
  void add_to_cells(Row& row, Cell* cell, std::span<const Token> token, std::span<const Count> count);
  template <class Visit>
  void with_cells(const Row& row, Visit&& visit) const;
  std::size_t carries_alone(const Row& row) const;
  void load_sparse(const Row& row);
  void store_sparse(Row& row);
  std::size_t tile_entries() const { return static_cast<std::size_t>(tile_size_); }
  void empty_tile(Row& row);
  void count_part(const Row& row, std::span<const Id> ids);

  Index vocab_size_;
  RowLimits limits_;
  RowMemory memory_;
  std::vector<Row> rows_;
  Index tile_size_;  ///< V, rounded up
  HugeBuffer tile_memory_;
  std::uint16_t* tile_;       ///< [tile_size_]
  std::vector<Id> found_id_;  ///< what is found in the tile
  std::vector<std::uint16_t> found_;
  std::vector<Carry> carries_, merged_;
};

}  // namespace posgeom
