#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/broadcast.hpp"
#include "io/count_tables.hpp"
#include "io/npy.hpp"
#include "io/posix.hpp"
#include "io/store_file.hpp"
#include "io/store_noise.hpp"
#include "io/store_series.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

constexpr Index shown_columns = 8;  // of a table, so that it fits 100 characters

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string first_numbers(const std::vector<double>& values, std::size_t limit) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < std::min(limit, values.size()); ++k) texts.push_back(number(values[k]));
  return fmt::format("{}{}", fmt::join(texts, " "), values.size() > limit ? " ..." : "");
}

/// The first and the last columns where there are too many.
std::vector<Index> columns_to_show(Index count) {
  std::vector<Index> columns;
  for (Index k = 0; k < count; ++k) {
    if (count <= shown_columns || k < shown_columns / 2 || k >= count - shown_columns / 2) columns.push_back(k);
  }
  return columns;
}

/// "2.5 MB"
std::string bytes_text(Index bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < units.size()) value /= 1000, ++unit;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.3g} {}", value, units[unit]);
}

void add_provenance(const StoreReader& reader, InspectLines& lines) {
  const Provenance p = reader.provenance();
  lines.push_back({"format", fmt::format("{}, version {}", reader.format(), reader.integer("format_version"))});
  lines.push_back({"size", bytes_text(io::file_size(io::open_for_reading(reader.path()), reader.path()))});
  lines.push_back(
      {"created", fmt::format("{} by posgeom {} ({})", p.created, reader.text("posgeom_version"), reader.text("git_revision"))});
  lines.push_back({"command line", p.command_line});
  lines.push_back({"ranks", fmt::format("{}, process grid {}", p.ranks, p.process_grid)});
  lines.push_back({"libraries", p.libraries});
  lines.push_back({"seed", std::to_string(p.seed)});
  lines.push_back({"fingerprint", p.fingerprint});
  lines.push_back({"corpus fingerprint", p.corpus_fingerprint});
}

/// One line for the table in `group`; `totals`: where its position totals stand, empty where nowhere.
void add_count_table(const StoreReader& reader, const std::string& title, const std::string& group, const std::string& totals,
                     InspectLines& lines) {
  std::string text = fmt::format("{} nonzero counts", reader.shape(group + "/token").at(0));
  if (!totals.empty()) {
    const auto total = reader.values<Count>(totals, {-1});
    const Index reached = std::count_if(total.begin(), total.end(), [](Count n) { return n > 0; });
    std::vector<std::string> shown;
    for (const Index i : columns_to_show(std::ssize(total)))
      shown.push_back(fmt::format("N_{} = {}", i, total[static_cast<std::size_t>(i)]));
    text += fmt::format(", {} positions reached: {}", reached, fmt::join(shown, ", "));
  }
  lines.push_back({title, text});
}

void add_counts(const StoreReader& reader, InspectLines& lines) {
  const CountsSummary s = io::summary_of(reader);
  lines.push_back({"documents", fmt::format("{}, {} of them empty", s.document_count, s.empty_document_count)});
  lines.push_back({"tokens", fmt::format("{}; the longest document has {}", s.token_count, s.longest_document)});
  lines.push_back({"vocabulary", fmt::format("V = {}, {}", s.vocab_size, reader.has("/vocabulary") ? "stored" : "not stored")});
  lines.push_back({"sequences", std::string(name_of(s.sequences))});
  lines.push_back({"halves", s.split ? "stored" : "not stored"});
  lines.push_back({"shuffled", s.shuffled ? fmt::format("n = {}", fmt::join(s.shuffled_lengths, ", ")) : "not stored"});
  const auto add = [&](CountsTable table, CountsTable half, const std::string& title, Index length) {
    const std::string totals = table == CountsTable::corpus ? io::positions_group(s.sequences, table, length) + "/position_total" : "";
    add_count_table(reader, fmt::format("{}n = {}", title, length), io::counts_group(s.sequences, table, length), totals, lines);
    if (s.split) add_count_table(reader, "  half a", io::counts_group(s.sequences, half, length), "", lines);
  };
  for (const Index length : s.lengths) add(CountsTable::corpus, CountsTable::corpus_half_a, "", length);
  for (const Index length : s.shuffled_lengths) add(CountsTable::shuffled, CountsTable::shuffled_half_a, "shuffled, ", length);
  if (reader.format() == io::checkpoint_format) {
    const auto units = UnitSet::from_triples(reader.values<Index>("/units_done", {-1, 3}));
    lines.push_back({"units done", std::to_string(units.size())});
  }
}

