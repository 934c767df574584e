#include "pipeline/stress_encodings.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "posgeom/io/encoding_file.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// **Collective.** The matrix of a file encoding; errors name the encoding.
FileMatrix read_matrix(const StageContext& context, const EncodingSpec& spec) {
  try {
    return read_encoding_file(context.comm, spec.path, spec.dataset, spec.rows);
  } catch (const CollectiveError& error) {
    throw CollectiveError(fmt::format("option --encodings, {}: {}", spec.name, error.what()), error.kind(), error.rank());
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

}  // namespace

bool wants_smacof(const Config& config) {
  return std::ranges::any_of(config.stress.encodings, [](const EncodingSpec& spec) { return spec.name == "smacof"; });
}

Encodings make_encodings(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Index widest) {
  const StressOptions& stress = context.config.stress;
  Encodings encodings;
  for (const EncodingSpec& spec : stress.encodings) {
    if (spec.name == "smacof") continue;
    NamedEncoding encoding{spec.name, {}};
    if (!spec.path.empty()) {
      const FileMatrix matrix = read_matrix(context, spec);
      encodings.file_lines.push_back(
          fmt::format("encoding.{}={:016x}", spec.name, XXH3_64bits(matrix.values.data(), matrix.values.size() * sizeof(double))));
      encoding.form = collective(context.comm, "reading an encoding",
                                 [&] { return file_encoding(spec.path, matrix.values, matrix.rows, matrix.columns, s.position); });
    } else {
      encoding.form = own_encoding(spec.name, stress.encoding, s, geometry, widest);
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
  if (encoding.rope_scaling.kind != RopeScaling::Kind::none)
    lines.push_back(fmt::format("rope-scaling={}", name_of(encoding.rope_scaling)));
  if (encoding.rope_scaling.kind == RopeScaling::Kind::yarn)
    lines.push_back(fmt::format("rope-original-length={}", encoding.rope_scaling.original_length));
  lines.push_back(fmt::format("alibi-heads={}", encoding.alibi_heads));
  lines.push_back(fmt::format("random-kind={}", name_of(encoding.random_kind)));
  lines.push_back(fmt::format("seed={}", encoding.seed));
  if (wants_smacof(config)) {
    lines.push_back(fmt::format("encoding.smacof=smacof-iterations {}, smacof-tolerance {}", config.stress.smacof_iterations,
                                config.stress.smacof_tolerance));
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
  for (const EncodingSpec& spec : context.config.stress.encodings) {
    if (spec.path.empty()) continue;
    const FileMatrix matrix = read_matrix(context, spec);
    collective(context.comm, "checking an encoding", [&] {
      if (matrix.rows < rows) {
        const bool shifted = spec.rows.begin > 0 || spec.rows.end >= 0;
        throw Error(fmt::format(
            "option --encodings, {}: {} has {} rows{}, {} positions need one each; give a longer table or smaller --lengths", spec.name,
            spec.path, matrix.rows, shifted ? fmt::format(" from row {} on", spec.rows.begin) : std::string(), rows));
      }
    });
  }
}

}  // namespace posgeom
