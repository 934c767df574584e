#include "io/dimension_scales.hpp"

#include <algorithm>

#include "posgeom/error.hpp"

namespace posgeom::io {
namespace {

using hdf5::checked;
using hdf5::Handle;

/// An element of a scale's REFERENCE_LIST: a dataset, and which of its dimensions the scale labels.
struct BackReference {
  hobj_ref_t dataset;
  int dimension;
};

hobj_ref_t reference_to(hid_t file, const std::string& name) {
  hobj_ref_t reference{};
  checked(H5Rcreate(&reference, file, name.c_str(), H5R_OBJECT, -1), "referring to", file, name);
  return reference;
}

/// Dimension scales want their texts of fixed length, with a final NUL.
void write_fixed_text(hid_t dataset, const char* name, const std::string& text) {
  const Handle type(checked(H5Tcopy(H5T_C_S1), "describing", dataset, name), H5Tclose);
  checked(H5Tset_size(type, text.size() + 1), "describing", dataset, name);
  const Handle space(checked(H5Screate(H5S_SCALAR), "describing", dataset, name), H5Sclose);
  const Handle attribute(checked(H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT), "writing", dataset, name), H5Aclose);
  checked(H5Awrite(attribute, type, text.c_str()), "writing", dataset, name);
}

void write_list(hid_t dataset, const char* name, hid_t stored, hid_t type, hsize_t count, const void* values) {
  const Handle space(checked(H5Screate_simple(1, &count, nullptr), "describing", dataset, name), H5Sclose);
  const Handle attribute(checked(H5Acreate2(dataset, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), "writing", dataset, name), H5Aclose);
  checked(H5Awrite(attribute, type, values), "writing", dataset, name);
}

Handle back_reference_type(hid_t dimension_type, std::size_t size, std::size_t dimension_offset) {
  Handle type(checked(H5Tcreate(H5T_COMPOUND, size), "describing a list of references"), H5Tclose);
  checked(H5Tinsert(type, "dataset", 0, H5T_STD_REF_OBJ), "describing a list of references");
  checked(H5Tinsert(type, "dimension", dimension_offset, dimension_type), "describing a list of references");
  return type;
}

}  // namespace

void DimensionScales::write(hid_t file) const {
  for (const std::string& scale : scales_) {
    const Handle dataset = hdf5::open_dataset(file, scale);
    write_fixed_text(dataset, "CLASS", "DIMENSION_SCALE");
    write_fixed_text(dataset, "NAME", scale.substr(scale.find_last_of('/') + 1));
    std::vector<BackReference> users;
    for (const Use& use : uses_) {
      for (std::size_t axis = 0; axis < use.scales.size(); ++axis) {
        if (use.scales[axis] == scale) users.push_back({reference_to(file, use.dataset), static_cast<int>(axis)});
      }
    }
    if (users.empty()) continue;
    const Handle stored = back_reference_type(H5T_STD_I32LE, sizeof(hobj_ref_t) + 4, sizeof(hobj_ref_t));
    const Handle type = back_reference_type(H5T_NATIVE_INT, sizeof(BackReference), HOFFSET(BackReference, dimension));
    write_list(dataset, "REFERENCE_LIST", stored, type, users.size(), users.data());
  }
  for (const Use& use : uses_) {
    const Handle dataset = hdf5::open_dataset(file, use.dataset);
    expects(hdf5::shape_of(dataset).size() == use.scales.size(), "each dimension has a scale");
    std::vector<hobj_ref_t> references(use.scales.size());
    std::vector<hvl_t> axes(use.scales.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      expects(std::find(scales_.begin(), scales_.end(), use.scales[axis]) != scales_.end(), "what is attached is a scale");
      references[axis] = reference_to(file, use.scales[axis]);
      axes[axis] = {1, &references[axis]};
    }
    const Handle type(checked(H5Tvlen_create(H5T_STD_REF_OBJ), "describing", dataset), H5Tclose);
    write_list(dataset, "DIMENSION_LIST", type, type, axes.size(), axes.data());
  }
}

}  // namespace posgeom::io
