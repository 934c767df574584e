#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "io/broadcast.hpp"
#include "io/dimension_scales.hpp"
#include "io/store_bootstrap.hpp"
#include "io/store_file.hpp"
#include "io/store_noise.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

void write_attributes(hid_t h5, const GeometryFile& file) {
  const Spectrum& s = file.spectrum;
  hdf5::write_attribute(h5, "length", file.length);
  hdf5::write_attribute(h5, "rank", s.rank);
  hdf5::write_attribute(h5, "trace", s.trace);
  hdf5::write_attribute(h5, "entropy_rank", s.entropy_rank);
  hdf5::write_attribute(h5, "participation_ratio", s.participation_ratio);
  hdf5::write_attribute(h5, "dims_90", s.dims_90);
  hdf5::write_attribute(h5, "dims_95", s.dims_95);
  hdf5::write_attribute(h5, "dims_99", s.dims_99);
  hdf5::write_attribute(h5, "corpus_violation_rate", file.corpus_violation_rate);
  hdf5::write_attribute(h5, "mean_hellinger", file.mean_hellinger);
  hdf5::write_attribute(h5, "sum_hellinger_squared", file.sum_hellinger_squared);
  hdf5::write_attribute(h5, "solver", file.solver);
  hdf5::write_attribute(h5, "residual", file.residual);
  hdf5::write_attribute(h5, "orthogonality", file.orthogonality);
  hdf5::write_attribute(h5, "block_size", file.block_size);
  hdf5::write_attribute(h5, "parameters_full", file.parameters_full);
  hdf5::write_attribute(h5, "parameters_factored", file.parameters_factored);
  hdf5::write_attribute(h5, "unreached", file.unreached);
  if (file.rarefied_total > 0) hdf5::write_attribute(h5, "rarefied_total", file.rarefied_total);
  if (file.most_tokens >= 0) {
    hdf5::write_attribute(h5, "fewest_tokens", file.fewest_tokens);
    hdf5::write_attribute(h5, "most_tokens", file.most_tokens);
  }
}

void lay_out_factored(hid_t h5, const GeometryFile& file, io::DimensionScales& scales) {
  const FactoredEncoding& f = *file.factored;
  expects(f.rows == std::ssize(file.position) && f.columns == file.encoding.components, "factors of the encoding");
  std::vector<std::int32_t> factor(static_cast<std::size_t>(f.rank));
  std::iota(factor.begin(), factor.end(), 0);
  const Index rank[]{f.rank};
  const Index a[]{f.rows, f.rank};
  const Index b[]{f.columns, f.rank};
  hdf5::write_vector(h5, "/factored/factor", std::span<const std::int32_t>(factor), rank);
  hdf5::write_vector(h5, "/factored/a", std::span<const double>(f.a), a);
  hdf5::write_vector(h5, "/factored/b", std::span<const double>(f.b), b);
  scales.add("/factored/factor");
  scales.attach("/factored/a", {"/position", "/factored/factor"});
  scales.attach("/factored/b", {"/component", "/factored/factor"});
  const hdf5::Handle group(hdf5::checked(H5Gopen2(h5, "/factored", H5P_DEFAULT), "opening", h5, "/factored"), H5Gclose);
  hdf5::write_attribute(group, "tolerance", file.factored_tolerance);
  hdf5::write_attribute(group, "error", f.error);
  hdf5::write_attribute(group, "rank", f.rank);
  hdf5::write_attribute(group, "parameters_full", f.parameters_full());
  hdf5::write_attribute(group, "parameters_factored", f.parameters_factored());
}

