#include "posgeom/io/encoding_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "hdf5/hdf5.hpp"
#include "io/broadcast.hpp"
#include "io/npy.hpp"
#include "io/posix.hpp"
#include "io/safetensors.hpp"

namespace posgeom {
namespace {

/// The floats of an HDF5 dataset of two or three dimensions, with their shape.
struct FloatArray {
  std::vector<Index> shape;
  std::vector<double> values;
  std::vector<std::int64_t> step;  ///< of the dataset beside it; empty where there is none
};

/// The dataset `step` beside `dataset`, for `count` matrices.
std::vector<std::int64_t> read_steps(hid_t file, const std::string& path, const std::string& dataset, Index count) {
  const std::size_t slash = dataset.find_last_of('/');
  const std::string name = (slash == std::string::npos ? std::string() : dataset.substr(0, slash + 1)) + "step";
  if (!hdf5::exists(file, name)) return {};
  const hdf5::IntegerDataset opened = hdf5::open_integers(file, name);
  if (opened.shape.size() != 1 || opened.shape[0] != count) {
    throw Error(fmt::format("reading {}: the shape of {} is ({}), expected ({}): a number for each step of {}", path, name,
                            fmt::join(opened.shape, ", "), count, dataset));
  }
  std::vector<std::int64_t> step(static_cast<std::size_t>(count));
  hdf5::read_range(opened, sizeof(std::int64_t), 0, count, step.data());
  for (std::size_t k = 0; k < step.size(); ++k) {
    if (step[k] >= 0 && (k == 0 || step[k] > step[k - 1])) continue;
    throw Error(fmt::format("reading {}: {} holds {} at index {}, expected ascending numbers from 0", path, name, step[k], k));
  }
  return step;
}

FloatArray read_hdf5(const std::string& path, const std::string& dataset, bool series) {
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
  FloatArray array;
  array.shape = hdf5::shape_of(opened);
  const bool steps = series && array.shape.size() == 3 && array.shape[0] > 0;
  if (array.shape.size() != 2 && !steps) {
    throw Error(fmt::format("reading {}: the shape of {} is ({}), expected a matrix: a row for each position{}", path, dataset,
                            fmt::join(array.shape, ", "), series ? "; or several, with a leading axis of steps" : ""));
  }
  std::size_t count = 1;
  for (const Index extent : array.shape) count *= static_cast<std::size_t>(extent);
  array.values.resize(count);
  hdf5::read(opened, H5T_NATIVE_DOUBLE, array.values.data());
  if (steps) array.step = read_steps(file, path, dataset, array.shape[0]);
  return array;
}

/// Keeps some rows, all of whose entries must be finite.
FileMatrix selected(FileMatrix matrix, const RowRange& rows, const std::string& path) {
  expects(rows.begin >= 0 && (rows.end == -1 || rows.end > rows.begin), "rows in order");
  const Index end = rows.end == -1 ? matrix.rows : rows.end;
  if (end > matrix.rows || rows.begin > end) {
    throw Error(fmt::format("reading {}: rows [{}:{}] were asked for, it has {}", path, rows.begin,
                            rows.end == -1 ? std::string() : std::to_string(end), matrix.rows));
  }
  if (end - rows.begin < matrix.rows) {
    matrix.values.erase(matrix.values.begin() + end * matrix.columns, matrix.values.end());
    matrix.values.erase(matrix.values.begin(), matrix.values.begin() + rows.begin * matrix.columns);
    matrix.rows = end - rows.begin;
  }
  for (std::size_t k = 0; k < matrix.values.size(); ++k) {
    if (std::isfinite(matrix.values[k])) continue;
    const auto place = static_cast<Index>(k);
    throw Error(fmt::format("reading {}: the entry in row {}, column {} (from 0) is {}, expected finite numbers", path,
                            rows.begin + place / matrix.columns, place % matrix.columns, matrix.values[k]));
  }
  return matrix;
}

/// Pickles run code when they are read, so PyTorch alone should read them.
[[noreturn]] void refuse_pickle(const std::string& path, const std::string& found) {
  throw Error(
      fmt::format("reading {}: {}, expected .npy, HDF5 or safetensors; convert it: python3 -c \"import torch, numpy; "
                  "numpy.save('positions.npy', torch.load('{}', map_location='cpu')['TENSOR'].float().numpy())\"",
                  path, found, path));
}

/// Files that are known by their beginning or their name and cannot be read here.
void refuse_others(const std::string& path, const std::array<char, 4>& start) {
  const auto named = [&](std::initializer_list<const char*> ends) {
    return std::ranges::any_of(ends, [&](const char* end) { return path.ends_with(end); });
  };
  const bool zip = start[0] == 'P' && start[1] == 'K';
  if (zip && named({".npz"})) {
    throw Error(
        fmt::format("reading {}: a zip archive of arrays (.npz), expected .npy, HDF5 or safetensors; convert it: python3 -c "
                    "\"import numpy; numpy.save('positions.npy', numpy.load('{}')['ARRAY'])\"",
                    path, path));
  }
  if (zip) refuse_pickle(path, "a zip archive, such as a PyTorch checkpoint");
  const bool pickle = start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
  if (pickle || named({".pt", ".pth", ".bin", ".ckpt"})) refuse_pickle(path, "a pickle, such as a PyTorch checkpoint");
}

FileSeries single(FileMatrix matrix) { return {{}, matrix.rows, matrix.columns, std::move(matrix.values)}; }

/// The steps' matrices, some rows of each.
FileSeries selected_steps(FloatArray array, const RowRange& rows, const std::string& path) {
  FileSeries series;
  series.step = std::move(array.step);
  const Index size = array.shape[1] * array.shape[2];
  for (Index k = 0; k < array.shape[0]; ++k) {
    if (std::ssize(series.step) == k) series.step.push_back(k);
    const auto begin = array.values.begin() + k * size;
    const std::string place = fmt::format("{}, step {}", path, series.step[static_cast<std::size_t>(k)]);
    const FileMatrix matrix = selected({array.shape[1], array.shape[2], std::vector<double>(begin, begin + size)}, rows, place);
    series.rows = matrix.rows;
    series.columns = matrix.columns;
    series.values.insert(series.values.end(), matrix.values.begin(), matrix.values.end());
  }
  return series;
}

/// `series`: a leading axis of steps is allowed.
FileSeries read_on_root(const std::string& path, const std::string& dataset, const RowRange& rows, bool series) {
  std::array<char, 4> start{};
  {
    const io::Descriptor file = io::open_for_reading(path);
    io::read_at(file, path, 0, std::span(start).first(std::min(start.size(), static_cast<std::size_t>(io::file_size(file, path)))));
  }
  if (io::is_npy(path)) {
    if (!dataset.empty()) throw Error(fmt::format("reading {}: a .npy file has no datasets, but `{}` was asked for", path, dataset));
    return single(selected(io::read_npy(path), rows, path));
  }
  if (const hdf5::Silence silence; H5Fis_hdf5(path.c_str()) > 0) {
    FloatArray array = read_hdf5(path, dataset.empty() ? "encoding" : dataset, series);
    if (array.shape.size() == 3) return selected_steps(std::move(array), rows, path);
    return single(selected({array.shape[0], array.shape[1], std::move(array.values)}, rows, path));
  }
  if (io::is_safetensors(path)) return single(selected(io::read_safetensors(path, dataset), rows, path));
  refuse_others(path, start);
  throw Error(fmt::format("reading {}: neither a .npy nor an HDF5 nor a safetensors file; save the matrix with numpy.save or h5py", path));
}

}  // namespace

FileMatrix read_encoding_file(const Communicator& comm, const std::string& path, const std::string& dataset, const RowRange& rows) {
  FileMatrix matrix = collective(comm, "reading the encoding " + path, [&] {
    if (!comm.is_root()) return FileMatrix{};
    FileSeries one = read_on_root(path, dataset, rows, false);
    return FileMatrix{one.rows, one.columns, std::move(one.values)};
  });
  io::broadcast_all(comm, matrix.rows, matrix.columns, matrix.values);
  return matrix;
}

FileSeries read_encoding_series(const Communicator& comm, const std::string& path, const std::string& dataset, const RowRange& rows) {
  FileSeries series = collective(comm, "reading the encoding " + path,
                                 [&] { return comm.is_root() ? read_on_root(path, dataset, rows, true) : FileSeries{}; });
  io::broadcast_all(comm, series.step, series.rows, series.columns);
  return series;
}

}  // namespace posgeom
