#include "io/shared_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>

#include "posgeom/mpi/collective.hpp"

namespace posgeom::io {
namespace {

/// One dimension of a strided hyperslab.
struct Stripe {
  Index start = 0, stride = 1, count = 0, block = 1;
};

/// A process's share of an axis from its local index `first` (a multiple of the block) on, `count` entries: full blocks, and the ragged
/// last one where it is among them.
std::vector<Stripe> stripes_of(const BlockCyclic& axis, Index first, Index count) {
  std::vector<Stripe> stripes;
  const Index stride = axis.block * axis.processes;
  const Index start = axis.process * axis.block + first / axis.block * stride;
  const Index full = count / axis.block;
  const Index ragged = count % axis.block;
  if (full > 0) stripes.push_back({start, stride, full, axis.block});
  if (ragged > 0) stripes.push_back({start + full * stride, stride, 1, ragged});
  return stripes;
}

void add_hyperslab(hid_t space, const Stripe& rows, const Stripe& columns) {
  using Pair = std::array<hsize_t, 2>;
  const auto pair = [](Index a, Index b) { return Pair{static_cast<hsize_t>(a), static_cast<hsize_t>(b)}; };
  const Pair start = pair(rows.start, columns.start);
  const Pair stride = pair(rows.stride, columns.stride);
  const Pair count = pair(rows.count, columns.count);
  const Pair block = pair(rows.block, columns.block);
  hdf5::checked(H5Sselect_hyperslab(space, H5S_SELECT_OR, start.data(), stride.data(), count.data(), block.data()), "selecting places");
}

}  // namespace

SharedWriter::Slab SharedWriter::slab_of(Index extent, Index step) const {
  const Index share = extent / comm_.size();
  const Index more = extent % comm_.size();  // the first so many ranks have one more
  Slab slab;
  slab.begin = comm_.rank() * share + std::min<Index>(comm_.rank(), more);
  slab.end = slab.begin + share + (comm_.rank() < more ? 1 : 0);
  slab.step = std::max<Index>(step, 1);
  slab.rounds = (share + (more > 0 ? 1 : 0) + slab.step - 1) / slab.step;
  return slab;
}

Index SharedWriter::most(Index value) const { return all_reduce(comm_, value, Reduction::maximum); }

hdf5::Handle SharedWriter::open(const std::string& name, std::span<const Index> shape) const {
  hdf5::Handle dataset = collective(comm_, "opening a dataset", [&] { return hdf5::open_dataset(file_, name); });
  collective(comm_, "opening a dataset", [&] {
    const std::vector<Index> found = hdf5::shape_of(dataset);
    const bool equal =
        std::equal(found.begin(), found.end(), shape.begin(), shape.end(), [](Index a, Index b) { return b == -1 || a == b; });
    expects(equal, fmt::format("{} has shape [{}] on the root, [{}] on rank {}", name, fmt::join(found, ", "), fmt::join(shape, ", "),
                               comm_.rank()));
  });
  return dataset;
}

void SharedWriter::transfer(hid_t dataset, hid_t type, const Select& select, const Source& values) {
  const void* source = nullptr;
  hdf5::Handle space;
  std::size_t bytes = 0;
  collective(comm_, "preparing to write a dataset", [&] {
    space = hdf5::Handle(hdf5::checked(H5Dget_space(dataset), "writing", dataset), H5Sclose);
    hdf5::checked(H5Sselect_none(space), "writing", dataset);
    select(space);
    bytes = static_cast<std::size_t>(hdf5::checked(H5Sget_select_npoints(space), "writing", dataset)) * H5Tget_size(type);
    if (bytes > 0) source = values();
    if (pass_ == Pass::compare && read_back_.size() < bytes) read_back_.resize(bytes);
  });
  if (pass_ == Pass::write) {
    collective(comm_, "writing a dataset", [&] { hdf5::write_together(dataset, type, space, source); });
    return;
  }
  collective(comm_, "reading a dataset back", [&] { hdf5::read_together(dataset, type, space, read_back_.data()); });
  collective(comm_, "comparing a dataset", [&] {
    if (bytes == 0 || std::memcmp(source, read_back_.data(), bytes) == 0) return;
    throw Error(fmt::format(
        "writing {}: what rank {} reads back is not what was written, though MPI-IO reported no error; is the disk or a quota full, or "
        "the size of files limited (ulimit -f)?",
        hdf5::place_of(dataset), comm_.rank()));
  });
}

void SharedWriter::transfer_block(hid_t dataset, hid_t type, Index first, Index count, const Source& values) {
  const auto select = [&](hid_t space) {
    if (count == 0) return;
    const std::vector<Index> shape = hdf5::shape_of(dataset);
    // HDF5 would refuse it on this rank alone, while the others wait in MPI-IO.
    expects(0 <= first && first + count <= shape[0], "what is written lies within the dataset");
    std::vector<hsize_t> start(shape.size(), 0);
    std::vector<hsize_t> extent(shape.begin(), shape.end());
    start[0] = static_cast<hsize_t>(first);
    extent[0] = static_cast<hsize_t>(count);
    hdf5::checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), "writing", dataset);
  };
  transfer(dataset, type, select, values);
}

void SharedWriter::rows(const std::string& name, const RowSource& source) {
  const std::array<Index, 2> any{-1, -1};
  const hdf5::Handle dataset = open(name, any);
  const std::vector<Index> shape = hdf5::shape_of(dataset);
  if (shape[1] == 0) return;
  const Slab slab = slab_of(shape[0], piece_ / shape[1]);
  std::vector<double> piece;
  for (Index round = 0; round < slab.rounds; ++round) {
    const Index first = std::min(slab.begin + round * slab.step, slab.end);
    const Index count = std::min(slab.step, slab.end - first);
    transfer_block(dataset, hdf5::memory_type<double>(), first, count, [&] {
      piece.resize(static_cast<std::size_t>(count * shape[1]));
      source(first, count, piece);
      return static_cast<const void*>(piece.data());
    });
  }
}

void SharedWriter::symmetric(const std::string& name, const DistributedMatrix& a) {
  const std::array<Index, 2> shape{a.columns(), a.rows()};
  const hdf5::Handle dataset = open(name, shape);
  // Panels of whole blocks of columns, as many rounds on every rank as the fullest one has.
  const Index fullest_rows = BlockCyclic{a.rows(), a.block(), a.row_axis().processes, 0}.local_extent();
  const Index fullest_columns = BlockCyclic{a.columns(), a.block(), a.column_axis().processes, 0}.local_extent();
  const Index width = std::max<Index>(1, piece_ / std::max<Index>(1, fullest_rows) / a.block()) * a.block();
  for (Index begin = 0; begin < fullest_columns; begin += width) {
    const Index first = std::min(begin, a.local_columns());
    const Index count = std::min(width, a.local_columns() - first);
    const auto select = [&](hid_t space) {
      expects(a.rows() == a.columns(), "a symmetric matrix is square");
      for (const Stripe& column : stripes_of(a.column_axis(), first, count)) {
        for (const Stripe& row : stripes_of(a.row_axis(), 0, a.local_rows())) add_hyperslab(space, column, row);
      }
      expects(a.local_rows() * count == H5Sget_select_npoints(space), "the selection is the panel");
    };
    transfer(dataset, hdf5::memory_type<double>(), select, [&] { return a.data().data() + first * a.leading_dimension(); });
  }
}

}  // namespace posgeom::io
