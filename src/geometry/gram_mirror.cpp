#include "geometry/gram_mirror.hpp"

#include <algorithm>
#include <vector>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// The place of a rank in the grid (row-major).
struct Place {
  int row = 0;
  int column = 0;
};

Place place_of(const ProcessGrid& grid, int rank) { return {rank / grid.columns(), rank % grid.columns()}; }

/// Calls body(i, j) for the global indices below the diagonal that rank `from` of the grid holds and whose mirror images are rank `to`'s:
/// the same order on both.
template <class Body>
void each_block(const DistributedMatrix& a, Place from, Place to, Body body) {
  BlockCyclic rows = a.row_axis();
  BlockCyclic columns = a.column_axis();
  rows.process = from.row;
  columns.process = from.column;
  const std::vector<BlockCyclic::Run> row_blocks = rows.blocks();
  for (const BlockCyclic::Run& column : columns.blocks()) {
    if (a.row_axis().owner(column.global) != to.row) continue;
    for (const BlockCyclic::Run& row : row_blocks) {
      if (row.global >= column.global && a.column_axis().owner(row.global) == to.column) body(row, column);
    }
  }
}

/// The element a_ij, i > j, of a block pair, in the order of the messages.
template <class Body>
void each_element(const BlockCyclic::Run& row, const BlockCyclic::Run& column, Body body) {
  for (Index j = 0; j < column.count; ++j) {
    for (Index i = row.global == column.global ? j + 1 : 0; i < row.count; ++i) body(i, j);
  }
}

}  // namespace

void mirror_lower_triangle(DistributedMatrix& a) {
  expects(a.rows() == a.columns(), "a square matrix");
  const ProcessGrid& grid = a.grid();
  const Communicator& comm = grid.communicator();
  const Place mine{grid.row(), grid.column()};
  for (int step = 0; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size();
    const int from = (comm.rank() + comm.size() - step) % comm.size();
    std::vector<double> outgoing;
    std::vector<double> incoming;
    collective(comm, "forming the Gram matrix", [&] {
      each_block(a, mine, place_of(grid, to), [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
        each_element(row, column, [&](Index i, Index j) { outgoing.push_back(a.local(row.local + i, column.local + j)); });
      });
      Index count = 0;
      each_block(a, place_of(grid, from), mine, [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
        each_element(row, column, [&](Index, Index) { ++count; });
      });
      incoming.resize(static_cast<std::size_t>(count));
    });
    if (step == 0) {
      incoming = outgoing;
    } else {
      exchange(comm, std::span<const double>(outgoing), to, std::span(incoming), from);
    }
    auto next = incoming.begin();
    each_block(a, place_of(grid, from), mine, [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
      const Index mirrored_row = a.row_axis().local(column.global);
      const Index mirrored_column = a.column_axis().local(row.global);
      each_element(row, column, [&](Index i, Index j) { a.local(mirrored_row + j, mirrored_column + i) = *next++; });
    });
  }
}

}  // namespace posgeom
