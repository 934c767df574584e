#include "io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/posix.hpp"
#include "posgeom/error.hpp"

namespace posgeom::io {
namespace {

/// Walks the header's text, a Python dict of a text, a bool and a tuple of integers.
class DictParser {
 public:
  DictParser(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  void parse(NpyHeader& header) {
    expect('{');
    bool type = false, order = false, shape = false;
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') refuse("records of several fields, expected one number an entry");
        header.type = quoted();
        type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        refuse(fmt::format("the unknown key '{}'", key));
      }
      if (!accept(',') && peek() != '}') refuse("no comma between its entries");
    }
    if (!type || !order || !shape) refuse("not all of descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const { throw Error(fmt::format("reading {}: its .npy header has {}", path_, found)); }
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  char peek() {
    skip_spaces();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      refuse(rest_.empty() ? fmt::format("an end where '{}' was expected", c)
                           : fmt::format("'{}' where '{}' was expected", rest_.front(), c));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse("no quoted text where one was expected");
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) refuse("a text without its closing quote");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    refuse("neither True nor False for fortran_order");
  }
  std::vector<Index> tuple() {
    std::vector<Index> values;
    expect('(');
    while (!accept(')')) {
      skip_spaces();
      Index value = -1;
      const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (failure != std::errc() || value < 0) refuse("a shape that is not a tuple of integers");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept('L');  // Python 2's long integers
      values.push_back(value);
      if (!accept(',') && peek() != ')') refuse("a shape that is not a tuple of integers");
    }
    return values;
  }

  std::string_view rest_;
  const std::string& path_;
};

/// An unsigned integer of `size` bytes.
std::uint64_t integer_at(const char* bytes, int size, bool big_endian) {
  std::uint64_t value = 0;
  for (int k = 0; k < size; ++k) value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? k : size - 1 - k]);
  return value;
}

double float_at(const char* bytes, int size, bool big_endian) {
  const std::uint64_t bits = integer_at(bytes, size, big_endian);
  if (size == 8) return std::bit_cast<double>(bits);
  if (size == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return half_to_double(static_cast<std::uint16_t>(bits));
}

NpyHeader read_header(const Descriptor& file, const std::string& path) {
  std::array<char, 12> start{};
  const Index size = file_size(file, path);
  if (size < 10) throw Error(fmt::format("reading {}: {} bytes, too few for a .npy file", path, size));
  read_at(file, path, 0, std::span(start).first(static_cast<std::size_t>(std::min<Index>(size, 12))));
  if (std::string_view(start.data(), 6) != npy_magic) throw Error(fmt::format("reading {}: it does not begin like a .npy file", path));
  const int major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3)
    throw Error(fmt::format("reading {}: .npy format version {}, expected 1, 2 or 3; write it again with numpy.save", path, major));
  const Index begin = major == 1 ? 10 : 12;
  const auto length = static_cast<Index>(integer_at(start.data() + 8, major == 1 ? 2 : 4, false));
  if (begin + length > size)
    throw Error(fmt::format("reading {}: it ends within its .npy header ({} of {} bytes); was it copied only in part?", path, size,
                            begin + length));
  std::string text(static_cast<std::size_t>(length), '\0');
  read_at(file, path, begin, text);
  NpyHeader header;
  DictParser(text, path).parse(header);
  header.data_offset = begin + length;
  return header;
}

}  // namespace

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

bool is_npy(const std::string& path) {
  const Descriptor file = open_for_reading(path);
  std::array<char, npy_magic.size()> start{};
  if (file_size(file, path) < std::ssize(start)) return false;
  read_at(file, path, 0, start);
  return std::string_view(start.data(), start.size()) == npy_magic;
}

NpyHeader read_npy_header(const std::string& path) { return read_header(open_for_reading(path), path); }

FileMatrix read_npy(const std::string& path) {
  const Descriptor file = open_for_reading(path);
  const NpyHeader header = read_header(file, path);
  const bool known = header.type.size() == 3 && (header.type[0] == '<' || header.type[0] == '>') && header.type[1] == 'f' &&
                     (header.type[2] == '2' || header.type[2] == '4' || header.type[2] == '8');
  if (!known) {
    throw Error(
        fmt::format("reading {}: its entries are of type '{}', expected floats of 16, 32 or 64 bits (<f2, <f4, <f8); convert them with "
                    ".astype(\"float32\")",
                    path, header.type));
  }
  if (header.shape.size() != 2) {
    throw Error(
        fmt::format("reading {}: its shape is ({}), expected a matrix: a row for each position", path, fmt::join(header.shape, ", ")));
  }
  const int width = header.type[2] - '0';
  const bool big_endian = header.type[0] == '>';
  FileMatrix matrix{header.shape[0], header.shape[1], {}};
  const Index found = file_size(file, path) - header.data_offset;
  Index elements = 0;
  if (__builtin_mul_overflow(matrix.rows, matrix.columns, &elements) || elements > found / width || elements * width != found) {
    throw Error(fmt::format("reading {}: {} bytes of data, expected {} x {} entries of {} bytes; was it copied only in part?", path, found,
                            matrix.rows, matrix.columns, width));
  }
  matrix.values.resize(static_cast<std::size_t>(elements));
  std::vector<char> piece;
  constexpr Index step = Index{1} << 20;
  Index row = 0, column = 0;  // of the next element in the file's order
  for (Index first = 0; first < elements; first += step) {
    const Index count = std::min(step, elements - first);
    piece.resize(static_cast<std::size_t>(count * width));
    read_at(file, path, header.data_offset + first * width, piece);
    for (Index k = 0; k < count; ++k) {
      matrix.values[static_cast<std::size_t>(row * matrix.columns + column)] = float_at(piece.data() + k * width, width, big_endian);
      if (header.fortran_order) {
        if (++row == matrix.rows) row = 0, ++column;
      } else if (++column == matrix.columns) {
        column = 0, ++row;
      }
    }
  }
  return matrix;
}

}  // namespace posgeom::io
