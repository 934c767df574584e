#include "counts/position_table.hpp"

#include <algorithm>
#include <variant>

#include "counts/columns.hpp"
#include "counts/rows.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index most_ids = 65535 - 255;     ///< of a column: a larger one is not counted faster
constexpr Index narrow_vocabulary = 65536;  ///< ids of so many fit into 16 bits

/// The table, of ids of one width.
template <class Id>
class Table {
 public:
  Table(Index length, Index vocab_size, Index buffer_bytes) : rows(length, vocab_size), columns_(length, buffer_bytes, most_ids) {}

  template <class Source>
  void add(Index position, std::span<const Source> ids) {
    columns_.add(position, ids, sink());
  }
  template <class Source>
  void add_sequences(Index length, std::span<const Source> ids) {
    columns_.add_sequences(length, ids, sink());
  }
  void add_at(std::span<const std::uint32_t> positions, std::span<const Token> ids) { columns_.add_at(positions, ids, sink()); }
  void flush() { columns_.flush(sink()); }
  void release_columns() {
    flush();
    columns_.release();
  }
  Index column_bytes() const { return columns_.bytes(); }
  Index bytes() const { return rows.bytes() + columns_.bytes(); }

  Rows<Id> rows;

 private:
  typename Columns<Id>::Sink sink() {
    return [this](Index position, std::span<const Id> ids) { rows.count(position, ids); };
  }

  Columns<Id> columns_;
};

}  // namespace

struct PositionTable::State {
  std::variant<Table<std::uint16_t>, Table<Token>> table;

  State(Index length, Index vocab_size, Index buffer_bytes)
      : table(vocab_size <= narrow_vocabulary ? decltype(table)(std::in_place_index<0>, length, vocab_size, buffer_bytes)
                                              : decltype(table)(std::in_place_index<1>, length, vocab_size, buffer_bytes)) {}
  template <class Visit>
  auto visit(Visit&& visit) {
    return std::visit(visit, table);
  }
};

PositionTable::PositionTable(Index length, Index vocab_size, Index buffer_bytes) {
  expects(length >= 0 && vocab_size >= 0 && buffer_bytes >= 0, "a table's extents are not negative");
  state_ = std::make_unique<State>(length, vocab_size, buffer_bytes);
}
PositionTable::~PositionTable() = default;
PositionTable::PositionTable(PositionTable&&) noexcept = default;
PositionTable& PositionTable::operator=(PositionTable&&) noexcept = default;

void PositionTable::add(Index position, std::span<const std::uint16_t> ids) {
  state_->visit([&](auto& table) { table.add(position, ids); });
}

void PositionTable::add(Index position, std::span<const Token> ids) {
  state_->visit([&](auto& table) { table.add(position, ids); });
}

void PositionTable::add_sequences(Index length, std::span<const std::uint16_t> ids) {
  state_->visit([&](auto& table) { table.add_sequences(length, ids); });
}

void PositionTable::add_sequences(Index length, std::span<const Token> ids) {
  state_->visit([&](auto& table) { table.add_sequences(length, ids); });
}

void PositionTable::add_at(std::span<const std::uint32_t> positions, std::span<const Token> ids) {
  state_->visit([&](auto& table) { table.add_at(positions, ids); });
}

void PositionTable::flush() {
  state_->visit([](auto& table) { table.flush(); });
}

void PositionTable::release_columns() {
  state_->visit([](auto& table) { table.release_columns(); });
}

Index PositionTable::column_bytes() const {
  return state_->visit([](const auto& table) { return table.column_bytes(); });
}

Index PositionTable::bytes() const {
  return state_->visit([](const auto& table) { return table.bytes(); });
}

Index PositionTable::row_bytes(Index first, Index count) const {
  return state_->visit([&](const auto& table) { return table.rows.bytes(first, count); });
}

void PositionTable::append_row(Index position, std::vector<Token>& token, std::vector<Count>& count) const {
  state_->visit([&](const auto& table) { table.rows.append(position, token, count); });
}

Index PositionTable::nonzeros(Index position) const {
  return state_->visit([&](const auto& table) { return table.rows.nonzeros(position); });
}

RowCells PositionTable::row_cells(Index position) const {
  return state_->visit([&](const auto& table) { return table.rows.row_cells(position); });
}

void PositionTable::add_cells(Index position, int bits, Index first, std::span<const std::byte> cells, Count tokens) {
  state_->visit([&](auto& table) { table.rows.add_cells(position, bits, first, cells, tokens); });
}

void PositionTable::add_row(Index position, std::span<const Token> token, std::span<const Count> count) {
  state_->visit([&](auto& table) { table.rows.add(position, token, count); });
}

void PositionTable::clear_row(Index position) {
  state_->visit([&](auto& table) { table.rows.clear(position); });
}

Index PositionTable::bytes_of_row(Index vocab_size, Index nonzeros, Index tokens) {
  // So many ids at most occur so often.
  const Index carried = std::min(nonzeros, tokens / 256);
  const Index carried_far = std::min(nonzeros, tokens / 65536);
  return vocab_size <= narrow_vocabulary ? Rows<std::uint16_t>::bytes_of(vocab_size, nonzeros, carried, carried_far, tokens)
                                         : Rows<Token>::bytes_of(vocab_size, nonzeros, carried, carried_far, tokens);
}

}  // namespace posgeom
