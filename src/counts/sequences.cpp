#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/philox.hpp"

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

Index bootstrap_weight(std::uint64_t seed, Index replicate, Index unit) {
  KeyedWords words({.seed = seed,
                    .first = static_cast<std::uint64_t>(unit),
                    .second = static_cast<std::uint64_t>(replicate),
                    .purpose = Purpose::resample});
  const double u = words.unit();
  double probability = std::exp(-1.0);
  double below = probability;
  Index weight = 0;
  // Beyond 20 there is less than a double between `below` and 1.
  while (u > below && weight < 20) {
    probability /= static_cast<double>(++weight);
    below += probability;
  }
  return weight;
}

ReadOptions read_options_for(const CountOptions& options) {
  const bool packed = options.sequences == Sequences::packed;
  ReadOptions read;
  read.stream = packed;
  read.document_index = (options.resampling.count > 0 && !packed) || (options.noise.split && options.noise.split_by != SplitBy::column) ||
                        (options.noise.shuffle && !packed);
  // A shuffled sequence is permuted as a whole, so its tokens must come together; the others count token by token.
  if (packed && options.noise.shuffle) read.overlap = std::ranges::max(options.lengths) - 1;
  return read;
}

}  // namespace posgeom
