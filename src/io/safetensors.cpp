#include "io/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "io/npy.hpp"
#include "io/posix.hpp"
#include "posgeom/error.hpp"

namespace posgeom::io {
namespace {

using simdjson::dom::element;

constexpr Index length_bytes = 8;
/// The reference implementation's limit.
constexpr Index longest_header = 100'000'000;
constexpr std::array<std::pair<std::string_view, Index>, 15> widths{{{"BOOL", 1},
                                                                     {"U8", 1},
                                                                     {"I8", 1},
                                                                     {"F8_E4M3", 1},
                                                                     {"F8_E5M2", 1},
                                                                     {"I16", 2},
                                                                     {"U16", 2},
                                                                     {"F16", 2},
                                                                     {"BF16", 2},
                                                                     {"I32", 4},
                                                                     {"U32", 4},
                                                                     {"F32", 4},
                                                                     {"I64", 8},
                                                                     {"U64", 8},
                                                                     {"F64", 8}}};

bool is_float(std::string_view type) { return type == "F64" || type == "F32" || type == "F16" || type == "BF16"; }

template <class Integer>
Integer little_endian(const char* bytes) {
  Integer value = 0;
  for (std::size_t k = sizeof(Integer); k-- > 0;) value = static_cast<Integer>(value << 8U | static_cast<unsigned char>(bytes[k]));
  return value;
}

/// Text of a file for a line of a message: printable, and not too long.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 80)) result += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return text.size() > 80 ? result + "..." : result;
}

[[noreturn]] void refuse(const std::string& path, const std::string& found) {
  throw Error(fmt::format("reading {}: {}; no valid safetensors file, save it again", path, found));
}

/// An integer >= 0 of the header.
Index count_of(element value, const std::string& path, const std::string& what) {
  std::uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
    refuse(path, fmt::format("{} is not an integer from 0", what));
  return static_cast<Index>(number);
}

std::vector<Index> counts_of(element value, const std::string& path, const std::string& what) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) refuse(path, fmt::format("{} is not a list", what));
  std::vector<Index> counts;
  for (const element entry : array) counts.push_back(count_of(entry, path, "an entry of " + what));
  return counts;
}

/// One entry of the header; `data` bytes follow it, from file position `begin` on.
SafeTensor tensor_of(std::string_view name, element value, const std::string& path, Index begin, Index data) {
  const std::string quoted = fmt::format("tensor `{}`", shown(name));
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) refuse(path, quoted + " is not described by an object");
  SafeTensor tensor;
  tensor.name = std::string(name);
  std::vector<Index> offsets;
  std::set<std::string_view> seen;
  for (const auto& [key, entry] : object) {
    if (!seen.insert(key).second) refuse(path, fmt::format("{} has `{}` twice", quoted, shown(key)));
    if (key == "dtype") {
      std::string_view type;
      if (entry.get(type) != simdjson::SUCCESS) refuse(path, quoted + " has a dtype that is no text");
      tensor.type = std::string(type);
    } else if (key == "shape") {
      tensor.shape = counts_of(entry, path, "the shape of " + quoted);
    } else if (key == "data_offsets") {
      offsets = counts_of(entry, path, "data_offsets of " + quoted);
    } else {
      refuse(path, fmt::format("{} has the unknown key `{}`", quoted, shown(key)));
    }
  }
  for (const std::string_view key : {"dtype", "shape", "data_offsets"}) {
    if (!seen.contains(key)) refuse(path, fmt::format("{} has no {}", quoted, key));
  }
  const auto width = std::ranges::find(widths, tensor.type, &std::pair<std::string_view, Index>::first);
  if (width == widths.end()) refuse(path, fmt::format("{} is of the unknown type '{}'", quoted, shown(tensor.type)));
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data) {
    refuse(path, fmt::format("{} has data_offsets [{}], expected two from 0 to {}, the bytes of data; was it copied only in part", quoted,
                             fmt::join(offsets, ", "), data));
  }
  Index bytes = width->second;
  for (const Index extent : tensor.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) refuse(path, fmt::format("{} has more than 2^63 bytes by its shape", quoted));
  }
  if (bytes != offsets[1] - offsets[0]) {
    refuse(path, fmt::format("{} has {} bytes of data, expected {} for {} of shape ({})", quoted, offsets[1] - offsets[0], bytes,
                             tensor.type, fmt::join(tensor.shape, ", ")));
  }
  tensor.offset = begin + offsets[0];
  tensor.bytes = bytes;
  return tensor;
}

/// The bytes of all tensors, in order, are those after the header.
void check_coverage(const std::vector<SafeTensor>& tensors, const std::string& path, Index begin, Index size) {
  Index next = begin;
  for (const SafeTensor& tensor : tensors) {
    if (tensor.offset < next) refuse(path, fmt::format("the data of tensor `{}` overlaps that of another", shown(tensor.name)));
    if (tensor.offset > next)
      refuse(path, fmt::format("{} bytes before the data of tensor `{}` belong to none", tensor.offset - next, shown(tensor.name)));
    next += tensor.bytes;
  }
  if (next != size) refuse(path, fmt::format("the last {} bytes belong to no tensor", size - next));
}

