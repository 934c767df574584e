#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/io/encoding_file.hpp"

namespace posgeom::io {

/// The header of a .npy file (numpy.lib.format, versions 1.0 to 3.0).
struct NpyHeader {
  std::string type;  ///< numpy's, as written: "<f8"
  bool fortran_order = false;
  std::vector<Index> shape;
  Index data_offset = 0;  ///< bytes before the first element
};

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Whether the file begins with npy_magic. Throws Error where it cannot be read.
bool is_npy(const std::string& path);

/// Reads and checks the header alone. Throws Error.
NpyHeader read_npy_header(const std::string& path);

/// A 2-D matrix of floats of 16, 32 or 64 bits, of either order and endianness, as row-major doubles. Throws Error that names what else was
/// found.
FileMatrix read_npy(const std::string& path);

/// The value of an IEEE 754 binary16 number.
double half_to_double(std::uint16_t bits);

}  // namespace posgeom::io
