#include <fmt/format.h>

#include <algorithm>

#include "pipeline/stress_cells.hpp"
#include "pipeline/stress_course.hpp"
#include "posgeom/geometry/denoised.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/mpi/collective.hpp"

/// What is scored beside the table: against the shuffled corpus, and against the de-noised distances.
namespace posgeom {
namespace {}  // namespace

const Distances& StressCourse::of_shuffled() {
  if (!shuffled_) {
    shuffled_.emplace();
    shuffled_->s = distributions_at(context_, s_.length, CountsTable::shuffled);
    collective(context_.comm, "comparing the shuffled corpus with the corpus", [&] {
      if (shuffled_->s.position == s_.position) return;
      throw Error(
          fmt::format("{}: the shuffled corpus of length {} has tokens at other positions than the corpus, expected the same; count "
                      "again with --force",
                      counts_path(context_.config), s_.length));
    });
    shuffled_->summary = summarize_hellinger(context_.comm, shuffled_->s);
    file.shuffled->constant_baseline = shuffled_->summary.constant_baseline;
    file.shuffled->corpus_violation_rate = shuffled_->summary.corpus_violation_rate;
  }
  return *shuffled_;
}

void StressCourse::insert_shuffled(const StressRequest& request, const StressColumns& columns, bool own_distances) {
  for (std::size_t k = 0; k < request.dimensions.size(); ++k) {
    const std::size_t cell = cell_of(file.table, request.encoding.name, request.dimensions[k]);
    file.shuffled->raw[cell] = columns.raw[k];
    file.shuffled->scaled[cell] = columns.scaled[k];
    file.shuffled->violation_rate[cell] = own_distances ? columns.violation_rate[k] : file.table.violation_rate[cell];
  }
  changed_ = true;
}

void StressCourse::score_shuffled(const std::vector<NamedEncoding>& encodings) {
  std::vector<StressRequest> requests;
  for (const NamedEncoding& encoding : encodings) {
    if (is_made_from_h(encoding.name)) continue;
    std::vector<std::int32_t> missing = missing_beside(file.table, file.shuffled->raw, encoding.name);
    if (!missing.empty()) requests.push_back({encoding, std::move(missing)});
  }
  if (requests.empty()) return;
  const StressSweepOptions sums_only{.violation_rate = false, .spearman = false};
  Columns columns;
  if (requests.front().encoding.name == "signal") {
    Distances kept;
    kept.s = collective(context_.comm, "choosing the positions of the noise analysis",
                        [&] { return kept_rows(of_shuffled().s, geometry_.noise->position); });
    kept.summary = summarize_hellinger(context_.comm, kept.s);
    columns = sweep(kept.s, kept.summary, requests, sums_only);
  } else {
    columns = sweep(of_shuffled().s, of_shuffled().summary, requests, sums_only);
  }
  for (std::size_t k = 0; k < requests.size(); ++k) insert_shuffled(requests[k], columns[k], false);
}

/// Of as many components as the table is wide; the wider of mds's and smacof's needs.
const Coordinates& StressCourse::shuffled_mds() {
  if (!shuffled_mds_) {
    const SquareRootDistributions& s = of_shuffled().s;
    const Index components = std::min<Index>(file.table.dimensions.back(), s.row_count());
    const Mds mds = classical_mds(context_.grid, s, mds_options(context_, s.row_count(), components));
    shuffled_mds_ = mds_encoding(mds.encoding, mds.spectrum.rank);
  }
  return *shuffled_mds_;
}

void StressCourse::score_shuffled_own(const std::string& name) {
  const std::vector<std::int32_t> missing = missing_beside(file.table, file.shuffled->raw, name);
  if (missing.empty()) return;
  std::vector<StressRequest> requests;
  if (name == "mds") {
    requests.push_back({{name, shuffled_mds()}, missing});
  } else {
    requests = smacof_requests(context_, of_shuffled().s, shuffled_mds(), missing, "smacof of the shuffled corpus");
  }
  if (requests.empty()) return;
  const Columns columns = sweep(of_shuffled().s, of_shuffled().summary, requests, {.violation_rate = true, .spearman = false});
  for (std::size_t k = 0; k < requests.size(); ++k) insert_shuffled(requests[k], columns[k], true);
}

DistributedMatrix StressCourse::denoised_distances() const {
  const std::string path = counts_path(context_.config);
  const Index length = s_.length;
  const PositionCounts corpus = read_counts(context_.comm, path, length);
  const PositionCounts half_a = read_counts(context_.comm, path, length, CountsTable::corpus_half_a);
  NoiseAnalysisOptions options = context_.config.noise_analysis;
  const FingerprintLines lines =
      split_lines(read_provenance(context_.comm, geometry_path(context_.config, length)).value().fingerprint_lines);
  options.seed = std::stoull(line_value(lines, "noise.seed"));
  options.block = block_size_for(context_, geometry_.noise->position_count());
  return denoised_squared_distances(context_.grid, {&corpus, &half_a}, *geometry_.noise, context_.config.positions, options);
}

void StressCourse::score_denoised() {
  const std::vector<std::int32_t>& positions = geometry_.noise->position;
  std::vector<StressRequest> requests;
  collective(context_.comm, "choosing the positions of the noise analysis", [&] {
    const auto add = [&](const NamedEncoding& encoding, bool at_noise_positions, const std::vector<std::int32_t>& dimensions) {
      if (dimensions.empty()) return;
      const auto* x = std::get_if<Coordinates>(&encoding.form);
      if (x == nullptr || at_noise_positions) {
        requests.push_back({encoding, dimensions});
      } else {
        requests.push_back({{encoding.name, kept_rows(*x, s_.position, positions)}, dimensions});
      }
    };
    const auto missing = [&](const std::string& name) { return missing_beside(file.table, file.denoised->raw, name); };
    for (const NamedEncoding& encoding : encodings_.named) add(encoding, false, missing(encoding.name));
    if (encodings_.signal) add(*encodings_.signal, true, missing("signal"));
    if (!wants(context_.config, "smacof")) return;
    const std::vector<std::int32_t> wanted = missing("smacof");
    for (const StressRequest& request : requests_of_stored(stored, "smacof")) {
      if (std::ranges::find(wanted, request.dimensions.front()) != wanted.end()) add(request.encoding, false, request.dimensions);
    }
  });
  if (requests.empty()) return;
  const DenoisedScores scores = denoised_stress(denoised_distances(), positions, requests);
  file.denoised->constant_baseline = scores.constant_baseline;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    for (std::size_t d = 0; d < requests[k].dimensions.size(); ++d) {
      const std::size_t cell = cell_of(file.table, requests[k].encoding.name, requests[k].dimensions[d]);
      file.denoised->raw[cell] = scores.columns[k].raw[d];
      file.denoised->scaled[cell] = scores.columns[k].scaled[d];
    }
  }
  changed_ = true;
}

}  // namespace posgeom
