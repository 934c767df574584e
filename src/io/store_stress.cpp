#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "io/broadcast.hpp"
#include "io/dimension_scales.hpp"
#include "io/posix.hpp"
#include "io/store_file.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

/// The datasets of the tables of a stress file, [E, D] each, in the order of measures_of().
std::string table_name(std::size_t measure) { return fmt::format("/{}", measure_names[measure]); }

std::string dataset_of(const StoredEncoding& encoding) { return fmt::format("/encodings/{}/{}", encoding.name, encoding.d); }

void lay_out(hid_t h5, const StressFile& file, const std::vector<StoredEncoding>& encodings) {
  const StressTable& t = file.table;
  const Index dimensions[]{std::ssize(t.dimensions)};
  const Index cells[]{std::ssize(t.encoding_names), std::ssize(t.dimensions)};
  hdf5::write_attribute(h5, "length", file.length);
  hdf5::write_attribute(h5, "constant_baseline", t.constant_baseline);
  hdf5::write_attribute(h5, "corpus_violation_rate", t.corpus_violation_rate);
  hdf5::write_vector(h5, "/dimension", std::span<const std::int32_t>(t.dimensions), dimensions);
  hdf5::write_texts(h5, "/encoding_name", t.encoding_names);
  expects(t.not_unique.size() == t.dimensions.size(), "not_unique has a flag for each dimension");
  hdf5::write_vector(h5, "/not_unique", std::span<const std::uint8_t>(t.not_unique), dimensions);
  io::DimensionScales scales;
  scales.add("/dimension");
  scales.add("/encoding_name");
  scales.attach("/not_unique", {"/dimension"});
  const auto measures = measures_of(t);
  for (std::size_t k = 0; k < measures.size(); ++k) {
    expects(std::ssize(*measures[k]) == cells[0] * cells[1], "a stress table is [E, D]");
    hdf5::write_vector(h5, table_name(k), std::span<const double>(*measures[k]), cells);
    scales.attach(table_name(k), {"/encoding_name", "/dimension"});
  }
  scales.write(h5);
  for (const StoredEncoding& encoding : encodings) {
    const Index shape[]{encoding.rows, encoding.columns};
    hdf5::create_dataset(h5, dataset_of(encoding), hdf5::file_type<double>(), shape);
  }
}

StressFile read_on_root(const std::string& path) {
  const StoreReader reader(path, io::stress_format);
  StressFile file;
  StressTable& t = file.table;
  file.length = reader.integer("length");
  t.constant_baseline = reader.real("constant_baseline");
  t.corpus_violation_rate = reader.real("corpus_violation_rate");
  t.dimensions = reader.values<std::int32_t>("/dimension", {-1});
  t.encoding_names = reader.texts("/encoding_name");
  t.not_unique = reader.values<std::uint8_t>("/not_unique", {std::ssize(t.dimensions)});
  const auto measures = measures_of(t);
  for (std::size_t k = 0; k < measures.size(); ++k)
    *measures[k] = reader.values<double>(table_name(k), {std::ssize(t.encoding_names), std::ssize(t.dimensions)});
  return file;
}

}  // namespace

void write_stress(const Communicator& comm, const std::string& path, const StressFile& file, const std::vector<StoredEncoding>& encodings,
                  const Provenance& provenance) {
  io::write_store(
      comm, path, io::stress_format, provenance, [&](hid_t h5) { lay_out(h5, file, encodings); },
      [&](io::SharedWriter& writer) {
        for (const StoredEncoding& encoding : encodings) {
          writer.rows(dataset_of(encoding), [&](Index first, Index count, std::span<double> rows) {
            expects(std::ssize(encoding.values) == encoding.rows * encoding.columns, "a stored encoding holds rows x columns values");
            std::copy_n(encoding.values.begin() + first * encoding.columns, count * encoding.columns, rows.begin());
          });
        }
      });
}

StressFile read_stress(const Communicator& comm, const std::string& path) {
  StressFile file = collective(comm, "reading " + path, [&] { return comm.is_root() ? read_on_root(path) : StressFile{}; });
  StressTable& t = file.table;
  io::broadcast_all(comm, file.length, t.dimensions, t.encoding_names, t.not_unique, t.constant_baseline, t.corpus_violation_rate);
  for (std::vector<double>* measure : measures_of(t)) io::broadcast_all(comm, *measure);
  return file;
}

std::optional<Provenance> read_provenance(const Communicator& comm, const std::string& path) {
  int found = 0;
  Provenance p = collective(comm, "reading " + path, [&] {
    if (!comm.is_root() || !io::exists(path)) return Provenance{};
    found = 1;
    return StoreReader(path, "").provenance();
  });
  io::broadcast_all(comm, found, p.command_line, p.config, p.ranks, p.process_grid, p.libraries, p.created, p.seed, p.fingerprint,
                    p.fingerprint_lines, p.corpus_fingerprint);
  return found != 0 ? std::optional(p) : std::nullopt;
}

}  // namespace posgeom