void add_geometry(const StoreReader& reader, InspectLines& lines) {
  const std::vector<Index> encoding = reader.shape("/encoding");
  const Index full = reader.integer("parameters_full");
  const Index factored = reader.integer("parameters_factored");
  lines.push_back({"positions", fmt::format("{} of {}, unreached: {}", reader.shape("/position").at(0), reader.integer("length"),
                                            reader.text("unreached"))});
  lines.push_back({"rank", std::to_string(reader.integer("rank"))});
  lines.push_back({"trace", number(reader.real("trace"))});
  lines.push_back({"eigenvalues", first_numbers(reader.values<double>("/eigenvalues", {-1}), 8)});
  lines.push_back({"entropy rank", number(reader.real("entropy_rank"))});
  lines.push_back({"participation ratio", number(reader.real("participation_ratio"))});
  lines.push_back({"dimensions for 90/95/99 %",
                   fmt::format("{}/{}/{}", reader.integer("dims_90"), reader.integer("dims_95"), reader.integer("dims_99"))});
  lines.push_back({"mean Hellinger distance", number(reader.real("mean_hellinger"))});
  lines.push_back({"sum of squared distances", number(reader.real("sum_hellinger_squared"))});
  lines.push_back({"monotonicity violations", fmt::format("{:.3f} % of the corpus's own", 100 * reader.real("corpus_violation_rate"))});
  lines.push_back({"encoding", fmt::format("{}", fmt::join(encoding, " x "))});
  lines.push_back({"parameters", fmt::format("{} in full, {} factored{}", full, factored, factored < full ? "" : " (no saving)")});
  if (reader.has("/factored")) {
    const Index rank = reader.integer("/factored/rank");
    const Index numbers = reader.integer("/factored/parameters_factored");
    const Index whole = reader.integer("/factored/parameters_full");
    lines.push_back({"factored", fmt::format("rank {}, relative error {:.3g} (asked for at most {:.3g}): {} numbers instead of {}{}", rank,
                                             reader.real("/factored/error"), reader.real("/factored/tolerance"), numbers, whole,
                                             numbers < whole ? "" : " (no saving)")});
  }
  if (reader.has_attribute("rarefied_total"))
    lines.push_back({"rarefied", fmt::format("every position to {} tokens", reader.integer("rarefied_total"))});
  lines.push_back(
      {"solver", fmt::format("{}, block size {}, residual {:.2g}, orthogonality {:.2g} (in units of n eps)", reader.text("solver"),
                             reader.integer("block_size"), reader.real("residual"), reader.real("orthogonality"))});
  if (reader.has("/bootstrap")) {
    const auto interval = [&](const std::string& name) {
      return fmt::format("{} {} to {} (basic {} to {})", name, number(reader.real("/bootstrap/" + name + "_low")),
                         number(reader.real("/bootstrap/" + name + "_high")), number(reader.real("/bootstrap/" + name + "_basic_low")),
                         number(reader.real("/bootstrap/" + name + "_basic_high")));
    };
    lines.push_back({"bootstrap", fmt::format("{} replicates, {:.4g} % intervals", reader.shape("/bootstrap/rank").at(0),
                                              100 * (1 - reader.real("/bootstrap/alpha")))});
    for (const char* name : {"trace", "rank", "violation_rate"}) lines.push_back({"", interval(name)});
  }
  lines.push_back({"Hellinger matrix", reader.has("/hellinger") ? "stored" : "not stored"});
  if (!reader.has("/noise")) {
    lines.push_back({"noise", "not analysed"});
    return;
  }
  const NoiseAnalysis noise = io::read_noise(reader);
  std::string key = "noise";
  for (const std::string& sentence : noise_sentences(noise)) lines.push_back({std::exchange(key, ""), sentence});
  if (!noise.split_eigenvalues.empty()) lines.push_back({"eigenvalues across halves", first_numbers(noise.split_eigenvalues, 8)});
  if (noise.shuffle) lines.push_back({"eigenvalues, shuffled", first_numbers(noise.shuffled_eigenvalues, 8)});
}

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
  lines.push_back({"series " + series.name, fmt::format("{} steps, {} to {}; at d = {}, first, middle and last:", series.step.size(),
                                                        series.step.front(), series.step.back(), dimensions[last])});
  for (const char* measure : {"raw", "scaled", "violation_rate", "min_separation"}) {
    const auto cells = reader.values<double>(fmt::format("/series/{}/{}", series.name, measure), {std::ssize(series.step), width});
    const auto at = [&](std::size_t k) { return cells[k * static_cast<std::size_t>(width) + last]; };
    lines.push_back({std::string("  ") + measure,
                     fmt::format("{:>11.5g}{:>11.5g}{:>11.5g}", at(0), at(series.step.size() / 2), at(series.step.size() - 1))});
  }
}

