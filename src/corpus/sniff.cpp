#include "corpus/sniff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "corpus/paths.hpp"
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
                                 Signature{"\x88\xD8\x34\x01"sv, "an llm.c token file"},  // 20240520
                                 Signature{"\x01\x34\xD8\x88"sv, "a big-endian llm.c token file"},
                                 Signature{"\xA1\xD9\x34\x01"sv, "an llm.c token file"},  // 20240801
                                 Signature{"\x01\x34\xD9\xA1"sv, "a big-endian llm.c token file"}};
constexpr std::array other_files{Signature{"PK\x03\x04"sv, "a zip archive"},
                                 Signature{"\x04\x22\x4D\x18"sv, "an lz4 file"},
                                 Signature{"7z\xBC\xAF\x27\x1C"sv, "a 7z archive"},
                                 Signature{"\x1F\x9D"sv, "a compress (.Z) file"},
                                 Signature{"PAR1"sv, "a Parquet file"},
                                 Signature{"%PDF-"sv, "a PDF file"}};

template <class Container>
bool contains(const Container& container, std::string_view value) {
  return std::find(container.begin(), container.end(), value) != container.end();
}

/// The extension below that of a compression.
std::string text_extension(const std::string& path) {
  const std::filesystem::path name(path);
  const std::string extension = lower_extension(path);
  return contains(compressed_names, extension) ? lower_extension(name.stem().string()) : extension;
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

void refuse_compressed_tokens(const std::string& path) {
  std::array<char, 16> bytes{};
  const std::string_view head(bytes.data(), static_cast<std::size_t>(InputFile(path).read_at(0, bytes)));
  // The two bytes of gzip's magic are an id like any other: those that follow them must fit too (the method, and flags that are in use).
  const bool short_magic = head.starts_with(compressed_magic[0]);
  const bool gzip = short_magic && head.size() > 3 && head[2] == 8 && (static_cast<unsigned char>(head[3]) & 0xE0) == 0;
  if (!gzip && (short_magic || !has_compressed_magic(head)) && !contains(compressed_names, lower_extension(path))) return;
  throw Error(fmt::format("the corpus file {} is compressed; token files are read at offsets: unpack it first", path));
}

void refuse_binary(const std::string& path, std::string_view head) {
  constexpr std::string_view advice = "give text (one document a line), tsv, jsonl or fasta, or the token file's --format";
  for (const Signature& token_file : token_files) {
    if (!head.starts_with(token_file.magic)) continue;
    throw Error(fmt::format(
        "the corpus file {} holds {}, no text; token files are read as they stand, not compressed: unpack it, and leave --format "
        "out or give its own",
        path, token_file.what));
  }
  const std::string extension = text_extension(path);
  if (contains(std::array{".bin"sv, ".idx"sv, ".npy"sv, ".npz"sv, ".h5"sv, ".hdf5"sv, ".ds"sv, ".parquet"sv, ".arrow"sv}, extension)) {
    const bool unpack = extension != lower_extension(path);
    throw Error(fmt::format("the corpus file {} is named {}, as binary files are; {}", path, extension,
                            unpack ? "token files are read at offsets: unpack it first" : advice));
  }
  if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) {
    throw Error(
        fmt::format("the corpus file {} begins as UTF-16 text does; convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8", path));
  }
  const Index nuls = std::count(head.begin(), head.end(), '\0');
  if (nuls > 4 && nuls > std::ssize(head) / 64) {
    throw Error(fmt::format("the corpus file {} is no text: {} of its first {} bytes are NUL; {} (raw16 or raw32 for ids without a header)",
                            path, nuls, head.size(), advice));
  }
}

Format sniff_format(const std::string& path, std::string_view head) {
  const std::string extension = text_extension(path);
  if (extension == ".tsv") return Format::tsv;
  if (contains(std::array{".fa"sv, ".fasta"sv, ".faa"sv, ".fna"sv}, extension)) return Format::fasta;
  if (extension == ".jsonl" || extension == ".ndjson") return Format::jsonl;
  if (extension == ".json") {
    std::string_view text = head.starts_with("\xEF\xBB\xBF"sv) ? head.substr(3) : head;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.starts_with('{')) return Format::jsonl;
    if (!text.empty()) {
      throw Error(fmt::format(
          "the corpus file {} is named .json, but is no object a line; make it one (JSON Lines), or say --format text where each "
          "line is a document as it stands",
          path));
    }
  }
  if (contains(std::array{".csv"sv, ".fastq"sv, ".fq"sv}, extension)) {
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
