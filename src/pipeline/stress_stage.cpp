#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "posgeom/io/encoding_file.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The encodings that the configuration asks for, made for the positions of `s`, and a fingerprint line for each that comes from a file.
struct Encodings {
  std::vector<NamedEncoding> named;
  FingerprintLines file_lines;
};

/// **Collective.** The matrix of a file encoding; errors name the encoding.
FileMatrix read_matrix(const StageContext& context, const EncodingSpec& spec) {
  try {
    return read_encoding_file(context.comm, spec.path, spec.dataset);
  } catch (const CollectiveError& error) {
    throw CollectiveError(fmt::format("option --encodings, {}: {}", spec.name, error.what()), error.kind(), error.rank());
  }
}

Encodings make_encodings(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Index widest) {
  const StressOptions& stress = context.config.stress;
  Encodings encodings;
  for (const EncodingSpec& spec : stress.encodings) {
    NamedEncoding encoding{spec.name, {}};
    if (!spec.path.empty()) {
      const FileMatrix matrix = read_matrix(context, spec);
      encodings.file_lines.push_back(
          fmt::format("encoding.{}={:016x}", spec.name, XXH3_64bits(matrix.values.data(), matrix.values.size() * sizeof(double))));
      encoding.form = collective(context.comm, "reading an encoding",
                                 [&] { return file_encoding(spec.path, matrix.values, matrix.rows, matrix.columns, s.position); });
    } else if (spec.name == "mds") {
      encoding.form = mds_encoding(geometry.encoding, geometry.spectrum.rank);
    } else if (spec.name == "sinusoidal") {
      encoding.form = sinusoidal_encoding();
    } else if (spec.name == "rope") {
      encoding.form = rope_encoding(stress.encoding.rope_base, stress.encoding.rope_head_dim);
    } else if (spec.name == "alibi") {
      encoding.form = alibi_encoding(stress.encoding.alibi_heads, s.length);
    } else if (spec.name == "linear") {
      encoding.form = linear_encoding(s.length);
    } else {
      expects(spec.name == "random", "an encoding that config_from() knows");
      encoding.form = random_encoding(stress.encoding.random_kind, stress.encoding.seed, s.position, widest);
    }
    encodings.named.push_back(std::move(encoding));
  }
  return encodings;
}

FingerprintLines stress_lines(const Config& config, const std::string& corpus_fingerprint, Index length,
                              const FingerprintLines& file_lines) {
  FingerprintLines lines = geometry_lines(config, corpus_fingerprint, length);
  const EncodingOptions& encoding = config.stress.encoding;
  lines.push_back(fmt::format("rope-base={}", encoding.rope_base));
  lines.push_back(fmt::format("rope-head-dim={}", encoding.rope_head_dim));
  lines.push_back(fmt::format("alibi-heads={}", encoding.alibi_heads));
  lines.push_back(fmt::format("random-kind={}", name_of(encoding.random_kind)));
  lines.push_back(fmt::format("seed={}", encoding.seed));
  lines.insert(lines.end(), file_lines.begin(), file_lines.end());
  return lines;
}

/// H's own numbers, from the geometry file that holds them.
HellingerSummary summary_of(const GeometryFile& geometry) {
  HellingerSummary summary;
  const auto m = static_cast<Index>(geometry.position.size());
  summary.pair_count = m * (m - 1) / 2;
  summary.mean = geometry.mean_hellinger;
  summary.sum = summary.pair_count > 0 ? geometry.mean_hellinger * static_cast<double>(summary.pair_count) : 0;
  summary.sum_squared = geometry.sum_hellinger_squared;
  summary.corpus_violation_rate = geometry.corpus_violation_rate;
  const double mean_square = summary.sum_squared / static_cast<double>(summary.pair_count);
  summary.constant_baseline = summary.sum_squared > 0 ? 1 - summary.mean * summary.mean / mean_square : not_a_number;
  return summary;
}

