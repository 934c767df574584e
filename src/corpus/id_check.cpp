#include "corpus/id_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "corpus/token_layout.hpp"
#include "posgeom/error.hpp"

// Compiled once for each x86-64 level: 16-bit unsigned maxima are one instruction from SSE4.1 on, and wider vectors hold more of them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define POSGEOM_ID_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define POSGEOM_ID_CLONES
#endif

namespace posgeom {
namespace {

/// Vectors of the compiler's own, since at -O2 GCC leaves such loops as they are. Four are in flight at a time: a block.
template <class Id>
struct Vector {
  using Type [[gnu::vector_size(64)]] = Id;
};
constexpr std::size_t lanes = 4, block_bytes = lanes * 64;

template <class Id>
[[gnu::always_inline]] inline Id largest_of_blocks(const Id* ids, std::size_t blocks) {
  using Wide = typename Vector<Id>::Type;
  Wide largest[lanes] = {};
  for (std::size_t b = 0; b < blocks; ++b, ids += block_bytes / sizeof(Id)) {
    Wide next[lanes];
    std::memcpy(next, ids, block_bytes);
    for (std::size_t k = 0; k < lanes; ++k) largest[k] = next[k] > largest[k] ? next[k] : largest[k];
  }
  Id all[block_bytes / sizeof(Id)];
  std::memcpy(all, largest, block_bytes);
  return *std::max_element(std::begin(all), std::end(all));
}

template <class Id>
[[gnu::always_inline]] inline std::size_t blocks_without_id(const Id* ids, std::size_t blocks, Id id) {
  using Wide = typename Vector<Id>::Type;
  for (std::size_t b = 0; b < blocks; ++b, ids += block_bytes / sizeof(Id)) {
    Wide next[lanes];
    std::memcpy(next, ids, block_bytes);
    // The smallest difference in each place, since GCC takes vectors of comparisons apart where it compiles for several levels.
    Wide least = next[0] ^ id;
    for (std::size_t k = 1; k < lanes; ++k) {
      const Wide difference = next[k] ^ id;
      least = difference < least ? difference : least;
    }
    std::uint64_t words[8];
    std::memcpy(words, &least, sizeof words);
    constexpr std::uint64_t low_bits = sizeof(Id) == 2 ? 0x0001000100010001 : 0x0000000100000001,
                            high_bits = low_bits << (8 * sizeof(Id) - 1);
    std::uint64_t zeros = 0;  // high bits, at least the lowest of which marks a zero
    for (const std::uint64_t word : words) zeros |= (word - low_bits) & ~word & high_bits;
    if (zeros != 0) return b;
  }
  return blocks;
}

}  // namespace

POSGEOM_ID_CLONES static std::uint16_t largest_of(const std::uint16_t* ids, std::size_t blocks) { return largest_of_blocks(ids, blocks); }
POSGEOM_ID_CLONES static std::uint32_t largest_of(const std::uint32_t* ids, std::size_t blocks) { return largest_of_blocks(ids, blocks); }
/// Blocks that come before the first one with `id`.
POSGEOM_ID_CLONES static std::size_t blocks_without(const std::uint16_t* ids, std::size_t blocks, std::uint16_t id) {
  return blocks_without_id(ids, blocks, id);
}
POSGEOM_ID_CLONES static std::size_t blocks_without(const std::uint32_t* ids, std::size_t blocks, std::uint32_t id) {
  return blocks_without_id(ids, blocks, id);
}

namespace {

template <class Id>
std::uint32_t largest_in(std::span<const Id> ids) {
  constexpr std::size_t block = block_bytes / sizeof(Id);
  const std::size_t blocks = ids.size() / block;
  Id result = blocks > 0 ? largest_of(ids.data(), blocks) : Id{0};
  for (const Id id : ids.subspan(blocks * block)) result = std::max(result, id);
  return result;
}

template <class Id>
Index find_in(std::span<const Id> ids, std::uint32_t id) {
  const auto wanted = static_cast<Id>(id);
  if (wanted != id) return std::ssize(ids);
  constexpr std::size_t block = block_bytes / sizeof(Id);
  const std::size_t blocks = ids.size() / block;
  // Where documents are short, the first block holds one most often.
  const auto rest = ids.subspan(blocks > 0 ? block * blocks_without(ids.data(), blocks, wanted) : 0);
  return std::find(rest.begin(), rest.end(), wanted) - ids.begin();
}

template <class Id>
std::vector<Id> as_ids(std::span<const char> bytes) {
  std::vector<Id> ids(bytes.size() / sizeof(Id));
  if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(Id));
  return ids;
}

template <class Id>
bool all_below(const std::vector<Id>& ids, Index limit) {
  return limit > 0 && !ids.empty() && std::all_of(ids.begin(), ids.end(), [limit](Id id) { return Index{id} < limit; });
}

}  // namespace

