#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "counts/rows.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// How often each token stands at each position, on this rank. Fast where runs are long and many begin at the same position: tokens are
/// gathered into a column a position, and a column is counted into its row while that stays in cache.
class PositionTable {
 public:
  /// `buffer_bytes`: of the columns. Ids are 0 .. vocab_size - 1, positions 0 .. length - 1.
  PositionTable(Index length, Index vocab_size, Index buffer_bytes);
  ~PositionTable();
  PositionTable(PositionTable&&) noexcept;
  PositionTable& operator=(PositionTable&&) noexcept;

  /// One token a position, from `position` on: a sequence, or a run of one. The ids are in range (the corpus has checked them).
  void add(Index position, std::span<const std::uint16_t> ids);
  void add(Index position, std::span<const Token> ids);
  /// ids.size() / length sequences of `length` tokens, one after the other, each from position 0 on: the fastest way.
  void add_sequences(Index length, std::span<const std::uint16_t> ids);
  void add_sequences(Index length, std::span<const Token> ids);
  /// ids[p] for each position p of `positions`, ascending: the others are another table's.
  void add_at(std::span<const std::uint32_t> positions, std::span<const Token> ids);
  /// Empties the columns into the rows; before rows are looked at or changed.
  void flush();
  /// The same, and gives the columns' memory back until something is counted again.
  void release_columns();

  /// Bytes held: rows, columns, scratch.
  Index bytes() const;
  /// Bytes of the columns alone.
  Index column_bytes() const;
  /// Bytes of the rows [first, first + count) alone.
  Index row_bytes(Index first, Index count) const;

  /// Appends row `position`'s nonzeros, tokens ascending.
  void append_row(Index position, std::vector<Token>& token, std::vector<Count>& count) const;
  /// How many append_row() appends.
  Index nonzeros(Index position) const;
  /// Row `position`'s cells where it has such, and adding those of another table: Rows::row_cells(), Rows::add_cells().
  RowCells row_cells(Index position) const;
  void add_cells(Index position, int bits, Index first, std::span<const std::byte> cells, Count tokens);
  /// Adds to row `position`; tokens ascending, distinct.
  void add_row(Index position, std::span<const Token> token, std::span<const Count> count);
  /// Empties row `position` and frees its memory.
  void clear_row(Index position);

  /// Bytes of a row with `nonzeros` of them among V tokens, counted from `tokens` tokens: what plan reckons with.
  static Index bytes_of_row(Index vocab_size, Index nonzeros, Index tokens);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace posgeom