/// A table for the union of the names and dimensions of `there` and of this run; every cell NaN but those of `there`.
StressTable widened(const StressTable& there, const std::vector<std::int32_t>& dims, const std::vector<NamedEncoding>& encodings) {
  StressTable table;
  std::set<std::int32_t> all(dims.begin(), dims.end());
  all.insert(there.dimensions.begin(), there.dimensions.end());
  table.dimensions.assign(all.begin(), all.end());
  for (const NamedEncoding& encoding : encodings) table.encoding_names.push_back(encoding.name);
  for (const std::string& name : there.encoding_names) {
    if (std::find(table.encoding_names.begin(), table.encoding_names.end(), name) == table.encoding_names.end())
      table.encoding_names.push_back(name);
  }
  const std::size_t cells = table.encoding_names.size() * table.dimensions.size();
  const auto measures = measures_of(table);
  const auto there_measures = measures_of(there);
  for (auto* measure : measures) measure->assign(cells, not_a_number);
  for (std::size_t e = 0; e < there.encoding_names.size(); ++e) {
    const auto name =
        std::find(table.encoding_names.begin(), table.encoding_names.end(), there.encoding_names[e]) - table.encoding_names.begin();
    for (std::size_t d = 0; d < there.dimensions.size(); ++d) {
      const auto dimension =
          std::lower_bound(table.dimensions.begin(), table.dimensions.end(), there.dimensions[d]) - table.dimensions.begin();
      const auto to = static_cast<std::size_t>(table.index(name, dimension));
      const auto from = static_cast<std::size_t>(there.index(static_cast<Index>(e), static_cast<Index>(d)));
      for (std::size_t k = 0; k < measures.size(); ++k) (*measures[k])[to] = (*there_measures[k])[from];
    }
  }
  return table;
}

/// Each encoding's dimensions that `table` has no number for. A cell that is undefined has none and costs nothing to find undefined again.
std::vector<StressRequest> missing_cells(const StressTable& table, const std::vector<NamedEncoding>& encodings) {
  std::vector<StressRequest> requests;
  for (std::size_t e = 0; e < encodings.size(); ++e) {
    StressRequest request{encodings[e], {}};
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      if (std::isnan(table.raw[static_cast<std::size_t>(table.index(static_cast<Index>(e), static_cast<Index>(d)))])) {
        request.dimensions.push_back(table.dimensions[d]);
      }
    }
    if (!request.dimensions.empty()) requests.push_back(std::move(request));
  }
  return requests;
}

void insert(StressTable& table, const StressRequest& request, const StressColumns& columns) {
  const auto to_measures = measures_of(table);
  const auto from_measures = measures_of(columns);
  const auto name =
      std::find(table.encoding_names.begin(), table.encoding_names.end(), request.encoding.name) - table.encoding_names.begin();
  for (std::size_t k = 0; k < request.dimensions.size(); ++k) {
    const auto dimension =
        std::lower_bound(table.dimensions.begin(), table.dimensions.end(), request.dimensions[k]) - table.dimensions.begin();
    const auto to = static_cast<std::size_t>(table.index(name, dimension));
    for (std::size_t measure = 0; measure < measure_names.size(); ++measure) (*to_measures[measure])[to] = (*from_measures[measure])[k];
  }
}

/// p_i of one encoding at dimension d, row-major; empty where it is undefined there.
std::vector<double> coordinates_at(const NamedEncoding& encoding, const SquareRootDistributions& s, Index d) {
  if (const auto* kernel = std::get_if<LagKernel>(&encoding.form)) return kernel->coordinates(s.position, d);
  const auto& matrix = std::get<Coordinates>(encoding.form);
  if (d > matrix.columns && !matrix.zero_beyond) return {};
  std::vector<double> values(static_cast<std::size_t>(matrix.rows * d), 0.0);
  for (Index j = 0; j < std::min(d, matrix.stored); ++j) {
    for (Index i = 0; i < matrix.rows; ++i)
      values[static_cast<std::size_t>(i * d + j)] = matrix.values[static_cast<std::size_t>(i + j * matrix.rows)];
  }
  return values;
}

