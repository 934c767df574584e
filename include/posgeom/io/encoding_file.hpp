#pragma once
#include <cstdint>
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

/// Some rows of a file's matrix: begin .. end-1, or all from `begin` on.
struct RowRange {
  Index begin = 0;
  Index end = -1;  ///< -1: the last one too
};

/// Matrices of one shape, one a step of training; or a single one.
struct FileSeries {
  std::vector<std::int64_t> step;  ///< [steps] ascending; empty: a single matrix
  Index rows = 0;
  Index columns = 0;
  std::vector<double> values;  ///< [steps or 1][rows][columns]; the root's alone: none on other ranks
};

/// **Collective.** A 2-D matrix of floats from PATH: .npy (16, 32 or 64 bits; format versions 1-3, C or Fortran order, either byte order);
/// HDF5 (the same widths), where `dataset` names the dataset ("encoding" where empty); or safetensors (F64, F32, F16, BF16), where it names
/// the tensor (where empty: the only one that is 2-D). Only `rows` of it are kept. Throws the same Error on every rank: missing, truncated,
/// other dimensions or types (named), a header that contradicts itself or its file, several tensors that could be meant (listed), fewer
/// rows than asked for, non-finite entries (named by row and column of the file); for PyTorch's files with the line that converts them.
FileMatrix read_encoding_file(const Communicator& comm, const std::string& path, const std::string& dataset, const RowRange& rows = {});

/// **Collective.** The same, and of HDF5 also 3-D datasets, whose leading axis is that of steps: the integers of the dataset `step` beside
/// it (ascending, one each), else 0, 1, ... Throws as read_encoding_file(); a matrix that is refused there is named by its step.
FileSeries read_encoding_series(const Communicator& comm, const std::string& path, const std::string& dataset, const RowRange& rows = {});

}  // namespace posgeom
