#include "posgeom/pipeline/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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
  std::size_t width = 16;
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

constexpr std::size_t most_names = 12;

/// Parts of a sentence, those beyond most_names counted only.
std::string listed(const std::vector<std::string>& parts) {
  const std::size_t shown = std::min(parts.size(), most_names);
  return fmt::format("{}{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     parts.size() > shown ? fmt::format(" and {} more", parts.size() - shown) : std::string());
}

/// Names of the encodings with a defined scaled stress, apart: those that beat the constant baseline at some d, and the others.
struct AgainstConstant {
  std::vector<std::string> better, others;
};
AgainstConstant against_constant(const StressTable& table, const std::vector<double>& scaled, double baseline) {
  AgainstConstant found;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    double least = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) least = std::fmin(least, scaled[e * table.dimensions.size() + d]);
    if (!std::isnan(least)) (least < baseline ? found.better : found.others).push_back(table.encoding_names[e]);
  }
  return found;
}

/// What each encoding scores against the shuffled corpus at the largest dimension, and which beat equal distances there and here: scaled
/// stresses of two corpora cannot be compared with each other, since the nearer H is to a constant the less any fit leaves.
void report_shuffled(StageReport& report, const StressFile& stress) {
  const StressTable& table = stress.table;
  const ShuffledStress& shuffled = *stress.shuffled;
  const auto last = table.dimensions.size() - 1;
  std::vector<std::string> parts;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    const std::size_t cell = e * table.dimensions.size() + last;
    if (!std::isnan(shuffled.raw[cell]))
      parts.push_back(fmt::format("{} {:.4g} ({:.4g} here)", table.encoding_names[e], shuffled.raw[cell], table.raw[cell]));
  }
  if (parts.empty()) return;
  report.line(fmt::format("  against shuffled text, which has no order, raw stress at d = {} is: {}{}", table.dimensions.back(),
                          listed(parts), parts.size() < table.encoding_names.size() ? " (the others have none at that d)" : ""));
  const auto names = [](const AgainstConstant& found) { return found.better.empty() ? std::string("none") : listed(found.better); };
  report.line(fmt::format(
      "  better than all distances equal in scaled stress at some d: {} here (below {:.4g}); {} on shuffled text (below {:.4g})",
      names(against_constant(table, table.scaled, table.constant_baseline)), table.constant_baseline,
      names(against_constant(table, shuffled.scaled, shuffled.constant_baseline)), shuffled.constant_baseline));
}

/// How near the encodings come to the de-noised distances.
void report_denoised(StageReport& report, const StressFile& stress) {
  const StressTable& table = stress.table;
  std::vector<std::string> parts;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    double best = std::numeric_limits<double>::infinity();
    std::int32_t at = 0;
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      const double scaled = stress.denoised->scaled[e * table.dimensions.size() + d];
      if (!(scaled < best)) continue;
      best = scaled;
      at = table.dimensions[d];
    }
    if (at > 0) parts.push_back(fmt::format("{} {:.4g} (d = {})", table.encoding_names[e], best, at));
  }
  if (parts.empty()) return;
  report.line(fmt::format("  against the de-noised distances the least scaled stress is: {}; {:.4g} with all distances equal",
                          listed(parts), stress.denoised->constant_baseline));
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
  if (geometry.rarefied_total > 0)
    report.line(fmt::format("  every position was rarefied to {} tokens before distances were formed", geometry.rarefied_total));
  if (geometry.factored) report.line("  " + geometry.factored->note());
  report.line(fmt::format("  an encoding with all distances equal has scaled stress {:.6g} (constant baseline)", table.constant_baseline));
  if (const auto worse = against_constant(table, table.scaled, table.constant_baseline).others; !worse.empty())
    report.line(fmt::format("  and fit the distances no better than that at any d: {} (for order, see the violation rate)", listed(worse)));
  if (table.dimensions.size() > most_columns) {
    report.line(fmt::format("  {} of {} dimensions are shown; all are in the stress file", most_columns, table.dimensions.size()));
  }
  const bool with_signal = std::ranges::find(table.encoding_names, "signal") != table.encoding_names.end();
  if (with_signal && geometry.noise && geometry.noise->split)
    report.line(fmt::format("  signal is scored over the {} positions of the noise analysis, against the same H",
                            geometry.noise->position_count()));
  if (stress.shuffled) report_shuffled(report, stress);
  if (stress.denoised) report_denoised(report, stress);
  report.line(
      fmt::format("  in {:.2f} % of the triples the nearer position is the one farther away in H (violation rate of the corpus itself;",
                  100 * table.corpus_violation_rate));
  report.line("  the conjecture that training makes an encoding monotone presumes 0 %)");
  if (spectrum.rank > 0 && spectrum.rank + 1 == std::ssize(geometry.position)) {
    report.line(
        "  the rank is the largest possible: finite counts alone make every position look independent, so it is no evidence of order");
  }
  report_bootstrap(report, geometry, stress);
  if (geometry.noise) {
    for (const std::string& sentence : noise_sentences(*geometry.noise)) report.line("  noise: " + sentence);
  }
  report.line("");
}

}  // namespace posgeom
