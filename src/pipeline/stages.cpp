#include "posgeom/pipeline/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"

namespace posgeom {
namespace {

std::string in_output(const Config& config, const std::string& name) {
  return (std::filesystem::path(config.output.directory) / name).string();
}

/// The block size, small enough that every process row and column of the grid gets a share of a matrix of order m.
Index block_size_for(const StageContext& context, Index m) {
  const Index side = std::max(context.grid.rows(), context.grid.columns());
  return std::min(context.config.geometry.block_size, std::max<Index>(1, (m + side - 1) / side));
}

/// Columns of /encoding at a length with `rows` kept positions, once the rank is known.
Index components_of(const Config& config, Index rank, Index rows) {
  if (!config.geometry.components_from_dims) return config.geometry.components == 0 ? rows : config.geometry.components;
  return resolve_dimensions(config.stress, rank, rows).back();
}

}  // namespace

std::string counts_path(const Config& config) { return in_output(config, "counts.h5"); }
std::string geometry_path(const Config& config, Index length) { return in_output(config, fmt::format("geometry-{}.h5", length)); }
std::string stress_path(const Config& config, Index length) { return in_output(config, fmt::format("stress-{}.h5", length)); }
std::string sweep_path(const Config& config) { return in_output(config, "sweep.h5"); }

ProcessGrid grid_of(const Communicator& comm, const Config& config) {
  if (config.geometry.grid_rows == 0) return ProcessGrid::nearest_square(comm);
  const int rows = config.geometry.grid_rows;
  const int columns = config.geometry.grid_columns;
  collective(comm, "making the process grid", [&] {
    if (static_cast<Index>(rows) * columns != comm.size()) {
      throw Error(fmt::format("option --grid: found {}x{}, expected a grid of all {} ranks, or auto", rows, columns, comm.size()),
                  ErrorKind::usage);
    }
  });
  return {comm, rows, columns};
}

void make_output_directory(const Communicator& comm, const Config& config) {
  collective(comm, "making the output directory", [&] {
    if (!comm.is_root()) return;
    std::error_code error;
    std::filesystem::create_directories(config.output.directory, error);
    if (error || !std::filesystem::is_directory(config.output.directory, error)) {
      throw Error(fmt::format("option --out: cannot make the directory '{}' ({}); give one that you may write to", config.output.directory,
                              error ? error.message() : "a file of that name exists"));
    }
  });
}

void check_stop(const StageContext& context) {
  const int stop = context.stop_requested && context.stop_requested() ? 1 : 0;
  if (all_reduce(context.comm, stop, Reduction::maximum) > 0) {
    throw CollectiveError("stopped by a signal; finished stages are kept: start again to go on", ErrorKind::stopped, 0);
  }
}

Provenance provenance_of(const StageContext& context, const FingerprintLines& lines, const std::string& corpus_fingerprint) {
  Provenance provenance;
  provenance.command_line = context.config.command_line;
  provenance.config = to_ini(context.config.values);
  provenance.ranks = context.comm.size();
  provenance.process_grid = context.grid.text();
  provenance.libraries = library_versions();
  provenance.created = context.config.created;
  provenance.seed = static_cast<std::int64_t>(context.config.seed);
  provenance.fingerprint = fingerprint(lines);
  provenance.fingerprint_lines = join_lines(lines);
  provenance.corpus_fingerprint = corpus_fingerprint;
  return provenance;
}

SquareRootDistributions distributions_at(const StageContext& context, Index length) {
  const PositionCounts counts = read_counts(context.comm, counts_path(context.config), length);
  return collective(context.comm, "forming the square-root distributions",
                    [&] { return square_root_distributions(counts, length, context.config.positions); });
}

FingerprintLines geometry_lines(const Config& config, const std::string& corpus_fingerprint, Index length) {
  return {"corpus=" + corpus_fingerprint, fmt::format("length={}", length),
          fmt::format("unreached={}", name_of(config.positions.unreached)), fmt::format("min-count={}", config.positions.min_count),
          fmt::format("hellinger-range={}", config.positions.unit_range ? "1" : "sqrt2")};
}

GeometryFile embed_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s) {
  const Config& config = context.config;
  const std::string path = geometry_path(config, s.length);
  const FingerprintLines lines = geometry_lines(config, corpus_fingerprint, s.length);
  context.report.begin(fmt::format("embed n={}", s.length));
  if (is_reusable(context.comm, path, lines, config.output.force, config.output.resume)) {
    GeometryFile there = read_geometry(context.comm, path);
    const Index wanted = components_of(config, there.spectrum.rank, s.row_count());
    const bool deep_enough = there.encoding.components >= wanted;
    if (deep_enough && (there.has_hellinger || !config.geometry.write_hellinger)) {
      context.report.end("reused " + path);
      return there;
    }
  }
  MdsOptions options;
  options.solver = config.geometry.solver;
  // Where --dims are listed, the widest of them is known before the rank is: no more vectors are computed than that.
  const bool listed = config.geometry.components_from_dims && config.stress.choice == StressOptions::Dimensions::listed;
  options.components = listed ? components_of(config, s.row_count(), s.row_count()) : config.geometry.components;
  options.block = block_size_for(context, s.row_count());
  Mds mds = classical_mds(context.grid, s, options);

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
  const HellingerSummary summary = summarize_hellinger(context.comm, s);
  file.corpus_violation_rate = summary.corpus_violation_rate;
  file.mean_hellinger = summary.mean;
  file.sum_hellinger_squared = summary.sum_squared;
  file.parameters_full = s.row_count() * file.encoding.components;
  file.parameters_factored = file.spectrum.rank * (s.row_count() + file.encoding.components);
  file.unreached = name_of(config.positions.unreached);
  const Provenance provenance = provenance_of(context, lines, corpus_fingerprint);
  if (config.geometry.write_hellinger) {
    const DistributedMatrix hellinger = hellinger_matrix(context.grid, s, options.block);
    write_geometry(context.comm, path, file, &hellinger, provenance);
  } else {
    write_geometry(context.comm, path, file, nullptr, provenance);
  }
  context.report.line("  solver " + mds.solver_reason);
  context.report.end(fmt::format("{} positions, rank {}, {}, residual {:.2g}, orthogonality {:.2g}", s.row_count(), file.spectrum.rank,
                                 file.solver, file.residual, file.orthogonality));
  return file;
}

GeometryFile read_geometry_for(const StageContext& context, const std::string& corpus_fingerprint, Index length) {
  const std::string path = geometry_path(context.config, length);
  const FingerprintLines lines = geometry_lines(context.config, corpus_fingerprint, length);
  const std::optional<Provenance> provenance = read_provenance(context.comm, path);
  collective(context.comm, "comparing the geometry with this run", [&] {
    if (!provenance)
      throw Error(fmt::format("{} is missing; run `posgeom embed` with --lengths {} and the same --out first", path, length));
    require_same(path, split_lines(provenance->fingerprint_lines), lines, "give the same options to stress as to embed");
  });
  return read_geometry(context.comm, path);
}

}  // namespace posgeom
