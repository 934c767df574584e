#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "io/inspect.hpp"
#include "io/posix.hpp"
#include "io/store_noise.hpp"
#include "io/store_series.hpp"
#include "io/store_stress.hpp"
#include "posgeom/error.hpp"
#include "posgeom/io/sentences.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

using io::add_sentences;
using io::columns_to_show;
using io::StoreReader;

/// One table over encodings and dimensions: a line for each encoding.
void add_table(const StoreReader& reader, const std::string& title, const std::string& dataset, InspectLines& lines) {
  const auto dimensions = reader.values<std::int32_t>("/dimension", {-1});
  const std::vector<std::string> names = reader.texts("/encoding_name");
  const auto cells = reader.values<double>(dataset, {std::ssize(names), std::ssize(dimensions)});
  const std::vector<Index> columns = columns_to_show(std::ssize(dimensions));
  std::string heading;
  for (const Index d : columns) heading += fmt::format("{:>11}", fmt::format("d={}", dimensions[static_cast<std::size_t>(d)]));
  lines.push_back({title, heading});
  for (std::size_t e = 0; e < names.size(); ++e) {
    std::string row;
    for (const Index d : columns) row += fmt::format("{:>11.5g}", cells[e * dimensions.size() + static_cast<std::size_t>(d)]);
    lines.push_back({"  " + names[e], row});
  }
}

/// A series at the largest dimension: from which step to which, and how the measures went.
void add_series(const StoreReader& reader, const io::SeriesRows& series, InspectLines& lines) {
  const auto dimensions = reader.values<std::int32_t>("/dimension", {-1});
  const Index width = std::ssize(dimensions);
  // The largest dimension that the matrices reach.
  const auto raw = reader.values<double>(fmt::format("/series/{}/raw", series.name), {std::ssize(series.step), width});
  std::size_t last = dimensions.size() - 1;
  while (last > 0 && std::isnan(raw[last])) --last;
  lines.push_back(
      {"series " + series.name, fmt::format("{}, {} to {}; at d = {}, first, middle and last:", number_of(std::ssize(series.step), "step"),
                                            series.step.front(), series.step.back(), dimensions[last])});
  for (const char* measure : {"raw", "scaled", "violation_rate", "min_separation"}) {
    const auto cells = reader.values<double>(fmt::format("/series/{}/{}", series.name, measure), {std::ssize(series.step), width});
    const auto at = [&](std::size_t k) { return cells[k * static_cast<std::size_t>(width) + last]; };
    lines.push_back({std::string("  ") + measure,
                     fmt::format("{:>11.5g}{:>11.5g}{:>11.5g}", at(0), at(series.step.size() / 2), at(series.step.size() - 1))});
  }
}

/// The value of "KEY=" among the lines that a file was made from; empty where there is none.
std::string made_with(const Provenance& provenance, const std::string& key) {
  const std::string lines = "\n" + provenance.fingerprint_lines;
  const std::size_t at = lines.find("\n" + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return lines.substr(begin, lines.find('\n', begin) - begin);
}

/// The geometry file beside a stress file, where it is the one that was scored against; null otherwise.
std::unique_ptr<StoreReader> geometry_beside(const StoreReader& stress) {
  const auto path = std::filesystem::path(stress.path()).parent_path() / fmt::format("geometry-{}.h5", stress.integer("length"));
  if (!io::exists(path.string())) return nullptr;
  try {
    auto geometry = std::make_unique<StoreReader>(path.string(), io::geometry_format);
    const Provenance theirs = geometry->provenance(), ours = stress.provenance();
    for (const char* key : {"corpus", "unreached", "min-count", "hellinger-range", "rarefy-geometry"}) {
      if (made_with(theirs, key) != made_with(ours, key)) return nullptr;
    }
    return geometry;
  } catch (const Error&) {
    return nullptr;  // what is wrong with it is said where it is asked about
  }
}

/// The sentences of the run's report, as far as the files that are there allow.
void add_stress_sentences(const StoreReader& reader, InspectLines& lines) {
  const StressFile stress = io::read_stress_table(reader);
  const std::string smacof = made_with(reader.provenance(), "encoding.smacof");
  if (!smacof.empty()) lines.push_back({"smacof", smacof + (stress.weighted ? "" : ", smacof-weights none")});
  const std::unique_ptr<StoreReader> beside = geometry_beside(reader);
  if (beside == nullptr) {
    add_sentences("in words", stress_sentences(stress, nullptr), lines);
    lines.push_back({"", fmt::format("its geometry-{}.h5 is not beside it: of sampling noise nothing is said here", stress.length)});
    return;
  }
  const NoiseAnalysis noise = beside->has("/noise") ? io::read_noise(*beside) : NoiseAnalysis{};
  const GeometryFacts facts = read_facts(*beside, beside->has("/noise") ? &noise : nullptr);
  add_sentences("in words", stress_sentences(stress, &facts), lines);
}

}  // namespace