std::uint32_t largest(std::span<const std::uint16_t> ids) { return largest_in(ids); }
std::uint32_t largest(std::span<const std::uint32_t> ids) { return largest_in(ids); }
Index find_id(std::span<const std::uint16_t> ids, std::uint32_t id) { return find_in(ids, id); }
Index find_id(std::span<const std::uint32_t> ids, std::uint32_t id) { return find_in(ids, id); }

WidthGuess guess_width(std::span<const char> bytes, int width, Index vocab_size) {
  auto narrow = as_ids<std::uint16_t>(bytes);
  auto wide = as_ids<std::uint32_t>(bytes);
  WidthGuess guess;
  guess.narrow_fits = all_below(narrow, vocab_size);
  guess.wide_fits = all_below(wide, vocab_size);
  // Fewer show nothing: a document of one word and a padding zero is no 32-bit id.
  const Index high = vocab_size > 65536 ? (vocab_size - 1) >> 16U : 0;  // the largest upper half of a 32-bit id
  const std::size_t least = high > 0 ? 64 : 4;
  bool odd_are_low = narrow.size() >= least, even_are_low = true;
  for (std::size_t k = 0; k + 1 < narrow.size(); k += 2) {
    even_are_low = even_are_low && narrow[k] <= high;
    odd_are_low = odd_are_low && narrow[k + 1] <= high;
  }
  guess.every_second_low = odd_are_low && !even_are_low;
  for (std::uint16_t& id : narrow) id = static_cast<std::uint16_t>(id << 8 | id >> 8);
  for (std::uint32_t& id : wide) id = __builtin_bswap32(id);
  guess.swapped_fits = width == 2 ? all_below(narrow, vocab_size) : width == 4 && all_below(wide, vocab_size);
  return guess;
}

std::vector<char> first_id_bytes(const IdSource& ids, const CorpusFile& file) {
  const Index count = std::min(file.token_count, Index{8192} / file.width);
  std::vector<char> bytes(static_cast<std::size_t>(count * file.width));
  ids.read(0, count, bytes.data());
  return bytes;
}

std::string cause_of_bad_id(const IdSource& ids, const CorpusFile& file, Format format, Index vocab_size) {
  const WidthGuess guess = guess_width(first_id_bytes(ids, file), file.width, vocab_size);
  const bool own_fits = file.width == 2 ? guess.narrow_fits : guess.wide_fits;
  const bool headerless = format == Format::raw16 || format == Format::raw32 || (format == Format::npy && file.data_offset == 0);
  if (headerless && !own_fits && file.width == 2 && guess.wide_fits) return "the content looks like 32-bit ids: give --format raw32";
  if (headerless && !own_fits && file.width == 4 && guess.narrow_fits) return "the content looks like 16-bit ids: give --format raw16";
  if (!own_fits && guess.swapped_fits) return "the content looks like a big-endian file: convert it to little-endian";
  return "give the --vocab-size of the tokenizer that made the file, or say with --separator or --ignore-ids that the id is no token";
}

std::string stored_id(const IdSource& ids, const CorpusFile& file, Index index) {
  std::uint64_t id = 0;
  ids.read(index, 1, reinterpret_cast<char*>(&id));
  if (!file.is_signed) return std::to_string(id);
  const int shift = 64 - 8 * file.width;
  return std::to_string(static_cast<std::int64_t>(id << shift) >> shift);
}

void check_first_ids(Format format, const CorpusFile& file, Index vocab_size) {
  const bool narrow = format == Format::raw16 || (format == Format::npy && file.data_offset == 0);
  if (!narrow && format != Format::raw32) return;
  const auto ids = open_ids(file);
  const std::vector<char> bytes = first_id_bytes(*ids, file);
  const WidthGuess guess = guess_width(bytes, file.width, vocab_size);
  if (narrow && guess.every_second_low) {
    throw Error(
        fmt::format("the corpus file {} was to be read as 16-bit ids, but every second one of its first {} is {}, as in files of 32-bit "
                    "ids; give --format raw32",
                    file.path, bytes.size() / 2, vocab_size > 65536 ? "a small number" : "0"));
  }
  const auto wide = as_ids<std::uint32_t>(bytes);
  const auto beyond = std::count_if(wide.begin(), wide.end(), [vocab_size](std::uint32_t id) { return Index{id} >= vocab_size; });
  if (!narrow && guess.narrow_fits && 2 * beyond > std::ssize(wide)) {
    throw Error(
        fmt::format("the corpus file {} was to be read as 32-bit ids, but {} of its first {} are not below the vocabulary's size {}, while "
                    "all would be as 16-bit ids; give --format raw16",
                    file.path, beyond, wide.size(), vocab_size));
  }
}

}  // namespace posgeom
