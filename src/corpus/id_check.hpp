#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "corpus/token_source.hpp"
#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// The largest id; 0 of none. At the speed of memory.
std::uint32_t largest(std::span<const std::uint16_t> ids);
std::uint32_t largest(std::span<const std::uint32_t> ids);

/// Index of the first `id`; ids.size() where there is none. At the speed of memory.
Index find_id(std::span<const std::uint16_t> ids, std::uint32_t id);
Index find_id(std::span<const std::uint32_t> ids, std::uint32_t id);

/// What the first ids of a file would be under other readings.
struct WidthGuess {
  bool narrow_fits = false;       ///< as 16 bits all are below V
  bool wide_fits = false;         ///< as 32 bits
  bool swapped_fits = false;      ///< as big-endian ones of the file's own width
  bool every_second_low = false;  ///< of the 16-bit ids every second one, not all, could be the upper half of a 32-bit id below V
};
/// `bytes` begin with an id. V: 0 where it is not known.
WidthGuess guess_width(std::span<const char> bytes, int width, Index vocab_size);

/// The file's first bytes of ids, at most 8192.
std::vector<char> first_id_bytes(const IdSource& ids, const CorpusFile& file);

/// Why an id may be out of range, and what to do: the end of an error's text.
std::string cause_of_bad_id(const IdSource& ids, const CorpusFile& file, Format format, Index vocab_size);

/// Id number `index` as it is stored.
std::string stored_id(const IdSource& ids, const CorpusFile& file, Index index);

}  // namespace posgeom
