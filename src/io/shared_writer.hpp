#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/hdf5.hpp"
#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom::io {

/// Rows first .. first+count-1 of a matrix, row-major, into `rows`.
using RowSource = std::function<void(Index first, Index count, std::span<double> rows)>;

/// Fills the large datasets of a file with all ranks at once, in pieces; ranks with nothing take part with an empty selection. Each
/// collective call of HDF5 stands in a collective() of its own: a rank on which one fails must not leave the others waiting in the next.
///
/// A file is gone through twice: written, then read back and compared. Open MPI's collective writing loses errors: where the rank that
/// writes for the others gets one (no space, quota, file too large), its caller is told of success (4.1.4: components vulcan, dynamic,
/// dynamic_gen2, two_phase; from two ranks on).
class SharedWriter {
 public:
  enum class Pass { write, compare };
  /// Elements that one rank hands over in one call; the buffers are of this size too.
  static constexpr Index default_piece = Index{1} << 23;

  SharedWriter(const Communicator& comm, hid_t file, Pass pass, Index piece = default_piece)
      : comm_(comm), file_(file), pass_(pass), piece_(piece) {}

  /// **Collective.** The 1-D dataset `name` from the ranks' own runs of it: this rank's is `values`, from index `first` on. Runs do not
  /// overlap; they may be empty, and of any length.
  template <class T>
  void run(const std::string& name, Index first, std::span<const T> values);
  /// **Collective.** The 2-D dataset `name` of doubles: each rank asks `source` for a slab of rows, piece by piece.
  void rows(const std::string& name, const RowSource& source);
  /// **Collective.** The dataset `name` with the SYMMETRIC matrix `a`, without a copy.
  ///
  /// The local part in memory runs down its columns; a selection in a file runs along rows. So element (i, j) is written to (j, i): the
  /// selection is this rank's columns by its rows, whose order along rows is the local part's down columns, and by symmetry the file holds
  /// `a`. It is the product of two block-cyclic axes, each full blocks at a constant stride and at most one ragged block at the end: at
  /// most four strided hyperslabs.
  void symmetric(const std::string& name, const DistributedMatrix& a);

 private:
  using Select = std::function<void(hid_t space)>;
  using Source = std::function<const void*()>;

  /// One dimension's slabs: this rank's part, and how many pieces the fullest rank's has.
  struct Slab {
    Index begin = 0;
    Index end = 0;
    Index step = 1;
    Index rounds = 0;
  };
  Slab slab_of(Index extent, Index step) const;
  /// **Collective.** The largest of the ranks' values.
  Index most(Index value) const;
  /// **Collective.** `shape`: what the caller has for it (-1: any extent).
  hdf5::Handle open(const std::string& name, std::span<const Index> shape) const;
  /// **Collective.** `count` entries of the first dimension from `first` on, whole in the others.
  void transfer_block(hid_t dataset, hid_t type, Index first, Index count, const Source& values);
  /// **Collective.** What select(space) adds to an empty selection, from or against the dense memory that values() gives.
  void transfer(hid_t dataset, hid_t type, const Select& select, const Source& values);

  const Communicator& comm_;
  hid_t file_;
  Pass pass_;
  Index piece_;
  std::vector<char> read_back_;
};

template <class T>
void SharedWriter::run(const std::string& name, Index first, std::span<const T> values) {
  const Index any[]{-1};
  const hdf5::Handle dataset = open(name, any);
  const Index size = std::ssize(values);
  const Index step = std::max<Index>(piece_, 1);
  const Index rounds = most((size + step - 1) / step);
  for (Index round = 0; round < rounds; ++round) {
    const Index begin = std::min(round * step, size);
    transfer_block(dataset, hdf5::memory_type<T>(), first + begin, std::min(step, size - begin), [&] { return values.data() + begin; });
  }
}

}  // namespace posgeom::io
