#include "posgeom/io/encoding_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "hdf5/hdf5.hpp"
#include "io/broadcast.hpp"
#include "io/npy.hpp"
#include "io/posix.hpp"

namespace posgeom {
namespace {

FileMatrix read_hdf5(const std::string& path, const std::string& dataset) {
  const hdf5::Handle file = hdf5::open_to_read(path);
  if (!hdf5::exists(file, dataset)) {
    throw Error(fmt::format("reading {}: no dataset `{}`; at its top it has: {}. Name one as NAME=file:PATH:DATASET", path, dataset,
                            fmt::join(hdf5::names_in(file, "/", 20), ", ")));
  }
  const hdf5::Handle opened = hdf5::open_dataset(file, dataset);
  const hdf5::Handle type(hdf5::checked(H5Dget_type(opened), "reading", opened), H5Tclose);
  const std::size_t bytes = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_FLOAT || (bytes != 2 && bytes != 4 && bytes != 8)) {
    throw Error(fmt::format("reading {}: the entries of {} are {} of {} bits, expected floats of 16, 32 or 64 bits", path, dataset,
                            H5Tget_class(type) == H5T_FLOAT     ? "floats"
                            : H5Tget_class(type) == H5T_INTEGER ? "integers"
                                                                : "no numbers, but values",
                            8 * bytes));
  }
  const std::vector<Index> shape = hdf5::shape_of(opened);
  if (shape.size() != 2) {
    throw Error(fmt::format("reading {}: the shape of {} is ({}), expected a matrix: a row for each position", path, dataset,
                            fmt::join(shape, ", ")));
  }
  FileMatrix matrix{shape[0], shape[1], std::vector<double>(static_cast<std::size_t>(shape[0] * shape[1]))};
  hdf5::read(opened, H5T_NATIVE_DOUBLE, matrix.values.data());
  return matrix;
}

void expect_finite(const FileMatrix& matrix, const std::string& path) {
  for (std::size_t k = 0; k < matrix.values.size(); ++k) {
    if (std::isfinite(matrix.values[k])) continue;
    const auto place = static_cast<Index>(k);
    throw Error(fmt::format("reading {}: the entry in row {}, column {} (from 0) is {}, expected finite numbers", path,
                            place / matrix.columns, place % matrix.columns, matrix.values[k]));
  }
}

FileMatrix read_on_root(const std::string& path, const std::string& dataset) {
  std::array<char, 2> start{};
  {
    const io::Descriptor file = io::open_for_reading(path);
    io::read_at(file, path, 0, std::span(start).first(std::min(start.size(), static_cast<std::size_t>(io::file_size(file, path)))));
  }
  FileMatrix matrix;
  if (io::is_npy(path)) {
    if (!dataset.empty()) throw Error(fmt::format("reading {}: a .npy file has no datasets, but `{}` was asked for", path, dataset));
    matrix = io::read_npy(path);
  } else if (start == std::array{'P', 'K'}) {
    throw Error(fmt::format(
        "reading {}: a zip archive (.npz, or a PyTorch checkpoint), expected .npy or HDF5; save the matrix with numpy.save", path));
  } else if (const hdf5::Silence silence; H5Fis_hdf5(path.c_str()) > 0) {
    matrix = read_hdf5(path, dataset.empty() ? "encoding" : dataset);
  } else {
    throw Error(fmt::format("reading {}: neither a .npy nor an HDF5 file; save the matrix with numpy.save or h5py", path));
  }
  expect_finite(matrix, path);
  return matrix;
}

}  // namespace

FileMatrix read_encoding_file(const Communicator& comm, const std::string& path, const std::string& dataset) {
  FileMatrix matrix =
      collective(comm, "reading the encoding " + path, [&] { return comm.is_root() ? read_on_root(path, dataset) : FileMatrix{}; });
  io::broadcast_all(comm, matrix.rows, matrix.columns, matrix.values);
  return matrix;
}

}  // namespace posgeom
