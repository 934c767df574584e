#include "corpus/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "corpus/record_reader.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

using namespace std::string_view_literals;

constexpr std::array compressed_magic{"\x1F\x8B"sv,
                                      "\xFD"
                                      "7zXZ\0"sv,
                                      "\x28\xB5\x2F\xFD"sv};
constexpr std::array compressed_names{".gz"sv, ".xz"sv, ".zst"sv, ".bz2"sv};

struct Signature {
  std::string_view magic, what;
};
constexpr std::array token_files{Signature{"MMIDIDX\0\0"sv, "a Megatron-LM token index"},
                                 Signature{"TNTIDX\0\0"sv, "an old (TNTIDX) Megatron-LM token index"},
                                 Signature{"\x93NUMPY"sv, "a NumPy array"},
                                 Signature{"\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
                                 Signature{"\x88\xD7\x34\x01"sv, "an llm.c token file"},  // 20240520
                                 Signature{"\x01\x34\xD7\x88"sv, "a big-endian llm.c token file"},
                                 Signature{"\xA1\xD8\x34\x01"sv, "an llm.c token file"},  // 20240801
                                 Signature{"\x01\x34\xD8\xA1"sv, "a big-endian llm.c token file"}};
constexpr std::array other_files{Signature{"PK\x03\x04"sv, "a zip archive"},
                                 Signature{"\x04\x22\x4D\x18"sv, "an lz4 file"},
                                 Signature{"7z\xBC\xAF\x27\x1C"sv, "a 7z archive"},
                                 Signature{"\x1F\x9D"sv, "a compress (.Z) file"},
                                 Signature{"PAR1"sv, "a Parquet file"},
                                 Signature{"%PDF-"sv, "a PDF file"}};

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

template <class Container>
bool contains(const Container& container, std::string_view value) {
  return std::find(container.begin(), container.end(), value) != container.end();
}

/// The extension below that of a compression.
std::string text_extension(const std::string& path) {
  const std::filesystem::path name(path);
  const std::string extension = lower_extension(name);
  return contains(compressed_names, extension) ? lower_extension(name.stem()) : extension;
}

bool has_compressed_magic(std::string_view head) {
  if (head.starts_with("BZh"sv) && head.size() >= 10) {  // then the size digit, and a block's or the end's magic
    const std::string_view block = head.substr(4);
    return head[3] >= '1' && head[3] <= '9' && (block.starts_with("1AY&SY"sv) || block.starts_with("\x17\x72\x45\x38\x50\x90"sv));
  }
  // zstd: a frame that readers skip may come first (RFC 8878)
  if (head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0) == 0x50 && head.substr(1).starts_with("\x2A\x4D\x18"sv)) return true;
  return std::any_of(compressed_magic.begin(), compressed_magic.end(), [head](std::string_view magic) { return head.starts_with(magic); });
}

}  // namespace

bool is_compressed(const std::string& path) {
  std::array<char, 16> bytes{};
  const Index count = InputFile(path).read_at(0, bytes);
  const std::string_view head(bytes.data(), static_cast<std::size_t>(count));
  if (has_compressed_magic(head)) return true;
  const std::string extension = lower_extension(path);
  if (contains(compressed_names, extension)) {
    throw Error(fmt::format(
        "the file {} is named {} but does not begin as such a file does; is it truncated, or plain text that should be renamed?", path,
        extension));
  }
  for (const Signature& other : other_files) {
    if (head.starts_with(other.magic))
      throw Error(fmt::format("the file {} is {}, which is not read; unpack it to text, or use .gz, .xz, .zst or .bz2", path, other.what));
  }
  return false;
}

std::string head_of(const CorpusFile& file, Index bytes) {
  const auto source = open_source(file);
  std::string head(static_cast<std::size_t>(bytes), '\0');
  std::size_t size = 0;
  while (size < head.size()) {
    const Index got = source->read(std::span(head).subspan(size));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  head.resize(size);
  return head;
}

void refuse_binary(const std::string& path, std::string_view head) {
  constexpr std::string_view advice =
      "token files and arrays are not read by this version yet: give text (one document a line), tsv or fasta";
  for (const Signature& token_file : token_files) {
    if (head.starts_with(token_file.magic)) throw Error(fmt::format("the corpus file {} is {}; {}", path, token_file.what, advice));
  }
  const std::string extension = text_extension(path);
  if (contains(std::array{".bin"sv, ".idx"sv, ".npy"sv, ".npz"sv, ".h5"sv, ".hdf5"sv, ".ds"sv, ".parquet"sv, ".arrow"sv}, extension)) {
    throw Error(fmt::format("the corpus file {} is named {}, as binary files are; {}", path, extension, advice));
  }
  if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) {
    throw Error(
        fmt::format("the corpus file {} begins as UTF-16 text does; convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8", path));
  }
  const Index nuls = std::count(head.begin(), head.end(), '\0');
  if (nuls > 4 && nuls > std::ssize(head) / 64) {
    throw Error(fmt::format("the corpus file {} is no text: {} of its first {} bytes are NUL; {}", path, nuls, head.size(), advice));
  }
}

Format sniff_format(const std::string& path, std::string_view head) {
  const std::string extension = text_extension(path);
  if (extension == ".tsv") return Format::tsv;
  if (contains(std::array{".fa"sv, ".fasta"sv, ".faa"sv, ".fna"sv}, extension)) return Format::fasta;
  if (contains(std::array{".jsonl"sv, ".json"sv, ".ndjson"sv, ".csv"sv, ".fastq"sv, ".fq"sv}, extension)) {
    throw Error(
        fmt::format("the corpus file {} is named {}, a format that this version does not read; make it text (one document a line) or tsv, "
                    "or say --format text "
                    "where each line is a document as it stands",
                    path, extension));
  }
  if (head.starts_with("\xEF\xBB\xBF"sv)) head.remove_prefix(3);
  if (head.empty()) return Format::automatic;
  return head.front() == '>' ? Format::fasta : Format::text;
}

}  // namespace posgeom
