#include <fmt/format.h>

#include <array>
#include <optional>

#include "io/dimension_scales.hpp"
#include "io/partial_file.hpp"
#include "io/store_file.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using Column = std::pair<std::string_view, const std::vector<double>*>;

std::array<Column, cell_tables.size()> cell_columns(const Sweep& s) {
  std::array<Column, cell_tables.size()> columns;
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = {cell_tables[k].column, cells_of(s)[k]};
  return columns;
}

/// Whole numbers by length.
std::array<std::pair<std::string_view, const std::vector<std::int64_t>*>, 4> rank_columns(const Sweep& s) {
  return {
      {{"rank", &s.rank}, {"signal_rank", &s.signal_rank}, {"rarefied_total", &s.rarefied_total}, {"noise_positions", &s.noise_positions}}};
}

std::array<Column, 3> length_columns(const Sweep& s) {
  return {{{"trace", &s.trace}, {"constant_baseline", &s.constant_baseline}, {"corpus_violation_rate", &s.corpus_violation_rate}}};
}

void expect_shapes(const Sweep& s) {
  const std::size_t cells = s.lengths.size() * s.encoding_names.size() * s.dimensions.size();
  for (const auto& [name, values] : cell_columns(s)) expects(values->size() == cells, fmt::format("the sweep's {} is [L, E, D]", name));
  for (const auto& [name, values] : length_columns(s))
    expects(values->size() == s.lengths.size(), fmt::format("the sweep's {} is [L]", name));
  for (const auto& [name, values] : rank_columns(s))
    expects(values->size() == s.lengths.size(), fmt::format("the sweep's {} is [L]", name));
}

void lay_out(hid_t h5, const Sweep& s) {
  expect_shapes(s);
  const Index lengths[]{std::ssize(s.lengths)};
  const Index dimensions[]{std::ssize(s.dimensions)};
  const Index cells[]{lengths[0], std::ssize(s.encoding_names), dimensions[0]};
  hdf5::write_vector(h5, "/length", std::span<const std::int64_t>(s.lengths), lengths);
  hdf5::write_texts(h5, "/encoding_name", s.encoding_names);
  hdf5::write_vector(h5, "/dimension", std::span<const std::int32_t>(s.dimensions), dimensions);
  io::DimensionScales scales;
  scales.add("/length");
  scales.add("/encoding_name");
  scales.add("/dimension");
  for (const auto& [name, values] : rank_columns(s)) {
    hdf5::write_vector(h5, fmt::format("/{}", name), std::span<const std::int64_t>(*values), lengths);
    scales.attach(fmt::format("/{}", name), {"/length"});
  }
  for (const auto& [name, values] : length_columns(s)) {
    hdf5::write_vector(h5, fmt::format("/{}", name), std::span<const double>(*values), lengths);
    scales.attach(fmt::format("/{}", name), {"/length"});
  }
  for (const auto& [name, values] : cell_columns(s)) {
    hdf5::write_vector(h5, fmt::format("/{}", name), std::span<const double>(*values), cells);
    scales.attach(fmt::format("/{}", name), {"/length", "/encoding_name", "/dimension"});
  }
  scales.write(h5);
}

/// A CSV field (RFC 4180): in quotes where it holds a separator or a quote.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_of(const Sweep& s) {
  expect_shapes(s);
  std::string csv = "length,dimension,encoding";
  for (const auto& [name, values] : cell_columns(s)) csv += fmt::format(",{}", name);
  for (const auto& [name, values] : rank_columns(s)) csv += fmt::format(",{}", name);
  for (const auto& [name, values] : length_columns(s)) csv += fmt::format(",{}", name);
  csv += '\n';
  std::size_t cell = 0;
  for (std::size_t l = 0; l < s.lengths.size(); ++l) {
    for (const std::string& encoding : s.encoding_names) {
      for (const std::int32_t dimension : s.dimensions) {
        csv += fmt::format("{},{},{}", s.lengths[l], dimension, field(encoding));
        for (const auto& [name, values] : cell_columns(s)) csv += fmt::format(",{}", (*values)[cell]);
        for (const auto& [name, values] : rank_columns(s)) csv += fmt::format(",{}", (*values)[l]);
        for (const auto& [name, values] : length_columns(s)) csv += fmt::format(",{}", (*values)[l]);
        csv += '\n';
        ++cell;
      }
    }
  }
  return csv;
}

}  // namespace

void write_sweep(const Communicator& comm, const std::string& path, const Sweep& sweep, const Provenance& provenance) {
  io::write_store(comm, path, io::sweep_format, provenance, [&](hid_t h5) { lay_out(h5, sweep); });
}

void write_sweep_csv(const Communicator& comm, const std::string& path, const Sweep& sweep) {
  collective(comm, "writing " + path, [&] {
    if (!comm.is_root()) return;
    const std::string csv = csv_of(sweep);
    io::PartialFile partial(path);
    partial.write(csv);
    partial.commit();
  });
}

}  // namespace posgeom
