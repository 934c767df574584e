#include <fmt/format.h>

#include <algorithm>

#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {

Index block_size_for(const StageContext& context, Index m) {
  const Index side = std::max(context.grid.rows(), context.grid.columns());
  return std::min(context.config.geometry.block_size, std::max<Index>(1, (m + side - 1) / side));
}

MdsOptions mds_options(const StageContext& context, Index rows, Index components) {
  const GeometryOptions& geometry = context.config.geometry;
  return {.solver = geometry.solver,
          .components = components,
          .whole_spectrum = !geometry.leading_only,
          .block = block_size_for(context, rows)};
}

namespace {

/// Columns of /encoding at a length with `rows` kept positions, once the rank is known.
Index components_of(const Config& config, Index rank, Index rows) {
  if (!config.geometry.components_from_dims) return config.geometry.components == 0 ? rows : config.geometry.components;
  return resolve_dimensions(config.stress, rank < 0 ? rows : rank, rows).back();
}

/// **Collective.** What --rarefy-geometry stands for at a length.
Index rarefied_total_at(const StageContext& context, Index length) {
  const PositionCounts counts = read_counts(context.comm, counts_path(context.config), length);
  return rarefied_total_of(context.config, {counts.position_total.begin(), counts.position_total.begin() + length});
}

/// How unlike the positions are in tokens; filled ones hold none.
void add_token_range(GeometryFile& file, const SquareRootDistributions& s) {
  for (const Count tokens : s.total) {
    if (tokens == 0) continue;
    file.fewest_tokens = file.fewest_tokens < 0 ? tokens : std::min(file.fewest_tokens, tokens);
    file.most_tokens = std::max(file.most_tokens, tokens);
  }
}

/// **Collective.** Spectrum, encoding and the distances' own numbers.
GeometryFile geometry_of(const StageContext& context, const SquareRootDistributions& s) {
  const Config& config = context.config;
  // Where --dims are listed, the widest of them is known before the rank is: no more vectors are computed than that.
  const bool listed = config.geometry.components_from_dims && config.stress.choice == StressOptions::Dimensions::listed;
  const Index components = listed ? components_of(config, s.row_count(), s.row_count()) : config.geometry.components;
  const MdsOptions options = mds_options(context, s.row_count(), components);
  Mds mds = classical_mds(context.grid, s, options);
  context.report.took(fmt::format("gram n={}", s.length), mds.gram_seconds);
  context.report.took(fmt::format("solver n={}", s.length), mds.solver_seconds);
  context.report.line("  solver " + mds.solver_reason);
  for (const std::string& warning : mds.warnings) context.report.line("  warning: " + warning);

  GeometryFile file;
  file.length = s.length;
  file.position = s.position;
  file.spectrum = std::move(mds.spectrum);
  file.encoding = std::move(mds.encoding);
  file.encoding.components = components_of(config, file.spectrum.rank, s.row_count());
  file.encoding.stored = std::min(file.encoding.stored, file.encoding.components);
  file.encoding.values.resize(static_cast<std::size_t>(file.encoding.rows * file.encoding.stored));
  file.solver = mds.solver;
  file.residual = mds.residual;
  file.orthogonality = mds.orthogonality;
  file.block_size = options.block;
  add_token_range(file, s);
  const HellingerSummary summary = summarize_hellinger(context.comm, s);
  file.corpus_violation_rate = summary.corpus_violation_rate;
  file.mean_hellinger = summary.mean;
  file.sum_hellinger_squared = summary.sum_squared;
  file.parameters_full = s.row_count() * file.encoding.components;
  file.parameters_factored = file.spectrum.rank < 0 ? -1 : file.spectrum.rank * (s.row_count() + file.encoding.components);
  file.unreached = name_of(config.positions.unreached);
  if (config.rarefied_total >= 0) file.rarefied_total = rarefied_total_at(context, s.length);
  const std::string rank = file.spectrum.rank < 0 ? "not known" : fmt::format("{}", file.spectrum.rank);
  context.report.end(fmt::format("{}, rank {}, {}, residual {:.2g}, orthogonality {:.2g}", number_of(s.row_count(), "position"), rank,
                                 file.solver, file.residual, file.orthogonality));
  return file;
}

/// The factors that the options ask for, or that the file had.
bool has_factors(const Config& config, const GeometryFile& file) {
  const double tolerance = config.geometry.factored_tolerance;
  return tolerance < 0 || (file.factored && file.factored_tolerance == tolerance);
}

/// **Collective.** P = A B' to `tolerance`. The stored columns alone are factored: those beyond the rank are zero, and so are their rows of
/// B.
void add_factors(const StageContext& context, GeometryFile& file, double tolerance) {
  collective(context.comm, "factoring the encoding", [&] {
    const Encoding& p = file.encoding;
    std::vector<double> by_rows(static_cast<std::size_t>(p.rows * p.stored));
    for (Index i = 0; i < p.rows; ++i) {
      for (Index j = 0; j < p.stored; ++j) by_rows[static_cast<std::size_t>(i * p.stored + j)] = p.at(i, j);
    }
    file.factored = factored_encoding(by_rows, p.rows, p.stored, tolerance);
    file.factored->columns = p.components;
    file.factored->b.resize(static_cast<std::size_t>(p.components * file.factored->rank), 0.0);
    file.factored_tolerance = tolerance;
  });
  context.report.line("  factored: " + file.factored->note());
}

bool has_noise(const Config& config, const GeometryFile& file) {
  return (!config.noise.split || (file.noise && file.noise->split)) && (!config.noise.shuffle || (file.noise && file.noise->shuffle));
}

}  // namespace

