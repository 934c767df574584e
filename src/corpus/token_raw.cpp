// Files whose layout is a header of fixed size, or none: raw ids and llm.c's.
#include <fmt/format.h>

#include <array>

#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

struct LlmcKind {
  std::int32_t magic, version;
  int width;
};
constexpr std::array llmc_kinds{LlmcKind{20240520, 1, 2}, LlmcKind{20240801, 7, 4}};
constexpr Index llmc_header = 1024;

}  // namespace

void refuse_size(const CorpusFile& file, Index width, std::string_view advice) {
  throw Error(
      fmt::format("the corpus file {} has {} bytes, which is no multiple of the {} bytes of an id{}{}; it is truncated, or of another "
                  "format or width",
                  file.path, file.bytes, width, advice.empty() ? "" : ", ", advice));
}

void read_raw_layout(CorpusFile& file, int width) {
  file.width = width;
  if (file.bytes % width != 0) {
    refuse_size(file, width, width == 4 && file.bytes % 2 == 0 ? "but one of 2: --format raw16 would fit" : "nor of any other width but 1");
  }
  file.token_count = file.bytes / width;
}

void read_llmc_layout(CorpusFile& file) {
  if (file.bytes < llmc_header) {
    throw Error(
        fmt::format("the corpus file {} has {} bytes, but the header of an llm.c token file alone takes {}; it is truncated, or of "
                    "another format: copy it again, or give another --format",
                    file.path, file.bytes, llmc_header));
  }
  const auto header = read_values<std::int32_t>(InputFile(file.path), 0, 3, "llm.c's header");
  for (const LlmcKind& kind : llmc_kinds) {
    if (header[0] == static_cast<std::int32_t>(__builtin_bswap32(static_cast<std::uint32_t>(kind.magic)))) {
      throw Error(
          fmt::format("the corpus file {} is a big-endian llm.c token file (magic {} with its bytes swapped); convert it on the machine "
                      "that wrote it",
                      file.path, kind.magic));
    }
    if (header[0] != kind.magic) continue;
    if (header[1] != kind.version) {
      throw Error(fmt::format("the corpus file {} is an llm.c token file of version {}; expected version {} with magic {}", file.path,
                              header[1], kind.version, kind.magic));
    }
    file.width = kind.width;
    file.data_offset = llmc_header;
    file.token_count = header[2];
    if (llmc_header + Index{header[2]} * kind.width != file.bytes) {
      throw Error(
          fmt::format("the corpus file {} has {} bytes, but {} ids of {} bytes, as its llm.c header says, take {}; it is truncated, or was "
                      "not written to its end: copy or make it again",
                      file.path, file.bytes, header[2], kind.width, llmc_header + Index{header[2]} * kind.width));
    }
    return;
  }
  throw Error(fmt::format("the corpus file {} is no llm.c token file: it begins with {}; expected {} or {}: give another --format",
                          file.path, header[0], llmc_kinds[0].magic, llmc_kinds[1].magic));
}

}  // namespace posgeom