void add_stress(const StoreReader& reader, InspectLines& lines) {
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
    lines.push_back({"bootstrap", fmt::format("{} replicates, {:.4g} % intervals", reader.shape("/bootstrap/replicates/raw").at(0),
                                              100 * (1 - reader.real("/bootstrap/alpha")))});
    add_table(reader, "scaled stress, low", "/bootstrap/scaled_low", lines);
    add_table(reader, "scaled stress, high", "/bootstrap/scaled_high", lines);
    add_table(reader, "share of being best", "/bootstrap/best", lines);
  }
  if (reader.has("/denoised")) {
    add_table(reader, "scaled stress, de-noised", "/denoised/scaled", lines);
    lines.push_back({"constant baseline, de-noised", number(reader.real("/denoised/constant_baseline"))});
  }
  for (const io::SeriesRows& series : io::series_among(reader.texts("/encoding_name"))) add_series(reader, series, lines);
  if (reader.has("/encodings")) lines.push_back({"stored encodings", fmt::format("{}", fmt::join(reader.names_in("/encodings"), ", "))});
}

void add_sweep(const StoreReader& reader, InspectLines& lines) {
  const auto lengths = reader.values<std::int64_t>("/length", {-1});
  const std::vector<Index> count{std::ssize(lengths)};
  const auto rank = reader.values<std::int64_t>("/rank", count);
  const auto trace = reader.values<double>("/trace", count);
  const auto baseline = reader.values<double>("/constant_baseline", count);
  const auto violations = reader.values<double>("/corpus_violation_rate", count);
  lines.push_back({"lengths x encodings x dimensions", fmt::format("{}", fmt::join(reader.shape("/raw"), " x "))});
  lines.push_back({"encodings", fmt::format("{}", fmt::join(reader.texts("/encoding_name"), ", "))});
  lines.push_back({"dimensions", fmt::format("{}", fmt::join(reader.values<std::int32_t>("/dimension", {-1}), ", "))});
  lines.push_back({"by length", fmt::format("{:>8}{:>12}{:>12}{:>12}", "rank", "trace", "baseline", "violations")});
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    lines.push_back({fmt::format("  n = {}", lengths[l]),
                     fmt::format("{:>8}{:>12.6g}{:>12.6g}{:>12.6g}", rank[l], trace[l], baseline[l], violations[l])});
  }
}

InspectLines inspect_on_root(const std::string& path) {
  InspectLines lines;
  if (io::exists(path) && io::is_npy(path)) {
    const io::NpyHeader header = io::read_npy_header(path);
    lines.push_back({"format", "NumPy array (.npy)"});
    lines.push_back({"shape", fmt::format("{}", fmt::join(header.shape, " x "))});
    lines.push_back({"type", fmt::format("{}, {} order", header.type, header.fortran_order ? "Fortran" : "C")});
    return lines;
  }
  const StoreReader reader(path, "");
  add_provenance(reader, lines);
  if (reader.format() == io::counts_format || reader.format() == io::checkpoint_format) add_counts(reader, lines);
  if (reader.format() == io::geometry_format) add_geometry(reader, lines);
  if (reader.format() == io::stress_format) add_stress(reader, lines);
  if (reader.format() == io::sweep_format) add_sweep(reader, lines);
  return lines;
}

}  // namespace

InspectLines inspect_file(const Communicator& comm, const std::string& path) {
  InspectLines lines = collective(comm, "reading " + path, [&] { return comm.is_root() ? inspect_on_root(path) : InspectLines{}; });
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : lines) {
    keys.push_back(key);
    values.push_back(value);
  }
  io::broadcast_all(comm, keys, values);
  lines.clear();
  for (std::size_t k = 0; k < keys.size(); ++k) lines.push_back({keys[k], values[k]});
  return lines;
}

}  // namespace posgeom