void io::inspect_stress(const StoreReader& reader, InspectLines& lines) {
  lines.push_back({"length", std::to_string(reader.integer("length"))});
  lines.push_back({"constant baseline", number(reader.real("constant_baseline"))});
  lines.push_back({"monotonicity violations", fmt::format("{:.3f} % of the corpus's own", 100 * reader.real("corpus_violation_rate"))});
  add_table(reader, "raw stress", "/raw", lines);
  add_table(reader, "scaled stress", "/scaled", lines);
  add_table(reader, "violation rate", "/violation_rate", lines);
  if (reader.has("/shuffled")) {
    add_table(reader, "raw stress, shuffled", "/shuffled/raw", lines);
    add_table(reader, "scaled stress, shuffled", "/shuffled/scaled", lines);
    lines.push_back({"constant baseline, shuffled", number(reader.real("/shuffled/constant_baseline"))});
    lines.push_back({"monotonicity violations",
                     fmt::format("{:.3f} % of the shuffled corpus's own", 100 * reader.real("/shuffled/corpus_violation_rate"))});
  }
  if (reader.has("/bootstrap")) {
    lines.push_back(
        {"bootstrap", fmt::format("{}, basic {:.4g} % intervals", number_of(reader.shape("/bootstrap/replicates/raw").at(0), "replicate"),
                                  100 * (1 - reader.real("/bootstrap/alpha")))});
    add_table(reader, "scaled stress, low", "/bootstrap/scaled_basic_low", lines);
    add_table(reader, "scaled stress, high", "/bootstrap/scaled_basic_high", lines);
    add_table(reader, "share of being best", "/bootstrap/best", lines);
  }
  if (reader.has("/denoised")) {
    add_table(reader, "scaled stress, de-noised", "/denoised/scaled", lines);
    lines.push_back({"constant baseline, de-noised", number(reader.real("/denoised/constant_baseline"))});
  }
  for (const io::SeriesRows& series : io::series_among(reader.texts("/encoding_name"))) add_series(reader, series, lines);
  if (reader.has("/encodings")) lines.push_back({"stored encodings", fmt::format("{}", fmt::join(reader.names_in("/encodings"), ", "))});
  add_stress_sentences(reader, lines);
}

void io::inspect_sweep(const StoreReader& reader, InspectLines& lines) {
  const auto lengths = reader.values<std::int64_t>("/length", {-1});
  const std::vector<Index> count{std::ssize(lengths)};
  const auto rank = reader.values<std::int64_t>("/rank", count);
  const auto trace = reader.values<double>("/trace", count);
  const auto baseline = reader.values<double>("/constant_baseline", count);
  const auto violations = reader.values<double>("/corpus_violation_rate", count);
  lines.push_back({"lengths x encodings x dimensions", fmt::format("{}", fmt::join(reader.shape("/raw"), " x "))});
  lines.push_back({"encodings", fmt::format("{}", fmt::join(reader.texts("/encoding_name"), ", "))});
  lines.push_back({"dimensions", fmt::format("{}", fmt::join(reader.values<std::int32_t>("/dimension", {-1}), ", "))});
  Sweep sweep;
  sweep.lengths = lengths;
  for (auto [values, name] : {std::pair(&sweep.signal_rank, "/signal_rank"), std::pair(&sweep.rarefied_total, "/rarefied_total"),
                              std::pair(&sweep.noise_positions, "/noise_positions")}) {
    *values = reader.has(name) ? reader.values<std::int64_t>(name, count) : std::vector<std::int64_t>(lengths.size(), -1);
  }
  const auto whole = [](std::int64_t x) { return x < 0 ? std::string("-") : std::to_string(x); };
  lines.push_back(
      {"by length", fmt::format("{:>8}{:>12}{:>12}{:>12}{:>13}{:>15}", "rank", "trace", "baseline", "violations", "signal rank", "at M")});
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    lines.push_back({fmt::format("  n = {}", lengths[l]),
                     fmt::format("{:>8}{:>12.6g}{:>12.6g}{:>12.6g}{:>13}{:>15}", whole(rank[l]), trace[l], baseline[l], violations[l],
                                 whole(sweep.signal_rank[l]), whole(sweep.rarefied_total[l]))});
  }
  add_sentences("in words", sweep_sentences(sweep), lines);
}

}  // namespace posgeom
