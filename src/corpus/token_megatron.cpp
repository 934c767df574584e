// Megatron-LM's indexed dataset: PREFIX.bin with PREFIX.idx.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "corpus/token_boundaries.hpp"
#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

using namespace std::string_view_literals;

constexpr Index header_bytes = 34;
constexpr Index window = Index{1} << 16;
constexpr std::string_view remake = "make the pair again with the writer that it came from";

struct IndexHeader {
  Index bytes = 0;
  int type = 0;
  Index sequences = 0;
  Index documents = 0;  ///< boundaries: one more than documents
  Index pointers_at() const { return header_bytes + 4 * sequences; }
  Index boundaries_at() const { return header_bytes + 12 * sequences; }
  Index end() const { return boundaries_at() + 8 * documents; }
};

struct IdType {
  int width;
  bool is_signed;
};

/// By Megatron's code; floating point has none.
IdType type_of(int code, const std::string& path) {
  constexpr std::array<IdType, 9> types{IdType{0, false}, {1, false}, {1, true},  {2, true}, {4, true},
                                        {8, true},        {0, false}, {0, false}, {2, false}};
  if (code >= 1 && code <= 8 && types[static_cast<std::size_t>(code)].width > 0) return types[static_cast<std::size_t>(code)];
  throw Error(fmt::format(
      "the Megatron index {} says that its ids are {} (type {}); expected integers: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 8 u16", path,
      code == 6   ? "float64"
      : code == 7 ? "float32"
                  : "of no known type",
      code));
}

/// The header, checked against the size of the file alone.
IndexHeader read_header(const InputFile& index) {
  const std::string& path = index.path();
  std::array<char, header_bytes> head{};
  const Index got = index.read_at(0, head);
  const std::string_view begin(head.data(), static_cast<std::size_t>(got));
  if (begin.starts_with("TNTIDX\0\0"sv)) {
    throw Error(fmt::format(
        "the index {} is of Megatron's old kind (TNTIDX, before memory mapping), which is not read; preprocess the data again with "
        "--dataset-impl mmap",
        path));
  }
  if (!begin.starts_with("MMIDIDX\0\0"sv)) {
    throw Error(
        fmt::format("the file {} is no Megatron index: it does not begin with MMIDIDX; give another --format, or {}", path, remake));
  }
  if (got < header_bytes) {
    throw Error(
        fmt::format("the Megatron index {} is truncated: it has {} bytes, its header alone {}; copy it again", path, got, header_bytes));
  }
  const auto value_at = [&](std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, head.data() + offset, sizeof value);
    return value;
  };
  if (const std::uint64_t version = value_at(9); version != 1) {
    const bool swapped = version == std::uint64_t{1} << 56;
    throw Error(fmt::format("the Megatron index {} has version {}{}; expected 1", path, version,
                            swapped ? ", which is 1 in big-endian order: it was written on a big-endian machine, convert it there" : ""));
  }
  IndexHeader header;
  header.bytes = size_on_disk(path);
  header.type = static_cast<unsigned char>(head[17]);
  const std::uint64_t sequences = value_at(18), documents = value_at(26);
  // Each sequence takes 12 bytes and each boundary 8: what the header claims is bounded by the file before it is used.
  const auto limit = static_cast<std::uint64_t>(header.bytes);
  const bool possible = sequences <= limit / 12 && documents <= limit / 8;
  header.sequences = possible ? static_cast<Index>(sequences) : 0;
  header.documents = possible ? static_cast<Index>(documents) : 0;
  const bool fits = possible && (header.bytes == header.end() || header.bytes == header.end() + header.sequences);
  if (!fits) {
    throw Error(
        fmt::format("the Megatron index {} has {} bytes, but {} sequences and {} document boundaries, as its header says, take {}; it is "
                    "truncated or damaged: copy it again, or {}",
                    path, header.bytes, sequences, documents, possible ? std::to_string(header.end()) : "more", remake));
  }
  return header;
}