void lay_out(hid_t h5, const GeometryFile& file, bool hellinger) {
  write_attributes(h5, file);
  const Index m = std::ssize(file.position);
  const Index k = file.encoding.components;
  expects(file.encoding.rows == m, "the encoding has a row for each position");
  std::vector<std::int32_t> component(static_cast<std::size_t>(k));
  std::iota(component.begin(), component.end(), 0);
  const Index rows[]{m};
  const Index columns[]{k};
  const Index eigenvalues[]{std::ssize(file.spectrum.eigenvalues)};
  const Index encoding[]{m, k};
  hdf5::write_vector(h5, "/position", std::span<const std::int32_t>(file.position), rows);
  hdf5::write_vector(h5, "/component", std::span<const std::int32_t>(component), columns);
  hdf5::write_vector(h5, "/eigenvalues", std::span<const double>(file.spectrum.eigenvalues), eigenvalues);
  hdf5::create_dataset(h5, "/encoding", hdf5::file_type<double>(), encoding);

  io::DimensionScales scales;
  scales.add("/position");
  scales.add("/component");
  scales.add("/eigenvalues");
  scales.attach("/encoding", {"/position", "/component"});
  if (hellinger) {
    const Index square[]{m, m};
    hdf5::create_dataset(h5, "/hellinger", hdf5::file_type<double>(), square);
    scales.attach("/hellinger", {"/position", "/position"});
  }
  if (file.noise) io::lay_out_noise(h5, *file.noise, scales);
  if (file.factored) lay_out_factored(h5, file, scales);
  if (file.bootstrap) io::lay_out_bootstrap(h5, file, scales);
  scales.write(h5);
}

/// Rows first .. of the encoding, row-major, with the zeros that are not stored; in tiles, since memory holds it by columns.
void encoding_rows(const Encoding& e, Index first, Index count, std::span<double> rows) {
  expects(std::ssize(e.values) == e.rows * e.stored, "an encoding holds rows x stored values");
  std::fill(rows.begin(), rows.end(), 0.0);
  constexpr Index tile = 64;
  for (Index i0 = 0; i0 < count; i0 += tile) {
    for (Index j0 = 0; j0 < e.stored; j0 += tile) {
      for (Index j = j0; j < std::min(j0 + tile, e.stored); ++j) {
        for (Index i = i0; i < std::min(i0 + tile, count); ++i) rows[static_cast<std::size_t>(i * e.components + j)] = e.at(first + i, j);
      }
    }
  }
}

Encoding read_encoding(const StoreReader& reader, Index rows, Index rank) {
  const std::vector<Index> shape = reader.shape("/encoding");
  Encoding e;
  e.rows = rows;
  e.components = shape.size() == 2 ? shape[1] : 0;
  e.stored = rank < 0 ? e.components : std::min(e.components, rank);
  e.values.resize(static_cast<std::size_t>(e.rows * e.stored));
  reader.rows("/encoding", rows, e.components, [&](Index first, Index count, const double* piece) {
    for (Index i = 0; i < count; ++i) {
      const double* row = piece + i * e.components;
      for (Index j = 0; j < e.stored; ++j) e.values[static_cast<std::size_t>(first + i + j * e.rows)] = row[j];
      if (std::any_of(row + e.stored, row + e.components, [](double x) { return x != 0; })) {
        reader.refuse(
            fmt::format("/encoding has values beyond column {} in row {}, but the attribute rank is {}", e.stored, first + i, rank));
      }
    }
  });
  return e;
}

