// infini-gram's tokenized.K: each document after an id of all ones; their offsets in offset.K.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index window = Index{1} << 16;
constexpr Index sampled = 4096;

/// How many of the first documents begin with `width` bytes of ones; the rest is checked while it is read.
Index separators_of_width(const InputFile& data, const std::vector<Index>& offsets, Index width) {
  Index found = 0;
  for (const Index offset : offsets) {
    std::array<unsigned char, 4> bytes{};
    const std::span<char> wanted(reinterpret_cast<char*>(bytes.data()), static_cast<std::size_t>(width));
    if (data.read_at(offset, wanted) != width) break;
    if (!std::all_of(bytes.begin(), bytes.begin() + width, [](unsigned char byte) { return byte == 0xFF; })) break;
    ++found;
  }
  return found;
}

}  // namespace

void read_infinigram_layout(CorpusFile& file) {
  const InputFile index(file.index_path), data(file.path);
  const Index index_bytes = size_on_disk(file.index_path);
  if (index_bytes % 8 != 0) {
    throw Error(fmt::format("the offsets {} of {} have {} bytes; expected a multiple of 8, one offset a document: copy the file again",
                            file.index_path, file.path, index_bytes));
  }
  file.document_count = index_bytes / 8;
  if (file.document_count == 0 && file.bytes > 0) {
    throw Error(fmt::format("the offsets {} are empty, but {} has {} bytes; expected one offset a document: copy both again",
                            file.index_path, file.path, file.bytes));
  }
  Index last = -1;
  Index divisor = file.bytes % 4 == 0 ? 4 : file.bytes % 2 == 0 ? 2 : 1;
  for (Index first = 0; first < file.document_count; first += window) {
    const auto offsets = read_values<Index>(index, 8 * first, std::min(window, file.document_count - first), "offsets");
    for (Index k = 0; k < std::ssize(offsets); ++k) {
      const Index offset = offsets[static_cast<std::size_t>(k)];
      if (offset <= last || offset >= file.bytes || (first + k == 0 && offset != 0)) {
        throw Error(fmt::format(
            "the offsets {}: document {} begins at byte {} of {} with its {} bytes{}; expected 0 first, then rising ones within "
            "the file: copy both again",
            file.index_path, first + k, static_cast<std::uint64_t>(offset), file.path, file.bytes,
            last >= 0 ? fmt::format(", the one before it at {}", last) : ""));
      }
      last = offset;
      while (offset % divisor != 0) divisor /= 2;
    }
  }
  if (divisor == 1) refuse_size(file, 2, fmt::format("or one of the offsets in {} is none", file.index_path));
  // Two 16-bit separators in a row look like a 32-bit one, but then their offsets are no multiples of 4.
  const auto first = read_values<Index>(index, 0, std::min(sampled, file.document_count), "offsets");
  const Index narrow = separators_of_width(data, first, 2);
  file.width = divisor == 4 && !first.empty() && separators_of_width(data, first, 4) == std::ssize(first) ? 4 : 2;
  if (file.width == 2 && narrow < std::ssize(first)) {
    throw Error(
        fmt::format("the corpus file {} has no separator (all ones, 16 or 32 bits) at byte {}, where document {} begins by {}; they are no "
                    "pair, or no infini-gram files: copy both again, or give another --format",
                    file.path, first[static_cast<std::size_t>(narrow)], narrow, file.index_path));
  }
  file.token_count = file.bytes / file.width;
}

}  // namespace posgeom
