#include "posgeom/pipeline/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace posgeom {
namespace {

constexpr std::size_t most_columns = 10;

/// Indices of at most most_columns dimensions, the first and the last among them.
std::vector<std::size_t> columns_to_show(std::size_t count) {
  std::vector<std::size_t> columns;
  const std::size_t shown = std::min(count, most_columns);
  for (std::size_t k = 0; k < shown; ++k) columns.push_back(shown < 2 ? 0 : k * (count - 1) / (shown - 1));
  return columns;
}

void report_table(StageReport& report, const std::string& title, const StressTable& table, const std::vector<double>& values) {
  const std::vector<std::size_t> columns = columns_to_show(table.dimensions.size());
  std::string line = fmt::format("  {:<16}", title);
  for (const std::size_t d : columns) line += fmt::format("{:>11}", fmt::format("d={}", table.dimensions[d]));
  report.line(line);
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    line = fmt::format("  {:<16}", table.encoding_names[e]);
    for (const std::size_t d : columns) {
      line += fmt::format("{:>11.4g}", values[static_cast<std::size_t>(table.index(static_cast<Index>(e), static_cast<Index>(d)))]);
    }
    report.line(line);
  }
}

/// Names of the encodings whose best scaled stress does not beat the constant baseline.
std::string no_better_than_constant(const StressTable& table) {
  std::string names;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    bool defined = false;
    bool better = false;
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      const double scaled = table.scaled[static_cast<std::size_t>(table.index(static_cast<Index>(e), static_cast<Index>(d)))];
      defined = defined || !std::isnan(scaled);
      better = better || scaled < table.constant_baseline;
    }
    if (defined && !better) names += (names.empty() ? "" : ", ") + table.encoding_names[e];
  }
  return names;
}

}  // namespace

void report_length(StageReport& report, const GeometryFile& geometry, const StressFile& stress) {
  const Spectrum& spectrum = geometry.spectrum;
  const StressTable& table = stress.table;
  report.line("");
  const auto known = [](Index x) { return x < 0 ? std::string("not known") : fmt::format("{}", x); };
  report.line(fmt::format("length {}: {} position{} kept ({}), rank {}, trace {:.8g}, mean H {:.8g}", geometry.length,
                          geometry.position.size(), geometry.position.size() == 1 ? "" : "s", geometry.unreached, known(spectrum.rank),
                          spectrum.trace, geometry.mean_hellinger));
  std::string leading;
  for (std::size_t k = 0; k < std::min<std::size_t>(6, spectrum.eigenvalues.size()); ++k)
    leading += fmt::format(" {:.6g}", spectrum.eigenvalues[k]);
  report.line(fmt::format("  eigenvalues{} ...; entropy rank {:.4g}, participation ratio {:.4g}, dimensions for 90/95/99 %: {}/{}/{}",
                          leading, spectrum.entropy_rank, spectrum.participation_ratio, known(spectrum.dims_90), known(spectrum.dims_95),
                          known(spectrum.dims_99)));
  report_table(report, "raw stress", table, table.raw);
  report_table(report, "scaled stress", table, table.scaled);
  report_table(report, "violation rate", table, table.violation_rate);
  report.line(fmt::format("  an encoding with all distances equal has scaled stress {:.6g} (constant baseline)", table.constant_baseline));
  if (const std::string names = no_better_than_constant(table); !names.empty()) {
    report.line(fmt::format("  and fit the distances no better than that at any d: {} (for order, see the violation rate)", names));
  }
  if (table.dimensions.size() > most_columns) {
    report.line(fmt::format("  {} of {} dimensions are shown; all are in the stress file", most_columns, table.dimensions.size()));
  }
  report.line(
      fmt::format("  in {:.2f} % of the triples the nearer position is the one farther away in H (violation rate of the corpus itself;",
                  100 * table.corpus_violation_rate));
  report.line("  the conjecture that training makes an encoding monotone presumes 0 %)");
  if (spectrum.rank > 0 && spectrum.rank + 1 == std::ssize(geometry.position)) {
    report.line(
        "  the rank is the largest possible: finite counts alone make every position look independent, so it is no evidence of order");
  }
  if (geometry.noise) {
    for (const std::string& sentence : noise_sentences(*geometry.noise)) report.line("  noise: " + sentence);
  }
  report.line("");
}

}  // namespace posgeom
