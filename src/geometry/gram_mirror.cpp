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

/// Calls body(i, j) for the elements a_ij, i > j, of a block pair, by small squares: a cache line of each of their columns is read, and one
/// of their mirror image's written.
template <class Body>
void each_element(const BlockCyclic::Run& row, const BlockCyclic::Run& column, Body body) {
  constexpr Index side = 8;
  const bool diagonal = row.global == column.global;
  for (Index i_begin = 0; i_begin < row.count; i_begin += side) {
    for (Index j_begin = 0; j_begin < (diagonal ? i_begin + 1 : column.count); j_begin += side) {
      for (Index i = i_begin; i < std::min(i_begin + side, row.count); ++i) {
        const Index end = std::min(j_begin + side, diagonal ? i : column.count);
        for (Index j = j_begin; j < end; ++j) body(i, j);
      }
    }
  }
}

/// Where the mirror image of a block pair begins here.
struct Mirrored {
  Mirrored(const DistributedMatrix& a, const BlockCyclic::Run& from_row, const BlockCyclic::Run& from_column)
      : row(a.row_axis().local(from_column.global)), column(a.column_axis().local(from_row.global)) {}
  Index row;
  Index column;
};

void mirror_own(DistributedMatrix& a, Place mine) {
  each_block(a, mine, mine, [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
    const Mirrored to(a, row, column);
    each_element(row, column, [&](Index i, Index j) { a.local(to.row + j, to.column + i) = a.local(row.local + i, column.local + j); });
  });
}

}  // namespace

void mirror_lower_triangle(DistributedMatrix& a) {
  expects(a.rows() == a.columns(), "a square matrix");
  const ProcessGrid& grid = a.grid();
  const Communicator& comm = grid.communicator();
  const Place mine{grid.row(), grid.column()};
  mirror_own(a, mine);
  for (int step = 1; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size();
    const int from = (comm.rank() + comm.size() - step) % comm.size();
    std::vector<double> outgoing;
    std::vector<double> incoming;
    collective(comm, "forming the Gram matrix", [&] {
      const auto count = [&](Place sender, Place receiver) {
        Index elements = 0;
        each_block(a, sender, receiver,
                   [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) { elements += row.count * column.count; });
        return static_cast<std::size_t>(elements);
      };
      outgoing.resize(count(mine, place_of(grid, to)));
      incoming.resize(count(place_of(grid, from), mine));
    });
    // Blocks on the diagonal are their own rank's: these are whole, column by column.
    double* next = outgoing.data();
    each_block(a, mine, place_of(grid, to), [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
      for (Index j = 0; j < column.count; ++j, next += row.count) std::copy_n(&a.local(row.local, column.local + j), row.count, next);
    });
    exchange(comm, std::span<const double>(outgoing), to, std::span(incoming), from);
    next = incoming.data();
    each_block(a, place_of(grid, from), mine, [&](const BlockCyclic::Run& row, const BlockCyclic::Run& column) {
      const Mirrored here(a, row, column);
      each_element(row, column, [&](Index i, Index j) { a.local(here.row + j, here.column + i) = next[j * row.count + i]; });
      next += row.count * column.count;
    });
  }
}

}  // namespace posgeom
