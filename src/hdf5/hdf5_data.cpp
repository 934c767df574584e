// Datasets and attributes.
#include <algorithm>
#include <array>

#include "hdf5/hdf5.hpp"
#include "posgeom/error.hpp"

namespace posgeom::hdf5 {
namespace {

Handle simple_space(std::span<const Index> shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {checked(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), "describing a shape"), H5Sclose};
}

bool is_empty(hid_t dataset) {
  const std::vector<Index> shape = shape_of(dataset);
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

void write_scalar(hid_t object, const std::string& name, hid_t stored, hid_t type, const void* value) {
  const Handle space(checked(H5Screate(H5S_SCALAR), "describing", object, name), H5Sclose);
  const Handle attribute(
      checked(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT), "writing the attribute", object, name), H5Aclose);
  checked(H5Awrite(attribute, type, value), "writing the attribute", object, name);
}

/// The memory's side of a collective transfer.
struct DenseMemory {
  DenseMemory(hid_t dataset, hid_t file_space) {
    const auto selected = static_cast<hsize_t>(checked(H5Sget_select_npoints(file_space), "selecting in", dataset));
    const hsize_t extent = std::max<hsize_t>(selected, 1);
    space = Handle(checked(H5Screate_simple(1, &extent, nullptr), "selecting in", dataset), H5Sclose);
    if (selected == 0) checked(H5Sselect_none(space), "selecting in", dataset);
    transfer = Handle(checked(H5Pcreate(H5P_DATASET_XFER), "selecting in", dataset), H5Pclose);
    checked(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "selecting in", dataset);
  }
  /// HDF5 wants an address even for no elements.
  template <class Pointer>
  Pointer address(Pointer values) {
    return values == nullptr ? &nothing : values;
  }

  Handle space;
  Handle transfer;
  double nothing = 0;
};

}  // namespace

Handle text_type() {
  Handle type(checked(H5Tcopy(H5T_C_S1), "describing text"), H5Tclose);
  checked(H5Tset_size(type, H5T_VARIABLE), "describing text");
  checked(H5Tset_cset(type, H5T_CSET_UTF8), "describing text");
  return type;
}

Handle create_dataset(hid_t file, const std::string& name, hid_t type, std::span<const Index> shape) {
  const Handle space = simple_space(shape);
  const Handle links(checked(H5Pcreate(H5P_LINK_CREATE), "describing", file, name), H5Pclose);
  checked(H5Pset_create_intermediate_group(links, 1), "describing", file, name);
  const Handle creation(checked(H5Pcreate(H5P_DATASET_CREATE), "describing", file, name), H5Pclose);
  // No times: the same numbers give the same bytes.
  checked(H5Pset_obj_track_times(creation, false), "describing", file, name);
  return {checked(H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT), "creating", file, name), H5Dclose};
}

Handle open_dataset(hid_t file, const std::string& name) {
  return {checked(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "opening", file, name), H5Dclose};
}

std::vector<Index> shape_of(hid_t dataset) {
  const Handle space(checked(H5Dget_space(dataset), "reading the shape of", dataset), H5Sclose);
  std::vector<hsize_t> extents(static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space), "reading the shape of", dataset)));
  checked(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "reading the shape of", dataset);
  return {extents.begin(), extents.end()};
}

void write(hid_t dataset, hid_t type, const void* values) {
  if (is_empty(dataset)) return;
  checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "writing", dataset);
}

void read(hid_t dataset, hid_t type, void* values) {
  if (is_empty(dataset)) return;
  checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "reading", dataset);
}

void read_rows(hid_t dataset, hid_t type, Index first, Index count, void* values) {
  const std::vector<Index> shape = shape_of(dataset);
  expects(shape.size() == 2, "rows are those of a matrix");
  if (count == 0 || shape[1] == 0) return;
  const Handle file_space(checked(H5Dget_space(dataset), "reading", dataset), H5Sclose);
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
  const std::array<hsize_t, 2> extent{static_cast<hsize_t>(count), static_cast<hsize_t>(shape[1])};
  checked(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), "reading", dataset);
  const Handle memory_space(checked(H5Screate_simple(2, extent.data(), nullptr), "reading", dataset), H5Sclose);
  checked(H5Dread(dataset, type, memory_space, file_space, H5P_DEFAULT, values), "reading", dataset);
}

void write_together(hid_t dataset, hid_t type, hid_t file_space, const void* values) {
  DenseMemory memory(dataset, file_space);
  checked(H5Dwrite(dataset, type, memory.space, file_space, memory.transfer, memory.address(values)), "writing", dataset);
}

void read_together(hid_t dataset, hid_t type, hid_t file_space, void* values) {
  DenseMemory memory(dataset, file_space);
  checked(H5Dread(dataset, type, memory.space, file_space, memory.transfer, memory.address(values)), "reading", dataset);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  // Of variable length: the text lies in a heap, beyond the 64 KiB that an object's header can take.
  const Handle type = text_type();
  const char* text = value.c_str();
  write_scalar(object, name, type, type, &text);
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  write_scalar(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void write_attribute(hid_t object, const std::string& name, double value) {
  write_scalar(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void write_texts(hid_t file, const std::string& name, const std::vector<std::string>& values) {
  const std::array<Index, 1> shape{std::ssize(values)};
  const Handle type = text_type();
  const Handle dataset = create_dataset(file, name, type, shape);
  std::vector<const char*> texts(values.size());
  std::transform(values.begin(), values.end(), texts.begin(), [](const std::string& text) { return text.c_str(); });
  write(dataset, type, texts.data());
}

std::vector<std::string> read_texts(hid_t dataset) {
  const Handle stored(checked(H5Dget_type(dataset), "reading", dataset), H5Tclose);
  const std::vector<Index> shape = shape_of(dataset);
  if (H5Tis_variable_str(stored) <= 0 || shape.size() != 1) {
    H5Eclear2(H5E_DEFAULT);
    fail("reading texts, which are variable-length strings in one dimension, from", dataset, {});
  }
  std::vector<char*> texts(static_cast<std::size_t>(shape[0]), nullptr);
  const Handle type = text_type();
  read(dataset, type, texts.data());
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const char* text : texts) values.emplace_back(text == nullptr ? "" : text);
  const Handle space(checked(H5Dget_space(dataset), "reading", dataset), H5Sclose);
  if (!texts.empty()) checked(H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data()), "reading", dataset);
  return values;
}

}  // namespace posgeom::hdf5
