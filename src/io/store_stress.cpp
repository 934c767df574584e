#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "io/broadcast.hpp"
#include "io/dimension_scales.hpp"
#include "io/posix.hpp"
#include "io/store_bootstrap.hpp"
#include "io/store_file.hpp"
#include "io/store_series.hpp"
#include "io/store_stress.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

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
  const auto tables = cells_of(file);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    if (tables[k] == nullptr) continue;
    expects(std::ssize(*tables[k]) == cells[0] * cells[1], "a stress table is [E, D]");
    const std::string name(cell_tables[k].dataset);
    hdf5::write_vector(h5, name, std::span<const double>(*tables[k]), cells);
    scales.attach(name, {"/encoding_name", "/dimension"});
  }
  if (file.weighted) {
    for (const auto& [name, values] :
         {std::pair("/weighted/smacof", &file.weighted->smacof), std::pair("/weighted/mds", &file.weighted->mds)}) {
      expects(std::ssize(*values) == dimensions[0], "a weighted stress a dimension");
      hdf5::write_vector(h5, name, std::span<const double>(*values), dimensions);
      scales.attach(name, {"/dimension"});
    }
  }
  io::lay_out_series(h5, t, scales);
  if (file.bootstrap) io::lay_out_bootstrap(h5, file, scales);
  scales.write(h5);
  if (file.shuffled) {
    const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/shuffled", H5P_DEFAULT), "opening", h5, "/shuffled"), H5Gclose);
    hdf5::write_attribute(group, "constant_baseline", file.shuffled->constant_baseline);
    hdf5::write_attribute(group, "corpus_violation_rate", file.shuffled->corpus_violation_rate);
  }
  if (file.denoised) {
    const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/denoised", H5P_DEFAULT), "opening", h5, "/denoised"), H5Gclose);
    hdf5::write_attribute(group, "constant_baseline", file.denoised->constant_baseline);
  }
  if (file.weighted) {
    const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/weighted", H5P_DEFAULT), "opening", h5, "/weighted"), H5Gclose);
    hdf5::write_attribute(group, "weights", file.weighted->weights);
  }
  for (const StoredEncoding& encoding : encodings) {
    const Index shape[]{encoding.rows, encoding.columns};
    hdf5::create_dataset(h5, dataset_of(encoding), hdf5::file_type<double>(), shape);
  }
}

}  // namespace

StressFile io::read_stress_table(const StoreReader& reader) {
  StressFile file;
  StressTable& t = file.table;
  file.length = reader.integer("length");
  t.constant_baseline = reader.real("constant_baseline");
  t.corpus_violation_rate = reader.real("corpus_violation_rate");
  t.dimensions = reader.values<std::int32_t>("/dimension", {-1});
  t.encoding_names = reader.texts("/encoding_name");
  t.not_unique = reader.values<std::uint8_t>("/not_unique", {std::ssize(t.dimensions)});
  if (reader.has("/shuffled")) {
    file.shuffled.emplace();
    file.shuffled->constant_baseline = reader.real("/shuffled/constant_baseline");
    file.shuffled->corpus_violation_rate = reader.real("/shuffled/corpus_violation_rate");
  }
  if (reader.has("/denoised")) {
    file.denoised.emplace();
    file.denoised->constant_baseline = reader.real("/denoised/constant_baseline");
  }
  if (reader.has("/weighted")) {
    const std::vector<Index> shape{std::ssize(t.dimensions)};
    file.weighted = {.weights = reader.text("/weighted/weights"),
                     .smacof = reader.values<double>("/weighted/smacof", shape),
                     .mds = reader.values<double>("/weighted/mds", shape)};
  }
  const auto tables = cells_of(file);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    if (tables[k] == nullptr) continue;
    *tables[k] = reader.values<double>(std::string(cell_tables[k].dataset), {std::ssize(t.encoding_names), std::ssize(t.dimensions)});
  }
  if (reader.has("/bootstrap")) file.bootstrap = io::read_stress_bootstrap(reader, std::ssize(t.encoding_names), std::ssize(t.dimensions));
  return file;
}

namespace {

/// The root's group on every rank.
template <class Group>
void broadcast_presence(const Communicator& comm, std::optional<Group>& group) {
  bool there = group.has_value();
  io::broadcast_value(comm, there);
  if (there && !group) group.emplace();
}

std::vector<StoredEncoding> stored_on_root(const std::string& path) {
  const StoreReader reader(path, io::stress_format);
  std::vector<StoredEncoding> all;
  if (!reader.has("/encodings")) return all;
  for (const std::string& name : reader.names_in("/encodings")) {
    for (const std::string& d : reader.names_in("/encodings/" + name)) {
      const std::string dataset = fmt::format("/encodings/{}/{}", name, d);
      const std::vector<Index> shape = reader.shape(dataset);
      StoredEncoding& encoding = all.emplace_back();
      encoding.name = name;
      const auto [end, error] = std::from_chars(d.data(), d.data() + d.size(), encoding.d);
      if (shape.size() != 2 || error != std::errc() || end != d.data() + d.size())
        reader.refuse(fmt::format("{} is no matrix of a dimension", dataset));
      encoding.rows = shape[0];
      encoding.columns = shape[1];
      encoding.values = reader.values<double>(dataset, shape);
    }
  }
  return all;
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
  StressFile file = collective(comm, "reading " + path,
                               [&] { return comm.is_root() ? io::read_stress_table(StoreReader(path, io::stress_format)) : StressFile{}; });
  StressTable& t = file.table;
  io::broadcast_all(comm, file.length, t.dimensions, t.encoding_names, t.not_unique, t.constant_baseline, t.corpus_violation_rate);
  broadcast_presence(comm, file.shuffled);
  broadcast_presence(comm, file.denoised);
  if (file.shuffled) io::broadcast_all(comm, file.shuffled->constant_baseline, file.shuffled->corpus_violation_rate);
  if (file.denoised) io::broadcast_value(comm, file.denoised->constant_baseline);
  broadcast_presence(comm, file.weighted);
  if (file.weighted) io::broadcast_all(comm, file.weighted->weights, file.weighted->smacof, file.weighted->mds);
  for (std::vector<double>* cells : cells_of(file)) {
    if (cells != nullptr) io::broadcast_value(comm, *cells);
  }
  io::broadcast_bootstrap(comm, file.bootstrap);
  return file;
}

std::vector<StoredEncoding> read_stored_encodings(const Communicator& comm, const std::string& path) {
  std::vector<StoredEncoding> all =
      collective(comm, "reading " + path, [&] { return comm.is_root() ? stored_on_root(path) : std::vector<StoredEncoding>(); });
  Index count = std::ssize(all);
  io::broadcast_value(comm, count);
  all.resize(static_cast<std::size_t>(count));
  for (StoredEncoding& encoding : all) io::broadcast_all(comm, encoding.name, encoding.d, encoding.rows, encoding.columns, encoding.values);
  return all;
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
