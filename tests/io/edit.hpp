#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hdf5/hdf5.hpp"
#include "io/support.hpp"

namespace posgeom {

/// **Collective.** The root changes a file with HDF5.
inline void edit(const std::string& path, const std::function<void(hid_t file)>& change) {
  if (world().is_root()) {
    const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    EXPECT_GE(hid_t{file}, 0);
    change(file);
  }
  barrier(world());
}

template <class T>
void replace(hid_t file, const std::string& name, const std::vector<T>& values, const std::vector<Index>& shape) {
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  hdf5::write_vector(file, name, std::span<const T>(values), shape);
}

}  // namespace posgeom