GeometryFile read_on_root(const std::string& path) {
  const StoreReader reader(path, io::geometry_format);
  GeometryFile file;
  Spectrum& s = file.spectrum;
  file.length = reader.integer("length");
  s.rank = reader.integer("rank");
  s.trace = reader.real("trace");
  s.entropy_rank = reader.real("entropy_rank");
  s.participation_ratio = reader.real("participation_ratio");
  s.dims_90 = reader.integer("dims_90");
  s.dims_95 = reader.integer("dims_95");
  s.dims_99 = reader.integer("dims_99");
  file.corpus_violation_rate = reader.real("corpus_violation_rate");
  file.mean_hellinger = reader.real("mean_hellinger");
  file.sum_hellinger_squared = reader.real("sum_hellinger_squared");
  file.solver = reader.text("solver");
  file.residual = reader.real("residual");
  file.orthogonality = reader.real("orthogonality");
  file.block_size = reader.integer("block_size");
  file.parameters_full = reader.integer("parameters_full");
  file.parameters_factored = reader.integer("parameters_factored");
  file.unreached = reader.text("unreached");
  file.position = reader.values<std::int32_t>("/position", {-1});
  for (std::size_t i = 0; i < file.position.size(); ++i) {
    if (file.position[i] <= (i == 0 ? -1 : file.position[i - 1]) || file.position[i] >= file.length) {
      reader.refuse(fmt::format("/position has {} in row {}, expected ascending positions below {}", file.position[i], i, file.length));
    }
  }
  s.eigenvalues = reader.values<double>("/eigenvalues", {-1});
  file.encoding = read_encoding(reader, std::ssize(file.position), s.rank);
  if (reader.has("/noise")) file.noise = io::read_noise(reader);
  if (reader.has_attribute("rarefied_total")) file.rarefied_total = reader.integer("rarefied_total");
  if (reader.has_attribute("most_tokens")) {
    file.fewest_tokens = reader.integer("fewest_tokens");
    file.most_tokens = reader.integer("most_tokens");
  }
  if (reader.has("/factored")) {
    file.factored_tolerance = reader.real("/factored/tolerance");
    FactoredEncoding& f = file.factored.emplace();
    f.rows = std::ssize(file.position);
    f.columns = file.encoding.components;
    f.rank = reader.integer("/factored/rank");
    f.error = reader.real("/factored/error");
    f.a = reader.values<double>("/factored/a", {f.rows, f.rank});
    f.b = reader.values<double>("/factored/b", {f.columns, f.rank});
  }
  if (reader.has("/bootstrap")) file.bootstrap = io::read_geometry_bootstrap(reader);
  file.has_hellinger = reader.has("/hellinger");
  return file;
}

}  // namespace

void write_geometry(const Communicator& comm, const std::string& path, const GeometryFile& file, const DistributedMatrix* hellinger,
                    const Provenance& provenance) {
  io::write_store(
      comm, path, io::geometry_format, provenance, [&](hid_t h5) { lay_out(h5, file, hellinger != nullptr); },
      [&](io::SharedWriter& writer) {
        writer.rows("/encoding",
                    [&](Index first, Index count, std::span<double> rows) { encoding_rows(file.encoding, first, count, rows); });
        if (hellinger != nullptr) writer.symmetric("/hellinger", *hellinger);
      });
}

GeometryFile read_geometry(const Communicator& comm, const std::string& path) {
  GeometryFile file = collective(comm, "reading " + path, [&] { return comm.is_root() ? read_on_root(path) : GeometryFile{}; });
  Spectrum& s = file.spectrum;
  Encoding& e = file.encoding;
  io::broadcast_all(comm, file.length, file.position, s.eigenvalues, s.rank, s.trace, s.entropy_rank, s.participation_ratio, s.dims_90,
                    s.dims_95, s.dims_99, e.rows, e.components, e.stored, e.values, file.solver, file.residual, file.orthogonality,
                    file.block_size, file.corpus_violation_rate, file.mean_hellinger, file.sum_hellinger_squared, file.parameters_full,
                    file.parameters_factored, file.unreached, file.has_hellinger, file.rarefied_total, file.fewest_tokens, file.most_tokens,
                    file.factored_tolerance);
  io::broadcast_bootstrap(comm, file.bootstrap);
  bool has_factored = file.factored.has_value();
  io::broadcast_value(comm, has_factored);
  if (has_factored) {
    if (!file.factored) file.factored.emplace();
    FactoredEncoding& f = *file.factored;
    io::broadcast_all(comm, f.rows, f.columns, f.rank, f.a, f.b, f.error);
  }
  bool has_noise = file.noise.has_value();
  io::broadcast_value(comm, has_noise);
  if (has_noise) {
    if (!file.noise) file.noise.emplace();
    io::broadcast_noise(comm, *file.noise);
  }
  s.complete = s.eigenvalues.size() == file.position.size();
  return file;
}

}  // namespace posgeom
