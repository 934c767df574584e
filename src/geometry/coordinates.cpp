#include <Random123/philox.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/geometry/encodings.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::pair<RandomKind, std::string_view>, 3> kind_names{
    {{RandomKind::normal, "normal"}, {RandomKind::uniform, "uniform"}, {RandomKind::bert, "bert"}}};

/// The middle of one of 2^52 equal parts of (0, 1), from the upper 26 bits of each word: exact, and never 0 or 1.
double open_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high >> 6U} << 26U) | (low >> 6U);
  return std::ldexp(static_cast<double>(bits) + 0.5, -52);
}

double random_entry(RandomKind kind, std::uint64_t seed, std::int32_t i, Index k) {
  const r123::Philox4x32::key_type key = {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
  const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k), 0, 0}};
  const r123::Philox4x32::ctr_type words = r123::Philox4x32()(counter, key);
  const double u1 = open_unit(words[0], words[1]);
  if (kind == RandomKind::uniform) return 2 * u1 - 1;
  const double u2 = open_unit(words[2], words[3]);
  const double normal = std::sqrt(-2 * std::log(u1)) * std::cos(2 * std::numbers::pi * u2);
  return kind == RandomKind::bert ? 0.02 * normal : normal;
}

}  // namespace

std::string_view name_of(RandomKind kind) {
  return std::ranges::find(kind_names, kind, &std::pair<RandomKind, std::string_view>::first)->second;
}

RandomKind random_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kind_names, name, &std::pair<RandomKind, std::string_view>::second);
  if (found == kind_names.end()) {
    throw Error(fmt::format("--random-kind: found '{}', expected one of normal, uniform, bert", name), ErrorKind::usage);
  }
  return found->first;
}

Coordinates random_encoding(RandomKind kind, std::uint64_t seed, std::span<const std::int32_t> positions, Index columns) {
  Coordinates x;
  x.rows = std::ssize(positions);
  x.columns = x.stored = columns;
  x.values.reserve(positions.size() * static_cast<std::size_t>(columns));
  for (Index k = 0; k < columns; ++k) {
    for (const std::int32_t i : positions) x.values.push_back(random_entry(kind, seed, i, k));
  }
  return x;
}

Coordinates mds_encoding(const Encoding& encoding, Index rank) {
  Coordinates x;
  x.rows = encoding.rows;
  x.columns = encoding.components;
  x.stored = encoding.stored;
  x.zero_beyond = encoding.stored == rank;
  x.flag_not_unique = true;
  x.values = encoding.values;
  return x;
}

Coordinates file_encoding(const std::string& name, std::span<const double> matrix, Index file_rows, Index file_columns,
                          std::span<const std::int32_t> positions) {
  expects(std::ssize(matrix) == file_rows * file_columns, "a whole matrix");
  const Index needed = positions.empty() ? 0 : Index{positions.back()} + 1;
  if (file_rows < needed) {
    throw Error(fmt::format("encoding {}: its file has {} rows, position {} needs {}; give a longer table or a smaller --lengths", name,
                            file_rows, needed - 1, needed));
  }
  Coordinates x;
  x.rows = std::ssize(positions);
  x.columns = x.stored = file_columns;
  x.values.reserve(positions.size() * static_cast<std::size_t>(file_columns));
  for (Index k = 0; k < file_columns; ++k) {
    for (const std::int32_t i : positions) {
      const double value = matrix[static_cast<std::size_t>(i * file_columns + k)];
      if (!std::isfinite(value)) {
        throw Error(fmt::format("encoding {}: found {} in row {}, column {} of its file, expected a finite number", name, value, i, k));
      }
      x.values.push_back(value);
    }
  }
  return x;
}

}  // namespace posgeom
