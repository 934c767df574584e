#include <fmt/format.h>

#include "posgeom/geometry/bootstrap.hpp"
#include "posgeom/io/sentences.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// "12.3, basic 11.9 to 12.4 (percentile 12.1 to 12.6)"
std::string with_intervals(double estimate, std::span<const double> replicates, double alpha) {
  const Interval percentile = percentile_interval(replicates, alpha);
  const Interval basic = basic_interval(estimate, percentile);
  return fmt::format("{:.5g}, basic {:.5g} to {:.5g} (percentile {:.5g} to {:.5g})", estimate, basic.low, basic.high, percentile.low,
                     percentile.high);
}

/// The most frequent ranking at one dimension.
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

std::vector<std::string> bootstrap_sentences(double trace, double corpus_violation_rate, const GeometryBootstrap& b) {
  if (b.rank.empty()) return {};
  return {fmt::format("bootstrap, {}, {:.4g} % intervals: trace {}, violation rate of H {}", number_of(std::ssize(b.rank), "replicate"),
                      100 * (1 - b.alpha), with_intervals(trace, b.trace, b.alpha),
                      with_intervals(corpus_violation_rate, b.violation_rate, b.alpha)),
          "quote the basic intervals, if any: resampling adds sampling noise once more, so that percentile ones lie too high where noise "
          "inflates a number; where words are rare the basic ones still do, and may leave out the estimate: then the noise analysis is "
          "what counts"};
}

std::vector<std::string> ranking_sentences(const StressFile& stress) {
  if (!stress.bootstrap || stress.bootstrap->replicates == 0) return {};
  const StressTable& table = stress.table;
  const StressBootstrap& b = *stress.bootstrap;
  const Rankings rankings = rank_encodings(b.scaled, b.replicates, std::ssize(table.encoding_names), std::ssize(table.dimensions));
  constexpr std::size_t most = 10;
  std::vector<std::string> sentences;
  for (std::size_t d = 0; d < table.dimensions.size(); d += (table.dimensions.size() + most - 1) / most) {
    const std::string ranking = ranking_at(table, rankings, d);
    if (ranking.empty()) continue;
    sentences.push_back(fmt::format("bootstrap, d = {}: by scaled stress {} in {:.0f} % of the replicates", table.dimensions[d], ranking,
                                    100 * rankings.modal_share[d]));
  }
  return sentences;
}

}  // namespace posgeom
