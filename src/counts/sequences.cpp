#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::pair<Sequences, std::string_view>, 3> sequence_names{
    {{Sequences::document, "document"}, {Sequences::chunk, "chunk"}, {Sequences::packed, "packed"}}};

}  // namespace

std::string_view name_of(Sequences sequences) {
  return std::ranges::find(sequence_names, sequences, &std::pair<Sequences, std::string_view>::first)->second;
}

Sequences sequences_named(std::string_view name) {
  const auto found = std::ranges::find(sequence_names, name, &std::pair<Sequences, std::string_view>::second);
  if (found == sequence_names.end()) {
    throw Error(fmt::format("--sequences: found '{}', expected one of document, chunk, packed", name), ErrorKind::usage);
  }
  return found->first;
}

ReadOptions read_options_for(const CountOptions& options) {
  const bool packed = options.sequences == Sequences::packed;
  ReadOptions read;
  read.stream = packed;
  read.document_index = (options.noise.split && options.noise.split_by != SplitBy::column) || (options.noise.shuffle && !packed);
  // A shuffled sequence is permuted as a whole, so its tokens must come together; the others count token by token.
  if (packed && options.noise.shuffle) read.overlap = std::ranges::max(options.lengths) - 1;
  return read;
}

}  // namespace posgeom
