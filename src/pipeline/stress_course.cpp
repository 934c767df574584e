#include "pipeline/stress_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "pipeline/stress_cells.hpp"
#include "posgeom/geometry/denoised.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Above so many positions an encoding is scored after the other, and what is finished can be kept in between.
constexpr Index positions_at_once = 2048;

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
  summary.constant_baseline =
      summary.sum_squared > 0 ? 1 - summary.mean * summary.mean / mean_square : std::numeric_limits<double>::quiet_NaN();
  return summary;
}

}  // namespace

StressCourse::StressCourse(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& geometry, Encodings encodings,
                           StressFile start)
    : file(std::move(start)),
      context_(context),
      geometry_(geometry),
      encodings_(std::move(encodings)),
      s_(s),
      summary_(summary_of(geometry)) {
  StressTable& table = file.table;
  for (const std::int32_t d : table.dimensions) table.not_unique.push_back(not_unique(geometry.spectrum, d) ? 1 : 0);
  table.constant_baseline = summary_.constant_baseline;
  table.corpus_violation_rate = summary_.corpus_violation_rate;
}

bool StressCourse::lacks_groups() const {
  std::vector<std::string> names;
  for (const NamedEncoding& encoding : encodings_.named) names.push_back(encoding.name);
  if (encodings_.signal) names.emplace_back("signal");
  if (wants(context_.config, "smacof")) names.emplace_back("smacof");
  return std::ranges::any_of(names, [&](const std::string& name) {
    return (against_shuffled && !missing_beside(file.table, file.shuffled->raw, name).empty()) ||
           (against_denoised && !missing_beside(file.table, file.denoised->raw, name).empty());
  });
}

StressCourse::Columns StressCourse::sweep(const SquareRootDistributions& s, const HellingerSummary& summary,
                                          const std::vector<StressRequest>& requests, const StressSweepOptions& options) {
  return stress_sweep(
      context_.comm, s, summary, requests,
      [&](Index done, Index total) {
        constexpr Index between_looks = 16;
        if (done % between_looks == 0) check_stop(context_);
        const double share = static_cast<double>(done) / static_cast<double>(std::max<Index>(total, 1));
        context_.report.progress((static_cast<double>(steps_done_) + share) / static_cast<double>(steps_), requests.front().encoding.name);
      },
      options);
}

void StressCourse::score(const std::vector<StressRequest>& requests) {
  const Columns columns = sweep(s_, summary_, requests, {});
  for (std::size_t k = 0; k < requests.size(); ++k) insert(file.table, requests[k], columns[k]);
  changed_ = true;
}

void StressCourse::score_smacof(const std::vector<std::int32_t>& dimensions) {
  const Coordinates start = mds_encoding(geometry_.encoding, geometry_.spectrum.rank);
  std::vector<SmacofDescent> descents;
  const std::vector<StressRequest> requests = smacof_requests(context_, s_, start, dimensions, "smacof", &descents);
  if (requests.empty()) return;
  score(requests);
  for (const SmacofDescent& descent : descents) {
    if (!file.weighted) break;
    file.weighted->smacof[column_of(file.table, descent.d)] = descent.stress;
    file.weighted->mds[column_of(file.table, descent.d)] = descent.start_stress;
  }
  std::ranges::move(smacof_to_store(requests), std::back_inserter(stored));
}

const Distances& StressCourse::of_signal() {
  if (!signal_) {
    signal_.emplace();
    signal_->s =
        collective(context_.comm, "choosing the positions of the noise analysis", [&] { return kept_rows(s_, geometry_.noise->position); });
    signal_->summary = summarize_hellinger(context_.comm, signal_->s);
  }
  return *signal_;
}

void StressCourse::score_signal() {
  const std::vector<StressRequest> requests = missing_cells(file.table, {*encodings_.signal});
  if (requests.empty()) return;
  const Columns columns = sweep(of_signal().s, of_signal().summary, requests, {});
  insert(file.table, requests.front(), columns.front());
  changed_ = true;
}

void StressCourse::score_missing(const std::string& unfinished) {
  const std::vector<StressRequest> requests = missing_cells(file.table, encodings_.named);
  std::vector<std::int32_t> smacof_dimensions;
  if (wants(context_.config, "smacof")) smacof_dimensions = missing_dimensions(file.table, "smacof");
  std::vector<std::function<void()>> steps;
  const bool at_once = s_.row_count() <= positions_at_once;
  if (at_once) {
    if (!requests.empty()) steps.emplace_back([&] { score(requests); });
    if (!smacof_dimensions.empty()) steps.emplace_back([&] { score_smacof(smacof_dimensions); });
  } else {
    for (const StressRequest& request : requests) steps.emplace_back([&] { score({request}); });
    for (const std::int32_t d : smacof_dimensions) steps.emplace_back([this, d] { score_smacof({d}); });
  }
  if (encodings_.signal) steps.emplace_back([&] { score_signal(); });
  if (against_shuffled) {
    if (at_once) {
      steps.emplace_back([&] { score_shuffled(encodings_.named); });
    } else {
      for (const NamedEncoding& encoding : encodings_.named) steps.emplace_back([&] { score_shuffled({encoding}); });
    }
    if (encodings_.signal) steps.emplace_back([&] { score_shuffled({*encodings_.signal}); });
    for (const char* name : {"mds", "smacof"}) {
      if (wants(context_.config, name)) steps.emplace_back([this, name] { score_shuffled_own(name); });
    }
  }
  if (against_denoised) steps.emplace_back([&] { score_denoised(); });
  auto kept = std::chrono::steady_clock::now();
  steps_ = std::max<Index>(1, std::ssize(steps));
  try {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      check_stop(context_);
      steps_done_ = static_cast<Index>(k);
      steps[k]();
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - kept).count();
      broadcast(context_.comm, std::span(&seconds, 1));
      const double every = context_.config.output.keep_seconds;
      if (k + 1 == steps.size() || every <= 0 || seconds < every || !changed_) continue;
      write(unfinished);
      kept = std::chrono::steady_clock::now();
    }
  } catch (const CollectiveError& error) {
    if (error.kind() == ErrorKind::stopped && changed_) write(unfinished);
    throw;
  }
}

void StressCourse::write(const std::string& path) {
  std::vector<StoredEncoding> all;
  if (store_forms) {
    all = encodings_to_store(file.table, encodings_.named, s_);
    if (encodings_.signal) std::ranges::move(encodings_to_store(file.table, {*encodings_.signal}, of_signal().s), std::back_inserter(all));
  }
  // What this run makes anew takes the place of what was stored before.
  for (const StoredEncoding& encoding : stored) {
    const bool anew =
        std::ranges::any_of(all, [&](const StoredEncoding& other) { return other.name == encoding.name && other.d == encoding.d; });
    if (!anew) all.push_back(encoding);
  }
  write_stress(context_.comm, path, file, all, provenance);
  changed_ = false;
}

}  // namespace posgeom
