#include "pipeline/stress_encodings.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>

#include "pipeline/encoding_files.hpp"
#include "posgeom/geometry/projection.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// p_i of one encoding at dimension d, row-major; empty where it is undefined there.
std::vector<double> coordinates_at(const NamedEncoding& encoding, const SquareRootDistributions& s, Index d) {
  if (const auto* kernel = std::get_if<LagKernel>(&encoding.form)) return kernel->coordinates(s.position, d);
  const auto& matrix = std::get<Coordinates>(encoding.form);
  if (d > matrix.columns && !matrix.zero_beyond && !matrix.whole) return {};
  const Index columns = matrix.whole ? matrix.columns : d;
  std::vector<double> values(static_cast<std::size_t>(matrix.rows * columns), 0.0);
  for (Index j = 0; j < std::min(columns, matrix.stored); ++j) {
    for (Index i = 0; i < matrix.rows; ++i)
      values[static_cast<std::size_t>(i * columns + j)] = matrix.values[static_cast<std::size_t>(i + j * matrix.rows)];
  }
  return values;
}

/// One of posgeom's own encodings but smacof.
std::variant<Coordinates, LagKernel> own_encoding(const std::string& name, const EncodingOptions& options, const SquareRootDistributions& s,
                                                  const GeometryFile& geometry, Index widest) {
  if (name == "mds") return mds_encoding(geometry.encoding, geometry.spectrum.rank);
  if (name == "sinusoidal") return sinusoidal_encoding();
  if (name == "rope") return rope_encoding(options.rope_base, options.rope_head_dim, options.rope_scaling);
  if (name == "alibi") return alibi_encoding(options.alibi_heads, s.length);
  if (name == "linear") return linear_encoding(s.length);
  if (name == "t5") return t5_encoding();
  if (name == "kerple-log") return kerple_log_encoding();
  if (name == "kerple-power") return kerple_power_encoding();
  if (name == "fire") return fire_encoding(s.length);
  expects(name == "random", "an encoding that config_from() knows");
  return random_encoding(options.random_kind, options.seed, s.position, widest);
}

FingerprintLines line_of(const std::string& name, const std::vector<const FileMatrix*>& matrices, const std::string& more) {
  std::uint64_t hash = 0;
  for (const FileMatrix* matrix : matrices)
    hash = XXH3_64bits_withSeed(matrix->values.data(), matrix->values.size() * sizeof(double), hash);
  return {fmt::format("encoding.{}={:016x}{}", name, hash, more)};
}

/// **Collective.** An encoding from a file, or one of posgeom's own.
NamedEncoding encoding_of(const StageContext& context, const EncodingSpec& spec, const SquareRootDistributions& s,
                          const GeometryFile& geometry, Index widest, FingerprintLines& lines) {
  if (spec.made()) return {spec.name, own_encoding(spec.name, context.config.stress.encoding, s, geometry, widest)};
  const FileMatrix matrix = context.files->matrix(context, spec);
  std::ranges::move(line_of(spec.name, {&matrix}, ""), std::back_inserter(lines));
  return {spec.name, collective(context.comm, "reading an encoding",
                                [&] { return file_encoding(spec.path, matrix.values, matrix.rows, matrix.columns, s.position); })};
}

[[noreturn]] void refuse_encoding(const EncodingSpec& spec, const std::string& text) {
  throw Error(fmt::format("option --encodings, {}: {}", spec.name, text));
}

/// **Collective.** The weights of a projection: the query's, and the key's or none.
struct LayerWeights {
  FileMatrix query, key;
};
LayerWeights weights_of(const StageContext& context, const EncodingSpec& spec) {
  const Projection& projection = spec.projection;
  LayerWeights weights;
  weights.query = context.files->weight(context, spec, projection.query);
  const FileMatrix& query = weights.query;
  if (!projection.key.path.empty()) weights.key = context.files->weight(context, spec, projection.key);
  const FileMatrix& key = weights.key;
  collective(context.comm, "comparing weights", [&] {
    if (query.rows % projection.heads != 0) {
      refuse_encoding(spec,
                      fmt::format("{} has {} rows, expected a multiple of heads={}", projection.query.path, query.rows, projection.heads));
    }
    if (!projection.key.path.empty() && (key.rows != query.rows || key.columns != query.columns)) {
      refuse_encoding(spec, fmt::format("{} is {} x {}, {} is {} x {}; expected the same shape [out, in]", projection.query.path,
                                        query.rows, query.columns, projection.key.path, key.rows, key.columns));
    }
  });
  return weights;
}

ProjectionWeight weight_of(const FileMatrix& matrix) { return {matrix.rows, matrix.columns, matrix.values}; }