void write_geometry_stage(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& file,
                          const Provenance& provenance) {
  const std::string path = geometry_path(context.config, s.length);
  if (file.has_hellinger) {
    const DistributedMatrix hellinger = hellinger_matrix(context.grid, s, block_size_for(context, s.row_count()));
    write_geometry(context.comm, path, file, &hellinger, provenance);
  } else {
    write_geometry(context.comm, path, file, nullptr, provenance);
  }
}

GeometryFile embed_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s) {
  const Config& config = context.config;
  const std::string path = geometry_path(config, s.length);
  FingerprintLines lines = geometry_lines(config, corpus_fingerprint, s.length);
  for (std::string& line : noise_analysis_lines(config)) lines.push_back(std::move(line));
  const Index block = block_size_for(context, s.row_count());
  context.report.begin(fmt::format("embed n={}", s.length));

  GeometryFile file;
  bool deep_enough = false;
  if (const auto there = reusable_lines(context.comm, path, lines, config.output.force, config.output.resume)) {
    file = read_geometry(context.comm, path);
    const Index wanted = components_of(config, file.spectrum.rank, s.row_count());
    deep_enough = file.encoding.components >= wanted;
    if (deep_enough && has_noise(config, file) && has_factors(config, file) && (file.has_hellinger || !config.geometry.write_hellinger)) {
      context.report.end("reused " + path);
      return file;
    }
    // A noise analysis that this run does not ask for is kept, and what it was made with.
    keep_additions(lines, *there, "noise.");
  }
  file.has_hellinger = file.has_hellinger || config.geometry.write_hellinger;
  if (!deep_enough) {
    GeometryFile before = std::move(file);
    file = geometry_of(context, s);
    file.has_hellinger = before.has_hellinger;
    file.noise = std::move(before.noise);
    file.bootstrap = std::move(before.bootstrap);
    file.factored_tolerance = before.factored_tolerance;
    if (before.factored && config.geometry.factored_tolerance < 0) add_factors(context, file, before.factored_tolerance);
  }
  if (!has_factors(config, file)) add_factors(context, file, config.geometry.factored_tolerance);
  if (!has_noise(config, file)) {
    check_stop(context);
    file.noise = noise_stage(context, s, block);
  }
  write_geometry_stage(context, s, file, provenance_of(context, lines, corpus_fingerprint));
  return file;
}

}  // namespace posgeom
