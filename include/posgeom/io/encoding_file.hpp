#pragma once
#include <string>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// A dense matrix from outside, row-major, the same on every rank.
struct FileMatrix {
  Index rows = 0;
  Index columns = 0;
  std::vector<double> values;
};

/// **Collective.** A 2-D matrix of floats (16, 32 or 64 bits) from PATH.npy (format versions 1-3, C or Fortran order, either byte order) or
/// an HDF5 file, where `dataset` names the dataset ("encoding" where empty). Throws the same Error on every rank: missing, truncated, other
/// dimensions or types (named), non-finite entries (named by row and column).
FileMatrix read_encoding_file(const Communicator& comm, const std::string& path, const std::string& dataset);

}  // namespace posgeom