/// Number and list of the tensors that a position table may be; those whose names speak of positions come first.
std::string candidates(std::vector<const SafeTensor*> tensors) {
  constexpr std::size_t most = 12;
  const auto speaks = [](const SafeTensor* t) {
    return t->name.find("pos") != std::string::npos || t->name.find("wpe") != std::string::npos;
  };
  std::ranges::stable_partition(tensors, speaks);
  std::vector<std::string> names;
  for (const SafeTensor* t : tensors) {
    if (names.size() == most) break;
    names.push_back(fmt::format("{} ({})", shown(t->name), fmt::join(t->shape, " x ")));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (tensors.size() > most) text += fmt::format(" and {} more", tensors.size() - most);
  return text;
}

const SafeTensor& choose(const std::vector<SafeTensor>& tensors, const std::string& path, const std::string& name) {
  std::vector<const SafeTensor*> matrices;
  for (const SafeTensor& tensor : tensors) {
    if (tensor.shape.size() == 2 && is_float(tensor.type)) matrices.push_back(&tensor);
    if (tensor.name != name || name.empty()) continue;
    if (!is_float(tensor.type)) {
      throw Error(fmt::format("reading {}: the entries of {} are of type {}, expected F64, F32, F16 or BF16", path, name, tensor.type));
    }
    if (tensor.shape.size() != 2) {
      throw Error(fmt::format("reading {}: the shape of {} is ({}), expected a matrix: a row for each position", path, name,
                              fmt::join(tensor.shape, ", ")));
    }
    return tensor;
  }
  const std::string listed = matrices.empty() ? "it has no matrix of floats" : "its matrices of floats: " + candidates(matrices);
  if (!name.empty()) throw Error(fmt::format("reading {}: no tensor `{}`; {}. Name one as NAME=file:PATH:TENSOR", path, name, listed));
  if (matrices.size() != 1) throw Error(fmt::format("reading {}: which tensor? {}. Name one as NAME=file:PATH:TENSOR", path, listed));
  return *matrices.front();
}

double number_at(const char* bytes, std::string_view type) {
  if (type == "F64") return std::bit_cast<double>(little_endian<std::uint64_t>(bytes));
  if (type == "F32") return std::bit_cast<float>(little_endian<std::uint32_t>(bytes));
  const auto half = little_endian<std::uint16_t>(bytes);
  return type == "F16" ? half_to_double(half) : std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
}

}  // namespace

bool is_safetensors(const std::string& path) {
  if (path.ends_with(".safetensors")) return true;
  const Descriptor file = open_for_reading(path);
  std::array<char, length_bytes + 1> start{};
  const Index size = file_size(file, path);
  if (size < std::ssize(start)) return false;
  read_at(file, path, 0, start);
  const auto length = little_endian<std::uint64_t>(start.data());
  return start.back() == '{' && length <= static_cast<std::uint64_t>(std::min(longest_header, size - length_bytes));
}

std::vector<SafeTensor> read_safetensors_header(const std::string& path) {
  const Descriptor file = open_for_reading(path);
  const Index size = file_size(file, path);
  if (size < length_bytes) refuse(path, fmt::format("{} bytes, too few for a header", size));
  std::array<char, length_bytes> start{};
  read_at(file, path, 0, start);
  const auto written = little_endian<std::uint64_t>(start.data());
  if (written > static_cast<std::uint64_t>(longest_header))
    refuse(path, fmt::format("a header of {} bytes, expected at most {}", written, longest_header));
  const auto length = static_cast<Index>(written);
  if (length > size - length_bytes)
    refuse(path, fmt::format("it ends within its header ({} of {} bytes); was it copied only in part", size, length_bytes + length));
  std::string text(static_cast<std::size_t>(length), '\0');
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  read_at(file, path, length_bytes, text);
  if (!text.starts_with('{')) refuse(path, "a header that does not begin with '{'");

  simdjson::dom::parser parser;
  simdjson::dom::object header;
  if (const simdjson::error_code error = parser.parse(text.data(), text.size(), false).get(header); error != simdjson::SUCCESS)
    refuse(path, fmt::format("a header that is no JSON object ({})", simdjson::error_message(error)));
  std::vector<SafeTensor> tensors;
  std::set<std::string_view> names;
  const Index begin = length_bytes + length;
  for (const auto& [name, value] : header) {
    if (!names.insert(name).second) refuse(path, fmt::format("the name `{}` is there twice", shown(name)));
    if (name != "__metadata__") tensors.push_back(tensor_of(name, value, path, begin, size - begin));
  }
  std::ranges::stable_sort(tensors, {}, [](const SafeTensor& t) { return std::pair(t.offset, t.bytes); });
  check_coverage(tensors, path, begin, size);
  return tensors;
}

FileMatrix read_safetensors(const std::string& path, const std::string& name) {
  const std::vector<SafeTensor> tensors = read_safetensors_header(path);
  const SafeTensor& tensor = choose(tensors, path, name);
  FileMatrix matrix{tensor.shape[0], tensor.shape[1], {}};
  const Index elements = matrix.rows * matrix.columns;  // at most the bytes of the file
  matrix.values.resize(static_cast<std::size_t>(elements));
  const Index width = elements > 0 ? tensor.bytes / elements : 1;
  const Descriptor file = open_for_reading(path);
  std::vector<char> piece;
  constexpr Index step = Index{1} << 20;
  for (Index first = 0; first < elements; first += step) {
    const Index count = std::min(step, elements - first);
    piece.resize(static_cast<std::size_t>(count * width));
    read_at(file, path, tensor.offset + first * width, piece);
    for (Index k = 0; k < count; ++k) matrix.values[static_cast<std::size_t>(first + k)] = number_at(piece.data() + k * width, tensor.type);
  }
  return matrix;
}

}  // namespace posgeom::io
