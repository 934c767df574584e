#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "posgeom/io/sentences.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// The lengths of the stress-<n>.h5 files of the output directory, ascending.
std::vector<Index> lengths_there(const Config& config) {
  std::vector<Index> lengths;
  for (const auto& entry : std::filesystem::directory_iterator(config.output.directory)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("stress-", 0) != 0 || entry.path().extension() != ".h5") continue;
    const char* const begin = name.data() + 7;
    const char* const end = name.data() + name.size() - 3;
    Index length = 0;
    const auto [stop, error] = std::from_chars(begin, end, length);
    if (error == std::errc() && stop == end) lengths.push_back(length);
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

std::vector<Index> lengths_to_collect(const StageContext& context) {
  const Config& config = context.config;
  std::vector<Index> lengths = collective(context.comm, "listing the output directory", [&] {
    std::vector<Index> found;
    if (!context.comm.is_root()) return found;
    found = lengths_there(config);
    if (found.empty())
      throw Error(
          fmt::format("{} holds no stress-<n>.h5; run `posgeom stress` or `posgeom run` with this --out first", config.output.directory));
    for (const Index wanted : config.lengths) {
      if (!config.output.partial && !std::binary_search(found.begin(), found.end(), wanted)) {
        throw Error(fmt::format("{} is missing; run `posgeom stress` for --lengths {}, or give --partial to collect without it",
                                stress_path(config, wanted), wanted));
      }
    }
    return found;
  });
  broadcast_resized(context.comm, lengths);
  return lengths;
}

/// What a stress file was made from, but for its length: the same in every file of a sweep.
FingerprintLines without_length(FingerprintLines lines) {
  std::erase_if(lines, [](const std::string& line) { return line.rfind("length=", 0) == 0; });
  return lines;
}

/// Puts one length's table into its row of the sweep.
void insert(Sweep& sweep, std::size_t row, const StressFile& file) {
  const StressTable& table = file.table;
  const auto to = cells_of(sweep);
  const auto from = cells_of(file);
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    const auto name = static_cast<std::size_t>(
        std::find(sweep.encoding_names.begin(), sweep.encoding_names.end(), table.encoding_names[e]) - sweep.encoding_names.begin());
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      const auto dimension = static_cast<std::size_t>(
          std::lower_bound(sweep.dimensions.begin(), sweep.dimensions.end(), table.dimensions[d]) - sweep.dimensions.begin());
      const std::size_t cell = (row * sweep.encoding_names.size() + name) * sweep.dimensions.size() + dimension;
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (from[k] != nullptr)
          (*to[k])[cell] = (*from[k])[static_cast<std::size_t>(table.index(static_cast<Index>(e), static_cast<Index>(d)))];
      }
    }
  }
}

}  // namespace

Sweep collect_stage(const StageContext& context) {
  context.report.begin("collect");
  const std::vector<Index> lengths = lengths_to_collect(context);
  std::vector<StressFile> files;
  FingerprintLines lines;
  FingerprintLines first_made_from;
  std::string corpus_fingerprint;
  Sweep sweep;
  sweep.lengths = lengths;
  std::set<std::int32_t> dims;
  for (const Index length : lengths) {
    const std::string path = stress_path(context.config, length);
    StressFile file = read_stress(context.comm, path);
    const Provenance provenance = read_provenance(context.comm, path).value();
    const FingerprintLines made_from = without_length(split_lines(provenance.fingerprint_lines));
    if (files.empty()) first_made_from = made_from;
    collective(context.comm, "collecting", [&] {
      const std::string difference = first_difference(first_made_from, made_from);
      if (!difference.empty()) {
        throw Error(
            fmt::format("{} and {} do not belong together ({}); delete the outdated one with its geometry file, or give each its own --out",
                        stress_path(context.config, lengths.front()), path, difference));
      }
    });
    corpus_fingerprint = provenance.corpus_fingerprint;
    lines.push_back(fmt::format("stress-{}={}", length, provenance.fingerprint));
    const GeometryFile geometry = read_geometry(context.comm, geometry_path(context.config, length));
    sweep.rank.push_back(geometry.spectrum.rank);
    // With fewer than two positions nothing can be said of noise.
    const bool analysed = geometry.noise && geometry.noise->split && geometry.noise->position_count() > 1;
    sweep.signal_rank.push_back(analysed ? geometry.noise->signal_rank : -1);
    sweep.rarefied_total.push_back(analysed ? geometry.noise->rarefied_total : -1);
    sweep.noise_positions.push_back(analysed ? geometry.noise->position_count() : -1);
    sweep.trace.push_back(geometry.spectrum.trace);
    sweep.constant_baseline.push_back(file.table.constant_baseline);
    sweep.corpus_violation_rate.push_back(file.table.corpus_violation_rate);
    dims.insert(file.table.dimensions.begin(), file.table.dimensions.end());
    for (const std::string& name : file.table.encoding_names) {
      if (std::find(sweep.encoding_names.begin(), sweep.encoding_names.end(), name) == sweep.encoding_names.end())
        sweep.encoding_names.push_back(name);
    }
    files.push_back(std::move(file));
  }
  sweep.dimensions.assign(dims.begin(), dims.end());
  const std::size_t cells = lengths.size() * sweep.encoding_names.size() * sweep.dimensions.size();
  for (auto* values : cells_of(sweep)) values->assign(cells, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < files.size(); ++row) insert(sweep, row, files[row]);

  const std::string path = sweep_path(context.config);
  write_sweep(context.comm, path, sweep, provenance_of(context, lines, corpus_fingerprint));
  write_sweep_csv(context.comm, path.substr(0, path.size() - 3) + ".csv", sweep);
  context.report.end(fmt::format("{}, {}, {} in {} and sweep.csv", number_of(std::ssize(lengths), "length"),
                                 number_of(std::ssize(sweep.encoding_names), "encoding"),
                                 number_of(std::ssize(sweep.dimensions), "dimension"), path));
  for (const std::string& sentence : sweep_sentences(sweep)) context.report.line("  " + sentence);
  return sweep;
}

}  // namespace posgeom
