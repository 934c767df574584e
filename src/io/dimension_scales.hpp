#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hdf5/hdf5.hpp"

namespace posgeom::io {

/// HDF5's dimension scales (HDF5 Dimension Scale Specification 1.0), by which xarray and netCDF4 name the axes: attributes of plain HDF5,
/// so that the high-level library is not needed. Collects who uses which scale; write() sets the attributes, once.
class DimensionScales {
 public:
  /// The 1-D dataset `scale` labels the dimensions of others, and its own.
  void add(const std::string& scale) { scales_.push_back(scale); }
  /// One scale for each dimension of `dataset`.
  void attach(const std::string& dataset, const std::vector<std::string>& scales) { uses_.push_back({dataset, scales}); }
  void write(hid_t file) const;

 private:
  struct Use {
    std::string dataset;
    std::vector<std::string> scales;
  };
  std::vector<std::string> scales_;
  std::vector<Use> uses_;
};

}  // namespace posgeom::io
