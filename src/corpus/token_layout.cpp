// What kind of token file a file is.
#include "corpus/token_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "corpus/id_check.hpp"
#include "corpus/paths.hpp"
#include "corpus/sniff.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  Format format;
};
constexpr std::array magics{Magic{"\x93NUMPY"sv, Format::npy},         Magic{"\x89HDF\r\n\x1A\n"sv, Format::hdf5},
                            Magic{"\x88\xD8\x34\x01"sv, Format::llmc},  // 20240520
                            Magic{"\xA1\xD9\x34\x01"sv, Format::llmc},  // 20240801
                            Magic{"\x01\x34\xD8\x88"sv, Format::llmc},  // both in big-endian order, which its reader names
                            Magic{"\x01\x34\xD9\xA1"sv, Format::llmc}};

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// Raw ids whose name does not say how wide they are.
[[noreturn]] void refuse_ambiguous(const CorpusFile& file) {
  std::vector<char> head(8192);
  head.resize(static_cast<std::size_t>(InputFile(file.path).read_at(0, head)) / 4 * 4);
  // No vocabulary has 2^20 ids, and two 16-bit ids in a row make such a small number only where the second is below 16.
  const WidthGuess guess = guess_width(head, 4, Index{1} << 20);
  throw Error(fmt::format(
      "the corpus file {} holds ids without a header, and there is no index {} beside it; say --format raw16 or --format raw32 (the "
      "content looks like {})",
      file.path, companion_index(file.path), guess.wide_fits ? "raw32" : "raw16"));
}

}  // namespace

Format sniff_token_format(const CorpusFile& file) {
  if (!file.dataset.empty()) return Format::hdf5;
  std::array<char, 16> bytes{};
  const std::string_view head(bytes.data(), static_cast<std::size_t>(InputFile(file.path).read_at(0, bytes)));
  if (head.starts_with("MMIDIDX\0\0"sv) || head.starts_with("TNTIDX\0\0"sv)) {
    throw Error(fmt::format(
        "the corpus file {} is a Megatron index without the .bin of its name beside it; the pair is PREFIX.idx and PREFIX.bin", file.path));
  }
  for (const Magic& magic : magics) {
    if (head.starts_with(magic.bytes)) return magic.format;
  }
  const std::filesystem::path path(file.path);
  const std::string extension = lower_extension(path);
  if (extension == ".npy") return Format::npy;
  if (extension == ".h5" || extension == ".hdf5") return Format::hdf5;
  if (extension == ".ds") {
    if (is_there(companion_index(file.path))) return Format::datatrove;
    throw Error(
        fmt::format("the corpus file {} has no {} beside it, which says where its documents end; copy it there, or say --format raw16 or "
                    "--format raw32",
                    file.path, companion_index(file.path)));
  }
  if (is_infinigram_name(file.path) && is_there(companion_index(file.path))) return Format::infinigram;
  if (extension == ".bin") {
    if (is_there(companion_index(file.path))) return Format::megatron;
    refuse_ambiguous(file);
  }
  return Format::automatic;
}

void read_token_layout(Format format, CorpusFile& file) {
  if (format == Format::hdf5) return read_hdf5_layout(file);
  if (!file.dataset.empty()) {
    throw Error(
        fmt::format("the corpus {} names a data set, as HDF5 files have them, but the format is {}; leave --format out, or name a file",
                    name_in_errors(file), name_of(format)));
  }
  refuse_compressed_tokens(file.path);
  if (format == Format::megatron || format == Format::datatrove || format == Format::infinigram) {
    file.index_path = companion_index(file.path);
    if (file.index_path.empty() || !is_there(file.index_path)) {
      const std::string_view expected = format == Format::megatron    ? "PREFIX.bin with PREFIX.idx"
                                        : format == Format::datatrove ? "NAME.ds with NAME.ds.index"
                                                                      : "tokenized.K with offset.K";
      throw Error(
          fmt::format("the corpus file {} is no {} file: {}; expected {}", file.path, name_of(format),
                      file.index_path.empty()
                          ? "it is named otherwise (where it is another file of the directory, give a glob such as 'DIR/*.bin' instead)"
                          : fmt::format("there is no {} beside it", file.index_path),
                      expected));
    }
  }
  switch (format) {
    case Format::megatron:
      return read_megatron_layout(file);
    case Format::raw16:
      return read_raw_layout(file, 2);
    case Format::raw32:
      return read_raw_layout(file, 4);
    case Format::llmc:
      return read_llmc_layout(file);
    case Format::datatrove:
      return read_datatrove_layout(file);
    case Format::npy:
      return read_npy_layout(file);
    default:
      expects(format == Format::infinigram, "a token format");
      return read_infinigram_layout(file);
  }
}

}  // namespace posgeom
