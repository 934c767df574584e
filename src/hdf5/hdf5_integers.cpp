// Datasets of integers that somebody else wrote, read in ranges.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "hdf5/hdf5.hpp"
#include "posgeom/error.hpp"

namespace posgeom::hdf5 {
namespace {

constexpr Index largest_chunk = Index{256} << 20;

bool is_integers(hid_t dataset) {
  const Handle type(checked(H5Dget_type(dataset), "reading the type of", dataset), H5Tclose);
  const Handle space(checked(H5Dget_space(dataset), "reading the shape of", dataset), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  return H5Tget_class(type) == H5T_INTEGER && (dimensions == 1 || dimensions == 2);
}

[[noreturn]] void refuse(hid_t dataset, std::string_view found, std::string_view remedy) {
  throw Error(fmt::format("the data set {} {}; {}", place_of(dataset), found, remedy));
}

/// Elements of the shape. A header may claim any extent: the product is checked before it is formed.
Index elements_of(hid_t dataset, const std::vector<Index>& shape) {
  Index elements = 1;
  for (const Index extent : shape) {
    if (extent < 0 || (extent > 0 && elements > std::numeric_limits<Index>::max() / 16 / extent)) {
      refuse(dataset, "claims more elements than any file can hold", "its header is damaged");
    }
    elements *= extent;
  }
  return elements;
}

/// That every element is in the file: else HDF5 gives fill values for what was never written, or reads other files.
void check_stored(hid_t dataset, const std::vector<Index>& shape, int width) {
  const Handle creation(checked(H5Dget_create_plist(dataset), "reading the layout of", dataset), H5Pclose);
  const Index elements = elements_of(dataset, shape);
  const H5D_layout_t layout = H5Pget_layout(creation);
  if (layout == H5D_VIRTUAL || (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) > 0)) {
    refuse(dataset, "takes its elements from other files", "copy it into one file, for example with h5repack");
  }
  const auto stored = static_cast<Index>(H5Dget_storage_size(dataset));
  if (elements == 0) return;
  if (layout == H5D_CHUNKED) {
    std::array<hsize_t, 2> chunk{1, 1};
    const int dimensions = static_cast<int>(shape.size());
    checked(H5Pget_chunk(creation, dimensions, chunk.data()), "reading the layout of", dataset);
    Index expected = 1, bytes = width;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const auto extent = static_cast<Index>(std::max<hsize_t>(chunk[k], 1));
      expected *= (shape[k] + extent - 1) / extent;
      bytes *= extent;  // HDF5 keeps a chunk below 4 GiB
    }
    if (bytes > largest_chunk) {
      refuse(dataset, fmt::format("has chunks of {} bytes, and one must fit in memory", bytes),
             "rewrite it with smaller ones, for example with h5repack -l CHUNK=1048576");
    }
    hsize_t chunks = 0;
    const Handle space(checked(H5Dget_space(dataset), "reading the layout of", dataset), H5Sclose);
    checked(H5Dget_num_chunks(dataset, space, &chunks), "reading the layout of", dataset);
    if (static_cast<Index>(chunks) < expected) {
      refuse(dataset, fmt::format("has {} of its {} chunks, the others were never written", chunks, expected), "write it in full");
    }
  } else if (stored < elements * width) {
    refuse(dataset, fmt::format("has {} of its {} bytes, the others were never written", stored, elements * width), "write it in full");
  }
}

/// The dataset again, with a cache for the chunks that neighbouring reads share: a chunk that is not in it is decompressed at every read.
Handle open_with_cache(hid_t file, const std::string& name, hid_t plain, const std::vector<Index>& shape, int width) {
  const Handle creation(checked(H5Dget_create_plist(plain), "reading the layout of", plain), H5Pclose);
  std::array<hsize_t, 2> chunk{1, 1};
  Index bytes = width;
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    checked(H5Pget_chunk(creation, static_cast<int>(shape.size()), chunk.data()), "reading the layout of", plain);
    for (const hsize_t extent : chunk) bytes *= static_cast<Index>(extent);
    // A row of the data set crosses so many of them.
    if (shape.size() == 2) bytes = std::min(largest_chunk, bytes * (shape[1] / static_cast<Index>(chunk[1]) + 1));
  }
  const Handle access(checked(H5Pcreate(H5P_DATASET_ACCESS), "describing", file, name), H5Pclose);
  const auto cache = static_cast<std::size_t>(std::max(2 * bytes, Index{1} << 20));
  checked(H5Pset_chunk_cache(access, 521, cache, 1.0), "describing", file, name);
  return {checked(H5Dopen2(file, name.c_str(), access), "opening", file, name), H5Dclose};
}

