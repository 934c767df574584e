#include "posgeom/pipeline/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

std::string in_output(const Config& config, const std::string& name) {
  return (std::filesystem::path(config.output.directory) / name).string();
}

}  // namespace

std::string counts_path(const Config& config) { return in_output(config, "counts.h5"); }
std::string geometry_path(const Config& config, Index length) { return in_output(config, fmt::format("geometry-{}.h5", length)); }
std::string stress_path(const Config& config, Index length) { return in_output(config, fmt::format("stress-{}.h5", length)); }
std::string sweep_path(const Config& config) { return in_output(config, "sweep.h5"); }

void require_grid(const Config& config, Index ranks) {
  const GeometryOptions& geometry = config.geometry;
  if (geometry.grid_rows == 0 || Index{geometry.grid_rows} * geometry.grid_columns == ranks) return;
  throw Error(fmt::format("option --grid: found {}x{}, expected a grid of {}, or auto", geometry.grid_rows, geometry.grid_columns,
                          ranks == 1 ? std::string("the one rank") : fmt::format("all {} ranks", ranks)),
              ErrorKind::usage);
}

ProcessGrid grid_of(const Communicator& comm, const Config& config) {
  if (config.geometry.grid_rows == 0) return ProcessGrid::nearest_square(comm);
  collective(comm, "making the process grid", [&] { require_grid(config, comm.size()); });
  return {comm, config.geometry.grid_rows, config.geometry.grid_columns};
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

void remove_unfinished(const StageContext& context, const std::string& path) {
  collective(context.comm, "removing " + path, [&] {
    std::error_code ignored;
    if (context.comm.is_root()) std::filesystem::remove(path, ignored);
  });
}

FingerprintLines noise_lines(const Config& config) {
  FingerprintLines lines;
  if (config.noise.split || config.noise.shuffle) lines.push_back(fmt::format("noise.seed={}", config.noise.seed));
  if (config.noise.split) lines.push_back(fmt::format("noise.split-by={}", config.values.at("split-by").back()));
  return lines;
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

namespace {

/// **Collective.** --rarefy-geometry: as many tokens of every position that has them, none of the others.
PositionCounts rarefied_counts(const StageContext& context, const PositionCounts& counts, Index length, CountsTable table) {
  const Config& config = context.config;
  const std::vector<Count> totals(counts.position_total.begin(), counts.position_total.begin() + length);
  const Count total = rarefied_total_of(config, totals);
  std::vector<std::int32_t> positions;
  const Index reached = std::ranges::count_if(totals, [&](Count n) { return n >= config.positions.min_count; });
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] >= std::max(total, config.positions.min_count)) positions.push_back(static_cast<std::int32_t>(i));
  }
  collective(context.comm, "rarefying the positions", [&] {
    if (!positions.empty()) return;
    throw Error(fmt::format("option --rarefy-geometry: found {}, but no position of length {} holds so many tokens; the fullest holds {}",
                            config.values.at("rarefy-geometry").back(), length, std::ranges::max(totals)));
  });
  if (table == CountsTable::corpus) {
    context.report.line(
        fmt::format("n={}: every position is rarefied to {}; {} of {} reached positions have fewer and count as "
                    "unreached ({})",
                    length, number_of(total, "token"), reached - std::ssize(positions), reached, name_of(config.positions.unreached)));
  }
  return rarefied(context.comm, counts, length, positions, total, config.seed,
                  table == CountsTable::corpus ? RarefiedTable::corpus : RarefiedTable::shuffled);
}

}  // namespace

Count rarefied_total_of(const Config& config, const std::vector<Count>& totals) {
  return config.rarefied_total > 0 ? config.rarefied_total : std::max<Count>(1, default_rarefied_total(totals));
}

PositionCounts geometry_counts(const StageContext& context, Index length, CountsTable table) {
  PositionCounts counts = read_counts(context.comm, counts_path(context.config), length, table);
  if (context.config.rarefied_total >= 0) return rarefied_counts(context, counts, length, table);
  return counts;
}

SquareRootDistributions distributions_at(const StageContext& context, Index length, CountsTable table) {
  const PositionCounts counts = geometry_counts(context, length, table);
  HellingerOptions options = context.config.positions;
  if (context.config.rarefied_total >= 0) options.min_count = 1;
  return square_root_distributions(context.comm, counts, length, options);
}

FingerprintLines geometry_lines(const Config& config, const std::string& corpus_fingerprint, Index length) {
  FingerprintLines lines{"corpus=" + corpus_fingerprint, fmt::format("length={}", length),
                         fmt::format("unreached={}", name_of(config.positions.unreached)),
                         fmt::format("min-count={}", config.positions.min_count),
                         fmt::format("hellinger-range={}", config.positions.unit_range ? "1" : "sqrt2")};
  if (config.rarefied_total >= 0)
    lines.push_back(fmt::format("rarefy-geometry={} with seed {}", config.values.at("rarefy-geometry").back(), config.seed));
  return lines;
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
