#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "posgeom/geometry/bootstrap.hpp"
#include "posgeom/pipeline/summary.hpp"

namespace posgeom {
namespace {

/// "12.3, 12.1 to 12.6 (basic 11.9 to 12.4)"
std::string with_intervals(double estimate, std::span<const double> replicates, double alpha) {
  const Interval percentile = percentile_interval(replicates, alpha);
  const Interval basic = basic_interval(estimate, percentile);
  return fmt::format("{:.5g}, {:.5g} to {:.5g} (basic {:.5g} to {:.5g})", estimate, percentile.low, percentile.high, basic.low, basic.high);
}

/// The most frequent ranking at one dimension, and how frequent it is.
std::string ranking_at(const StressTable& table, const Rankings& rankings, std::size_t d) {
  const std::size_t width = table.dimensions.size();
  std::vector<std::string> names(table.encoding_names.size());
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    const std::int32_t place = rankings.modal_rank[e * width + d];
    if (place > 0) names[static_cast<std::size_t>(place - 1)] = table.encoding_names[e];
  }
  std::string text;
  for (const std::string& name : names) {
    if (!name.empty()) text += (text.empty() ? "" : " < ") + name;
  }
  return text;
}

}  // namespace

void report_bootstrap(StageReport& report, const GeometryFile& geometry, const StressFile& stress) {
  if (geometry.bootstrap && !geometry.bootstrap->rank.empty()) {
    const GeometryBootstrap& b = *geometry.bootstrap;
    report.line(fmt::format("  bootstrap, {} replicates, {:.4g} % intervals: trace {}, violation rate of H {}", b.rank.size(),
                            100 * (1 - b.alpha), with_intervals(geometry.spectrum.trace, b.trace, b.alpha),
                            with_intervals(geometry.corpus_violation_rate, b.violation_rate, b.alpha)));
    report.line(
        "  (resampling adds sampling noise once more: percentile intervals of the trace lie too high, basic ones less so or not at all)");
  }
  if (!stress.bootstrap || stress.bootstrap->replicates == 0) return;
  const StressTable& table = stress.table;
  const StressBootstrap& b = *stress.bootstrap;
  const Rankings rankings = rank_encodings(b.scaled, b.replicates, std::ssize(table.encoding_names), std::ssize(table.dimensions));
  constexpr std::size_t most_lines = 10;
  for (std::size_t d = 0; d < table.dimensions.size(); d += (table.dimensions.size() + most_lines - 1) / most_lines) {
    const std::string ranking = ranking_at(table, rankings, d);
    if (ranking.empty()) continue;
    report.line(fmt::format("  bootstrap, d = {}: by scaled stress {} in {:.0f} % of the replicates", table.dimensions[d], ranking,
                            100 * rankings.modal_share[d]));
  }
}

}  // namespace posgeom