/// Elements [column, column + count) of one row, or `count` rows.
void read_block(const IntegerDataset& dataset, hid_t type, std::array<hsize_t, 2> start, std::array<hsize_t, 2> count, void* values) {
  const Handle file_space(checked(H5Dget_space(dataset.handle), "reading", dataset.handle), H5Sclose);
  checked(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "reading", dataset.handle);
  const auto dimensions = static_cast<int>(dataset.shape.size());
  const Handle memory_space(checked(H5Screate_simple(dimensions, count.data(), nullptr), "reading", dataset.handle), H5Sclose);
  checked(H5Dread(dataset.handle, type, memory_space, file_space, H5P_DEFAULT, values), "reading", dataset.handle);
}

}  // namespace

hid_t native_integer(int width, bool is_signed) {
  switch (width) {
    case 1:
      return is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
    case 2:
      return is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    case 4:
      return is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    default:
      expects(width == 8, "integers of 1, 2, 4 or 8 bytes");
      return is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
}

IntegerDataset open_integers(hid_t file, const std::string& name) {
  IntegerDataset dataset;
  dataset.handle = open_dataset(file, name);
  const Handle type(checked(H5Dget_type(dataset.handle), "reading the type of", dataset.handle), H5Tclose);
  if (H5Tget_class(type) != H5T_INTEGER) refuse(dataset.handle, "holds no integers", "token ids must be stored as integers");
  dataset.shape = shape_of(dataset.handle);
  if (dataset.shape.empty() || dataset.shape.size() > 2) {
    refuse(dataset.handle, fmt::format("has {} dimensions", dataset.shape.size()), "expected one, or two whose rows are documents");
  }
  const std::size_t width = H5Tget_size(type);
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    refuse(dataset.handle, fmt::format("has integers of {} bytes", width), "expected 1, 2, 4 or 8");
  }
  dataset.width = static_cast<int>(width);
  dataset.is_signed = H5Tget_sign(type) == H5T_SGN_2;
  check_stored(dataset.handle, dataset.shape, dataset.width);
  Handle cached = open_with_cache(file, name, dataset.handle, dataset.shape, dataset.width);
  dataset.handle = std::move(cached);
  return dataset;
}

void read_range(const IntegerDataset& dataset, int width, Index first, Index count, void* values) {
  const hid_t type = native_integer(width, dataset.is_signed);
  auto* out = static_cast<char*>(values);
  if (dataset.shape.size() == 1) {
    if (count > 0) read_block(dataset, type, {static_cast<hsize_t>(first), 0}, {static_cast<hsize_t>(count), 0}, out);
    return;
  }
  const Index row_length = dataset.shape[1];
  while (count > 0) {
    const Index row = first / row_length, column = first % row_length;
    const bool whole = column == 0 && count >= row_length;  // then as many rows as there are, in one read
    const Index rows = whole ? count / row_length : 1, columns = whole ? row_length : std::min(count, row_length - column);
    read_block(dataset, type, {static_cast<hsize_t>(row), static_cast<hsize_t>(column)},
               {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)}, out);
    first += rows * columns;
    count -= rows * columns;
    out += rows * columns * width;
  }
}

std::vector<std::string> integer_datasets(hid_t file, std::size_t limit) {
  std::vector<std::string> names = dataset_names(file);
  std::erase_if(names, [&](const std::string& name) { return !is_integers(open_dataset(file, name)); });
  if (names.size() > limit) names.resize(limit);
  return names;
}

}  // namespace posgeom::hdf5
