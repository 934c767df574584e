// NumPy arrays, and what Dolma and OLMo call .npy: raw 16-bit ids.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "corpus/unicode.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void refuse(const CorpusFile& file, std::string_view found, std::string_view remedy) {
  throw Error(fmt::format("the NumPy array {} {}; {}", file.path, found, remedy));
}

/// What follows 'key': in the header's dictionary, without leading blanks.
std::string_view value_of(const CorpusFile& file, std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  std::size_t at = header.find(quoted);
  if (at != std::string_view::npos) at = header.find_first_not_of(" ", at + quoted.size());
  if (at == std::string_view::npos || header[at] != ':')
    refuse(file, fmt::format("has no '{}' in its header", key), "its header is damaged");
  at = header.find_first_not_of(" ", at + 1);
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

void read_type(CorpusFile& file, std::string_view value) {
  const std::string_view type = value.size() > 5 && value[0] == '\'' ? value.substr(1, value.find('\'', 1) - 1) : std::string_view();
  const bool known = type.size() == 3 && "<|>="sv.find(type[0]) != std::string_view::npos && (type[1] == 'u' || type[1] == 'i') &&
                     "1248"sv.find(type[2]) != std::string_view::npos;
  if (!known)
    refuse(file, fmt::format("has the type {}", printable(value.substr(0, std::min<std::size_t>(value.find(','), 24)))),
           "expected integers of 1, 2, 4 or 8 bytes");
  file.width = type[2] - '0';
  file.is_signed = type[1] == 'i';
  if (type[0] == '>' && file.width > 1)
    refuse(file, fmt::format("is big-endian ({})", type), "save it with a.astype(a.dtype.newbyteorder('<'))");
}

/// The extents of "(3, 4)".
std::vector<Index> shape_in(const CorpusFile& file, std::string_view value) {
  std::vector<Index> shape;
  const char *at = value.data(), *end = value.data() + value.size();
  const auto skip_blanks = [&] {
    while (at != end && *at == ' ') ++at;
  };
  bool good = at != end && *at++ == '(';
  for (skip_blanks(); good && at != end && *at != ')'; skip_blanks()) {
    Index extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    good = error == std::errc() && extent >= 0;
    at = next;
    skip_blanks();
    if (at != end && *at == ',') {
      ++at;
    } else {
      good = good && at != end && *at == ')';
    }
    shape.push_back(extent);
    if (shape.size() > 2) break;
  }
  if (!good || at == end || shape.empty() || shape.size() > 2) {
    refuse(file, fmt::format("has the shape {}", printable(value.substr(0, std::min<std::size_t>(value.find(')'), 39) + 1))),
           "expected one dimension, or two whose rows are documents");
  }
  return shape;
}

void read_header(CorpusFile& file, const InputFile& input) {
  const auto start = read_values<unsigned char>(input, 0, 8, "the header");
  const int version = start[6];
  if (version < 1 || version > 3) refuse(file, fmt::format("has version {}.{}", version, start[7]), "expected 1, 2 or 3");
  const Index size_bytes = version == 1 ? 2 : 4;
  if (file.bytes < 8 + size_bytes)
    refuse(file, fmt::format("has {} bytes and ends in its header", file.bytes), "it is truncated: copy it again");
  std::uint32_t size = 0;
  const auto size_field = read_values<unsigned char>(input, 8, size_bytes, "the header");
  for (std::size_t k = 0; k < size_field.size(); ++k) size |= std::uint32_t{size_field[k]} << (8 * k);
  file.data_offset = 8 + size_bytes + Index{size};
  constexpr Index longest = Index{1} << 16;  // such a dictionary takes some 100 bytes
  if (file.data_offset > file.bytes || size > longest) {
    refuse(file, fmt::format("has {} bytes and a header of {}", file.bytes, size), "it is truncated or damaged: copy it again");
  }
  const auto text = read_values<char>(input, 8 + size_bytes, Index{size}, "the header");
  const std::string_view header(text.data(), text.size());
  read_type(file, value_of(file, header, "descr"));
  const std::vector<Index> shape = shape_in(file, value_of(file, header, "shape"));
  const std::string_view order = value_of(file, header, "fortran_order");
  if (!order.starts_with("False") && !order.starts_with("True")) refuse(file, "has a header without memory order", "it is damaged");
  if (order.starts_with("True") && shape.size() == 2) {
    refuse(file, "is stored by columns (Fortran order)", "rows are documents: save numpy.ascontiguousarray(a)");
  }
  const Index data = file.bytes - file.data_offset, rows = shape[0], columns = shape.size() == 2 ? shape[1] : 1;
  const bool fits = columns == 0 || rows <= data / file.width / columns;
  if (!fits || rows * columns * file.width != data) {
    refuse(file,
           fmt::format("has {} bytes of data, but its header says {}{} elements of {} bytes", data, rows,
                       shape.size() == 2 ? fmt::format(" x {}", columns) : "", file.width),
           "it is truncated or damaged: copy it again");
  }
  file.token_count = rows * columns;
  if (shape.size() == 2) {
    file.document_count = rows;
    file.row_length = columns;
  }
}

}  // namespace

void read_npy_layout(CorpusFile& file) {
  const InputFile input(file.path);
  std::array<char, 8> head{};
  const std::string_view begin(head.data(), static_cast<std::size_t>(input.read_at(0, head)));
  if (begin.size() == 8 && begin.starts_with("\x93NUMPY"sv)) return read_header(file, input);
  if (begin.starts_with("\x93NUMPY"sv))
    refuse(file, fmt::format("has {} bytes and ends in its header", file.bytes), "it is truncated: copy it again");
  file.width = 2;
  if (file.bytes % 2 != 0) refuse_size(file, 2, "which arrays without header (Dolma, OLMo) have");
  file.token_count = file.bytes / 2;
}

}  // namespace posgeom