std::vector<StoredEncoding> encodings_to_store(const StressTable& table, const std::vector<NamedEncoding>& encodings,
                                               const SquareRootDistributions& s) {
  std::vector<StoredEncoding> stored;
  for (const NamedEncoding& encoding : encodings) {
    for (const std::int32_t d : table.dimensions) {
      std::vector<double> values = coordinates_at(encoding, s, d);
      if (values.empty()) continue;
      const Index columns = std::ssize(values) / s.row_count();
      stored.push_back({encoding.name, d, s.row_count(), columns, std::move(values)});
    }
  }
  return stored;
}

}  // namespace

void check_encoding_files(const StageContext& context, Index rows) {
  for (const EncodingSpec& spec : context.config.stress.encodings) {
    if (spec.path.empty()) continue;
    const FileMatrix matrix = read_matrix(context, spec);
    collective(context.comm, "checking an encoding", [&] {
      if (matrix.rows < rows) {
        throw Error(
            fmt::format("option --encodings, {}: {} has {} rows, {} positions need one each; give a longer table or smaller --lengths",
                        spec.name, spec.path, matrix.rows, rows));
      }
    });
  }
}

StressFile stress_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                        const GeometryFile& geometry) {
  const Config& config = context.config;
  const std::string path = stress_path(config, s.length);
  context.report.begin(fmt::format("stress n={}", s.length));
  const std::vector<std::int32_t> dims = resolve_dimensions(config.stress, geometry.spectrum.rank, s.row_count());
  Index widest = dims.back();
  StressTable there;
  const FingerprintLines own_lines = stress_lines(config, corpus_fingerprint, s.length, {});
  FingerprintLines kept_lines;
  if (is_reusable(context.comm, path, own_lines, config.output.force, config.output.resume)) {
    there = read_stress(context.comm, path).table;
    kept_lines = split_lines(read_provenance(context.comm, path).value().fingerprint_lines);
    if (!there.dimensions.empty()) widest = std::max<Index>(widest, there.dimensions.back());
  }
  const Encodings encodings = make_encodings(context, s, geometry, widest);
  collective(context.comm, "comparing file encodings", [&] {
    if (kept_lines.empty()) return;
    require_same(path, kept_lines, stress_lines(config, corpus_fingerprint, s.length, encodings.file_lines), keep_or_replace);
  });

  StressFile file;
  file.length = s.length;
  file.table = widened(there, dims, encodings.named);
  const std::vector<StressRequest> requests = missing_cells(file.table, encodings.named);
  const bool grown = file.table.dimensions != there.dimensions || file.table.encoding_names.size() != there.encoding_names.size();
  const std::string stored_before = line_value(kept_lines, "encoding.stored");
  const bool store_encodings = config.stress.write_encodings || stored_before == "yes";
  if (!grown && (stored_before == "yes" || !config.stress.write_encodings)) {
    context.report.end("reused " + path);
    file.table = there;
    return file;
  }
  const HellingerSummary summary = summary_of(geometry);
  const std::vector<StressColumns> columns = stress_sweep(context.comm, s, summary, requests, [&](Index done, Index total) {
    context.report.progress(static_cast<double>(done) / static_cast<double>(std::max<Index>(total, 1)), "");
  });
  for (std::size_t k = 0; k < requests.size(); ++k) insert(file.table, requests[k], columns[k]);
  for (const std::int32_t d : file.table.dimensions) file.table.not_unique.push_back(not_unique(geometry.spectrum, d) ? 1 : 0);
  file.table.constant_baseline = summary.constant_baseline;
  file.table.corpus_violation_rate = summary.corpus_violation_rate;

  FingerprintLines lines = stress_lines(config, corpus_fingerprint, s.length, encodings.file_lines);
  for (const std::string& line : kept_lines) {
    if (line.rfind("encoding.", 0) == 0 && line_value(lines, line.substr(0, line.find('='))).empty()) lines.push_back(line);
  }
  if (store_encodings && stored_before.empty()) lines.emplace_back("encoding.stored=yes");
  const std::vector<StoredEncoding> stored =
      store_encodings ? encodings_to_store(file.table, encodings.named, s) : std::vector<StoredEncoding>();
  write_stress(context.comm, path, file, stored, provenance_of(context, lines, corpus_fingerprint));
  context.report.end(fmt::format("{} encodings x {} dimensions", file.table.encoding_names.size(), file.table.dimensions.size()));
  return file;
}

}  // namespace posgeom
