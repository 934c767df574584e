#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/io/sentences.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

bool has(const StressTable& table, const std::string& name) {
  return std::ranges::find(table.encoding_names, name) != table.encoding_names.end();
}

std::string dimensions_text(const std::vector<std::int32_t>& dimensions) {
  std::vector<std::string> parts(dimensions.size());
  std::ranges::transform(dimensions, parts.begin(), [](std::int32_t d) { return std::to_string(d); });
  return "d = " + listed(parts);
}

/// mds and smacof at dimensions where their de-noised stress is larger again than its least.
void add_fitted_noise(const StressTable& table, const DenoisedStress& denoised, std::vector<std::string>& sentences) {
  constexpr double larger = 1.05;
  const std::size_t width = table.dimensions.size();
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    if (!is_made_from_h(table.encoding_names[e])) continue;
    const std::span<const double> scaled(denoised.scaled.data() + e * width, width);
    std::size_t best = width, worst = width;
    for (std::size_t d = 0; d < width; ++d) {
      if (std::isnan(scaled[d])) continue;
      if (best == width || scaled[d] < scaled[best]) best = worst = d;
      if (scaled[d] > scaled[worst]) worst = d;
    }
    if (best == width || scaled[worst] <= larger * scaled[best]) continue;
    sentences.push_back(
        fmt::format("{}: beyond d = {} it fits sampling noise: the de-noised stress is least there ({:.4g}), and {:.4g} at d = {}",
                    table.encoding_names[e], table.dimensions[best], scaled[best], scaled[worst], table.dimensions[worst]));
  }
}

/// mds and smacof where they are wider than what stands above sampling noise, and nothing tells how they fare there. `rank`: of the
/// geometry, beyond which there is nothing; negative: not known.
void add_beyond_signal(const StressTable& table, const NoiseAnalysis& noise, Index rank, std::vector<std::string>& sentences) {
  std::vector<std::string> names;
  std::vector<std::int32_t> beyond;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    if (!is_made_from_h(table.encoding_names[e])) continue;
    names.push_back(table.encoding_names[e]);
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      const bool scored = !std::isnan(table.raw[e * table.dimensions.size() + d]);
      if (scored && table.dimensions[d] > noise.signal_rank) beyond.push_back(table.dimensions[d]);
    }
  }
  std::ranges::sort(beyond);
  beyond.erase(std::unique(beyond.begin(), beyond.end()), beyond.end());
  if (beyond.empty() || (rank >= 0 && rank <= noise.signal_rank)) return;
  const std::string above = noise.signal_rank == 0 ? std::string("no component stands above sampling noise")
                                                   : fmt::format("only {} above sampling noise",
                                                                 number_of(noise.signal_rank, "component stands", "components stand"));
  sentences.push_back(fmt::format("{} at {}: {}; what {} gain{} beyond may be fitted noise", fmt::join(names, " and "),
                                  dimensions_text(beyond), above, names.size() == 1 ? "it" : "they", names.size() == 1 ? "s" : ""));
}

/// How near the encodings come to the de-noised distances, and how the signal encoding is to be judged.
void add_denoised(const StressFile& stress, const NoiseAnalysis* noise, std::vector<std::string>& sentences) {
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
  sentences.push_back(fmt::format("against the de-noised distances the least scaled stress is: {}; {:.4g} with all distances equal",
                                  listed(parts), stress.denoised->constant_baseline));
  if (has(table, "signal")) {
    sentences.push_back(fmt::format(
        "judge signal by its de-noised stress, though it comes from the same halves: H, which the other tables are against, has the noise "
        "that signal leaves out{}",
        noise != nullptr ? fmt::format(" (here at the {} of the noise analysis)", number_of(noise->position_count(), "position")) : ""));
  } else if (noise != nullptr && noise->signal_rank > 0) {
    sentences.push_back(
        fmt::format("the signal encoding (/noise/signal_encoding, {}) is to be judged by de-noised stress, not against H: --encodings "
                    "mds,signal,... scores it",
                    number_of(noise->signal_rank, "column")));
  }
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

void add_constant(const StressTable& table, std::vector<std::string>& sentences) {
  if (std::isnan(table.constant_baseline)) {
    sentences.emplace_back("the constant baseline is undefined: all distances are zero, or there is no pair of positions");
    return;
  }
  std::string text =
      fmt::format("an encoding with all distances equal has scaled stress {:.6g} (constant baseline)", table.constant_baseline);
  if (const auto worse = against_constant(table, table.scaled, table.constant_baseline).others; !worse.empty())
    text += fmt::format("; no better than that at any d: {} (for order, see the violation rate)", listed(worse));
  sentences.push_back(std::move(text));
}

/// Which encodings beat equal distances where there is no order, and what each scores there at the largest dimension. Scaled stresses of
/// two corpora cannot be compared with each other, since the nearer H is to a constant the less any fit leaves.
void add_shuffled(const StressFile& stress, std::vector<std::string>& sentences) {
  const StressTable& table = stress.table;
  const ShuffledStress& shuffled = *stress.shuffled;
  const auto last = table.dimensions.size() - 1;
  std::vector<std::string> raw;
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    const double value = shuffled.raw[e * table.dimensions.size() + last];
    if (!std::isnan(value)) raw.push_back(fmt::format("{} {:.4g}", table.encoding_names[e], value));
  }
  if (raw.empty()) return;
  const auto names = [](const AgainstConstant& found) { return found.better.empty() ? std::string("none") : listed(found.better); };
  sentences.push_back(fmt::format(
      "against shuffled text, which has no order, better in scaled stress than all distances equal ({:.4g}): {}; against the text itself "
      "({:.4g}): {}; raw stress against shuffled text at d = {}, which mostly follows an encoding's scale: {}",
      shuffled.constant_baseline, names(against_constant(table, shuffled.scaled, shuffled.constant_baseline)), table.constant_baseline,
      names(against_constant(table, table.scaled, table.constant_baseline)), table.dimensions.back(), listed(raw)));
}