/// Lengths and byte offsets, window by window; returns the number of tokens.
Index check_sequences(const InputFile& index, const IndexHeader& header, const CorpusFile& file) {
  Index tokens = 0;
  const Index capacity = file.bytes / file.width;
  for (Index first = 0; first < header.sequences; first += window) {
    const Index count = std::min(window, header.sequences - first);
    const auto lengths = read_values<std::int32_t>(index, header_bytes + 4 * first, count, "lengths");
    const auto pointers = read_values<Index>(index, header.pointers_at() + 8 * first, count, "offsets");
    for (Index k = 0; k < count; ++k) {
      const Index length = lengths[static_cast<std::size_t>(k)], pointer = pointers[static_cast<std::size_t>(k)];
      if (length < 0) {
        throw Error(fmt::format("the Megatron index {}: sequence {} has length {}; lengths cannot be negative: {}", index.path(), first + k,
                                length, remake));
      }
      if (pointer != tokens * file.width) {
        const bool wrapped = pointer == static_cast<Index>(static_cast<std::int32_t>(static_cast<std::uint32_t>(tokens * file.width)));
        throw Error(fmt::format(
            "the Megatron index {}: sequence {} begins at byte {} of {}, but the sequences before it end at byte {}{}; {}", index.path(),
            first + k, pointer, file.path, tokens * file.width, wrapped ? " (the 32-bit overflow of old Megatron versions)" : "", remake));
      }
      tokens += length;
      if (tokens > capacity) {
        throw Error(
            fmt::format("the Megatron index {}: sequence {} ends at byte {}, beyond the end of {} with its {} bytes; the latter is "
                        "truncated, or they are no pair: copy both again",
                        index.path(), first + k, tokens * file.width, file.path, file.bytes));
      }
    }
  }
  return tokens;
}

void check_documents(const InputFile& index, const IndexHeader& header) {
  Index last = 0;
  for (Index first = 0; first < header.documents; first += window) {
    const auto boundaries =
        read_values<Index>(index, header.boundaries_at() + 8 * first, std::min(window, header.documents - first), "document boundaries");
    for (Index k = 0; k < std::ssize(boundaries); ++k) {
      const Index boundary = boundaries[static_cast<std::size_t>(k)];
      const bool is_first = first + k == 0;
      if ((is_first && boundary != 0) || boundary < last || boundary > header.sequences) {
        throw Error(
            fmt::format("the Megatron index {}: document boundary {} is sequence {} after {}; expected 0 first, then never less, and "
                        "at most {}: {}",
                        index.path(), first + k, boundary, is_first ? "none" : std::to_string(last), header.sequences, remake));
      }
      last = boundary;
    }
  }
  if (header.documents == 0 || last != header.sequences) {
    throw Error(
        fmt::format("the Megatron index {}: its {} document boundaries end at sequence {} of {}; expected the last to be the number of "
                    "sequences: {}",
                    index.path(), header.documents, last, header.sequences, remake));
  }
}

class MegatronBoundaries : public Boundaries {
 public:
  explicit MegatronBoundaries(const CorpusFile& file)
      : Boundaries(file.document_count, file.token_count, file.index_path),
        index_(file.index_path),
        header_(read_header(index_)),
        file_(file) {
    if (header_.documents == file.document_count + 1) return;
    throw Error(
        fmt::format("reading {}: it has {} document boundaries, but had {} when the corpus was opened; do not change a corpus that "
                    "is being read",
                    index_.path(), header_.documents, file.document_count + 1));
  }

 private:
  void load(Index first, std::span<Index> begins) override {
    read_exactly(index_, header_.boundaries_at() + 8 * first, {reinterpret_cast<char*>(begins.data()), begins.size_bytes()}, "boundaries");
    if (begins.empty()) return;
    // Where documents are a few sequences each, their offsets lie close together and come in one read.
    const Index low = begins.front(), span = begins.back() - low + 1;
    std::vector<Index> pointers;
    if (low >= 0 && span >= 1 && span <= window && low + span <= header_.sequences) {
      pointers = read_values<Index>(index_, header_.pointers_at() + 8 * low, span, "offsets");
    }
    for (Index& begin : begins) {
      if (begin == header_.sequences) {
        begin = file_.token_count;
      } else if (begin >= low && begin - low < std::ssize(pointers)) {
        begin = pointers[static_cast<std::size_t>(begin - low)] / file_.width;
      } else if (begin < 0 || begin > header_.sequences) {
        begin = -1;  // no place at all: begin_of() says so
      } else {
        begin = read_values<Index>(index_, header_.pointers_at() + 8 * begin, 1, "offsets").front() / file_.width;
      }
    }
  }
  InputFile index_;
  IndexHeader header_;
  CorpusFile file_;
};

}  // namespace

void read_megatron_layout(CorpusFile& file) {
  const InputFile index(file.index_path);
  const IndexHeader header = read_header(index);
  const IdType type = type_of(header.type, file.index_path);
  file.width = type.width;
  file.is_signed = type.is_signed;
  if (file.bytes % file.width != 0) refuse_size(file, file.width, fmt::format("as {} says", file.index_path));
  file.token_count = check_sequences(index, header, file);
  check_documents(index, header);
  if (file.token_count * file.width != file.bytes) {
    throw Error(
        fmt::format("the corpus file {} has {} bytes, but the sequences in {} take {}; they are no pair, or the index is an older one: {}",
                    file.path, file.bytes, file.index_path, file.token_count * file.width, remake));
  }
  file.document_count = header.documents - 1;
}

std::unique_ptr<Boundaries> open_megatron_boundaries(const CorpusFile& file) { return std::make_unique<MegatronBoundaries>(file); }

}  // namespace posgeom
