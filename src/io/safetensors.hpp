#pragma once
#include <string>
#include <vector>

#include "posgeom/io/encoding_file.hpp"

namespace posgeom::io {

/// One tensor of a safetensors file (huggingface/safetensors, format 0.4), checked against its file.
struct SafeTensor {
  std::string name;
  std::string type;  ///< as written: "F32"
  std::vector<Index> shape;
  Index offset = 0;  ///< of its first byte in the file
  Index bytes = 0;
};

/// Whether the file may be one: so many bytes of header as its first 8 bytes say, at most 100 MB, that begin with '{'; or by its name.
bool is_safetensors(const std::string& path);

/// The tensors in the order of their data. Throws Error for a header that is cut, too large, no JSON, or not what the format allows: a name
/// twice, unknown types, sizes that are not shape times width, data that overlaps, leaves gaps, or is not the rest of the file.
std::vector<SafeTensor> read_safetensors_header(const std::string& path);

/// The tensor `name` (empty: the only 2-D one of floats) as row-major doubles. Throws Error as the header does, and where there is no such
/// tensor, several could be meant, or it is no matrix of F64, F32, F16 or BF16.
FileMatrix read_safetensors(const std::string& path, const std::string& name);

}  // namespace posgeom::io