void add_weighted(const StressFile& stress, std::vector<std::string>& sentences) {
  const WeightedStress& weighted = *stress.weighted;
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < weighted.smacof.size(); ++d) {
    if (!std::isnan(weighted.smacof[d]))
      parts.push_back(fmt::format("{:.4g} at d = {} (mds {:.4g})", weighted.smacof[d], stress.table.dimensions[d], weighted.mds[d]));
  }
  if (!parts.empty())
    sentences.push_back(fmt::format(
        "smacof weighs pairs by {} (--smacof-weights): its weighted raw stress is {}; the tables weigh nothing, and may show it above mds",
        weighted.weights, listed(parts)));
}

/// Why a table has no number there, as far as names tell.
std::string reason_for(const std::string& name, std::int32_t d, const GeometryFacts* facts) {
  if (is_made_from_h(name)) {
    if (facts != nullptr && d > facts->components) return fmt::format("--components keeps {}", number_of(facts->components, "column"));
  } else if ((name == "sinusoidal" || name == "rope") && d % 2 != 0) {
    return "odd d";
  } else if (name == "rope") {
    return "no multiple of --rope-head-dim";
  } else if (name == "signal") {
    return "nothing above noise, or too few positions";
  } else if (name != "sinusoidal" && name != "alibi" && name != "linear" && name != "random") {
    return "beyond its columns, or not among the --encodings of the run that added that d";
  }
  return "not among the --encodings of the run that added that d";
}

/// Every cell without a number, and why.
void add_undefined(const StressTable& table, const GeometryFacts* facts, std::vector<std::string>& sentences) {
  std::map<std::string, std::map<std::vector<std::int32_t>, std::vector<std::string>>> names;  // by reason and dimensions
  for (std::size_t e = 0; e < table.encoding_names.size(); ++e) {
    std::map<std::string, std::vector<std::int32_t>> dimensions;
    for (std::size_t d = 0; d < table.dimensions.size(); ++d) {
      if (std::isnan(table.raw[e * table.dimensions.size() + d]))
        dimensions[reason_for(table.encoding_names[e], table.dimensions[d], facts)].push_back(table.dimensions[d]);
    }
    for (const auto& [reason, where] : dimensions) names[reason][where].push_back(table.encoding_names[e]);
  }
  std::vector<std::string> parts;
  for (const auto& [reason, groups] : names) {
    for (const auto& [where, who] : groups) parts.push_back(fmt::format("{} at {} ({})", listed(who), dimensions_text(where), reason));
  }
  if (!parts.empty()) sentences.push_back(fmt::format("no number (nan) where an encoding is not defined: {}", fmt::join(parts, "; ")));
}

}  // namespace

std::vector<std::string> stress_sentences(const StressFile& stress, const GeometryFacts* facts) {
  const StressTable& table = stress.table;
  const NoiseAnalysis* noise = facts == nullptr ? nullptr : facts->noise;
  std::vector<std::string> sentences;
  if (noise != nullptr) {
    for (const std::string& sentence : noise_sentences(*noise)) sentences.push_back("noise: " + sentence);
  }
  if (facts != nullptr && facts->positions == 1) {
    std::ranges::move(geometry_sentences(*facts), std::back_inserter(sentences));
    return sentences;
  }
  const bool analysed = noise != nullptr && noise->split && noise->position_count() > 1;
  if (stress.denoised) {
    add_fitted_noise(table, *stress.denoised, sentences);
    add_denoised(stress, analysed ? noise : nullptr, sentences);
  } else if (analysed) {
    add_beyond_signal(table, *noise, facts->rank, sentences);
  }
  if (facts != nullptr) std::ranges::move(geometry_sentences(*facts), std::back_inserter(sentences));
  add_constant(table, sentences);
  if (stress.shuffled) add_shuffled(stress, sentences);
  if (stress.weighted) add_weighted(stress, sentences);
  if (!std::isnan(table.corpus_violation_rate))
    sentences.push_back(
        fmt::format("in {:.2f} % of the triples the nearer position is the one farther away in H (violation rate of the corpus itself; the "
                    "conjecture that training makes an encoding monotone presumes 0 %)",
                    100 * table.corpus_violation_rate));
  std::ranges::move(ranking_sentences(stress), std::back_inserter(sentences));
  add_undefined(table, facts, sentences);
  return sentences;
}

}  // namespace posgeom
