#include "posgeom/pipeline/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "posgeom/io/sentences.hpp"
#include "posgeom/words.hpp"

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
  std::size_t width = 17;
  for (const std::string& name : table.encoding_names) width = std::max(width, name.size() + 1);
  std::string line = fmt::format("  {:<{}}", title, width);
  for (const std::size_t d : columns) line += fmt::format("{:>11}", fmt::format("d={}", table.dimensions[d]));
  report.line(line);
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    line = fmt::format("  {:<{}}", table.encoding_names[e], width);
    for (const std::size_t d : columns) {
      line += fmt::format("{:>11.4g}", values[static_cast<std::size_t>(table.index(static_cast<Index>(e), static_cast<Index>(d)))]);
    }
    report.line(line);
  }
}

std::string known(Index x) { return x < 0 ? std::string("not known") : fmt::format("{}", x); }
std::string known(double x) { return std::isnan(x) ? std::string("not known") : fmt::format("{:.4g}", x); }

}  // namespace

void report_length(StageReport& report, const GeometryFile& geometry, const StressFile& stress) {
  const Spectrum& spectrum = geometry.spectrum;
  const StressTable& table = stress.table;
  report.line("");
  report.line(fmt::format("length {}: {} kept ({}), rank {}, trace {:.8g}, mean H {:.8g}", geometry.length,
                          number_of(std::ssize(geometry.position), "position"), geometry.unreached, known(spectrum.rank), spectrum.trace,
                          geometry.mean_hellinger));
  std::string leading;
  for (std::size_t k = 0; k < std::min<std::size_t>(6, spectrum.eigenvalues.size()); ++k)
    leading += fmt::format(" {:.6g}", spectrum.eigenvalues[k]);
  report.line(fmt::format("  eigenvalues{}{}; entropy rank {}, participation ratio {}, dimensions for 90/95/99 %: {}/{}/{}", leading,
                          std::ssize(geometry.position) > 6 ? " ..." : "", known(spectrum.entropy_rank),
                          known(spectrum.participation_ratio), known(spectrum.dims_90), known(spectrum.dims_95), known(spectrum.dims_99)));
  report_table(report, "raw stress", table, table.raw);
  report_table(report, "scaled stress", table, table.scaled);
  if (stress.denoised) report_table(report, "de-noised scaled", table, stress.denoised->scaled);
  report_table(report, "violation rate", table, table.violation_rate);
  if (table.dimensions.size() > most_columns)
    report.line(fmt::format("  {} of {} dimensions are shown; all are in the stress file", most_columns, table.dimensions.size()));
  const GeometryFacts facts = facts_of(geometry);
  for (const std::string& sentence : stress_sentences(stress, &facts)) report.line("  " + sentence);
  if (geometry.bootstrap) {
    for (const std::string& sentence : bootstrap_sentences(spectrum.trace, geometry.corpus_violation_rate, *geometry.bootstrap))
      report.line("  " + sentence);
  }
  if (geometry.factored) report.line("  " + geometry.factored->note());
  report.line("");
}

}  // namespace posgeom