/// **Collective.** Everything that is scored of one layer.
void add_projections(const StageContext& context, const EncodingSpec& spec, const SquareRootDistributions& s, const GeometryFile& geometry,
                     Encodings& encodings) {
  const Projection& projection = spec.projection;
  const LayerWeights weights = weights_of(context, spec);
  const FileMatrix& query = weights.query;
  const FileMatrix& key = weights.key;
  const std::vector<EncodingSpec>& specs = context.files->specs(context);
  const auto listed = std::ranges::find(specs, projection.of, &EncodingSpec::name);
  EncodingSpec source;
  source.name = projection.of;
  FingerprintLines ignored;
  const NamedEncoding of = encoding_of(context, listed == specs.end() ? source : *listed, s, geometry, query.columns, ignored);
  const std::string more = fmt::format(" of {}, {} heads", projection.of, projection.heads);
  std::ranges::move(line_of(spec.name, {&query, &key}, more), std::back_inserter(encodings.lines));
  collective(context.comm, "projecting an encoding", [&] {
    const std::vector<double> p = coordinates_at(of, s, query.columns);
    if (std::ssize(p) != s.row_count() * query.columns) {
      refuse_encoding(
          spec, fmt::format("{} [out, in] takes {} columns, which {} does not have{}", projection.query.path, query.columns, projection.of,
                            projection.of == "mds" ? fmt::format(" here; give --components {}", query.columns) : ""));
    }
    for (const ProjectionPart& part : projection_parts(spec)) {
      const Index heads = part.head < 0 ? 1 : projection.heads;
      const Index head = std::max<Index>(part.head, 0);
      const ProjectionWeight q = head_of(weight_of(query), head, heads);
      const ProjectionWeight k = part.with_key ? head_of(weight_of(key), head, heads) : ProjectionWeight{};
      encodings.named.push_back({part.name, projected_encoding(p, s.row_count(), q, part.with_key ? &k : nullptr)});
    }
  });
}

/// **Collective.** The signal encoding of the geometry's noise analysis.
void add_signal(const StageContext& context, const GeometryFile& geometry, Encodings& encodings) {
  const std::string path = geometry_path(context.config, geometry.length);
  const FingerprintLines lines = split_lines(read_provenance(context.comm, path).value().fingerprint_lines);
  collective(context.comm, "looking for the noise analysis", [&] {
    if (geometry.noise && geometry.noise->split) return;
    throw Error(
        fmt::format("option --encodings, signal: {} holds no noise analysis of random halves; run with --noise split or all, or leave "
                    "signal out",
                    path));
  });
  std::string made_from;
  for (const std::string& line : lines) {
    if (line.starts_with("noise.")) made_from += (made_from.empty() ? "" : ", ") + line.substr(6);
  }
  encodings.lines.push_back("encoding.signal=" + made_from);
  const NoiseAnalysis& noise = *geometry.noise;
  if (noise.position_count() < 2) return;
  Coordinates x;
  x.rows = noise.position_count();
  x.columns = x.stored = noise.signal_components;
  x.zero_beyond = noise.signal_components == noise.signal_rank;
  x.values = noise.signal_encoding;
  encodings.signal = NamedEncoding{"signal", std::move(x)};
}

}  // namespace

bool wants(const Config& config, std::string_view name) {
  return std::ranges::any_of(config.stress.encodings, [&](const EncodingSpec& spec) { return spec.name == name && spec.made(); });
}

Encodings make_encodings(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Index widest) {
  Encodings encodings;
  for (const EncodingSpec& spec : context.files->specs(context)) {
    if (!spec.projection.of.empty()) {
      add_projections(context, spec, s, geometry, encodings);
    } else if (spec.made() && spec.name == "signal") {
      add_signal(context, geometry, encodings);
    } else if (!spec.made() || spec.name != "smacof") {
      encodings.named.push_back(encoding_of(context, spec, s, geometry, widest, encodings.lines));
    }
  }
  return encodings;
}

FingerprintLines stress_lines(const Config& config, const std::string& corpus_fingerprint, Index length,
                              const FingerprintLines& file_lines) {
  FingerprintLines lines = geometry_lines(config, corpus_fingerprint, length);
  const EncodingOptions& encoding = config.stress.encoding;
  lines.push_back(fmt::format("rope-base={}", encoding.rope_base));
  lines.push_back(fmt::format("rope-head-dim={}", encoding.rope_head_dim));
  if (encoding.rope_scaling.kind != RopeScaling::Kind::none)
    lines.push_back(fmt::format("rope-scaling={}", name_of(encoding.rope_scaling)));
  if (encoding.rope_scaling.kind == RopeScaling::Kind::yarn)
    lines.push_back(fmt::format("rope-original-length={}", encoding.rope_scaling.original_length));
  lines.push_back(fmt::format("alibi-heads={}", encoding.alibi_heads));
  lines.push_back(fmt::format("random-kind={}", name_of(encoding.random_kind)));
  lines.push_back(fmt::format("seed={}", encoding.seed));
  if (wants(config, "smacof")) {
    const SmacofWeights weights = config.stress.smacof_weights;
    lines.push_back(fmt::format("encoding.smacof=smacof-iterations {}, smacof-tolerance {}{}", config.stress.smacof_iterations,
                                config.stress.smacof_tolerance,
                                weights == SmacofWeights::none ? "" : fmt::format(", smacof-weights {}", name_of(weights))));
  }
  lines.insert(lines.end(), file_lines.begin(), file_lines.end());
  return lines;
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

void check_encoding_files(const StageContext& context, Index rows) {
  for (const EncodingSpec& spec : context.files->specs(context)) {
    if (!spec.projection.of.empty()) weights_of(context, spec);
    if (spec.path.empty()) continue;
    const FileMatrix matrix = context.files->matrix(context, spec);
    collective(context.comm, "checking an encoding", [&] {
      if (matrix.rows < rows) {
        const bool shifted = spec.rows.begin > 0 || spec.rows.end >= 0;
        throw Error(fmt::format("option --encodings, {}: {} has {}{}, {}; give a longer table or smaller --lengths", spec.name, spec.path,
                                number_of(matrix.rows, "row"), shifted ? fmt::format(" from row {} on", spec.rows.begin) : std::string(),
                                number_of(rows, "position needs one", "positions need one each")));
      }
    });
  }
}

}  // namespace posgeom
