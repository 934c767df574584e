#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "io/broadcast.hpp"
#include "io/count_tables.hpp"
#include "io/inspect.hpp"
#include "io/npy.hpp"
#include "io/posix.hpp"
#include "io/store_bootstrap.hpp"
#include "io/store_file.hpp"
#include "io/store_noise.hpp"
#include "posgeom/io/sentences.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

using io::add_sentences;
using io::columns_to_show;
using io::known;
using io::number;
using io::StoreReader;

std::string first_numbers(const std::vector<double>& values, std::size_t limit) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < std::min(limit, values.size()); ++k) texts.push_back(number(values[k]));
  return fmt::format("{}{}", fmt::join(texts, " "), values.size() > limit ? " ..." : "");
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
    text += fmt::format(", {} reached: {}", number_of(reached, "position"), fmt::join(shown, ", "));
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
  lines.push_back({"rank", known(reader.integer("rank"))});
  lines.push_back({"trace", number(reader.real("trace"))});
  lines.push_back({"eigenvalues", first_numbers(reader.values<double>("/eigenvalues", {-1}), 8)});
  lines.push_back({"entropy rank", known(reader.real("entropy_rank"))});
  lines.push_back({"participation ratio", known(reader.real("participation_ratio"))});
  lines.push_back({"dimensions for 90/95/99 %", fmt::format("{}/{}/{}", known(reader.integer("dims_90")), known(reader.integer("dims_95")),
                                                            known(reader.integer("dims_99")))});
  lines.push_back({"mean Hellinger distance", number(reader.real("mean_hellinger"))});
  lines.push_back({"sum of squared distances", number(reader.real("sum_hellinger_squared"))});
  lines.push_back({"monotonicity violations", fmt::format("{:.3f} % of the corpus's own", 100 * reader.real("corpus_violation_rate"))});
  lines.push_back({"encoding", fmt::format("{}", fmt::join(encoding, " x "))});
  lines.push_back({"parameters", fmt::format("{} in full, {} factored{}", full, known(factored), factored < full ? "" : " (no saving)")});
  if (reader.has("/factored")) {
    const Index rank = reader.integer("/factored/rank");
    const Index numbers = reader.integer("/factored/parameters_factored");
    const Index whole = reader.integer("/factored/parameters_full");
    lines.push_back({"factored", fmt::format("rank {}, relative error {:.3g} (asked for at most {:.3g}): {} numbers instead of {}{}", rank,
                                             reader.real("/factored/error"), reader.real("/factored/tolerance"), numbers, whole,
                                             numbers < whole ? "" : " (no saving)")});
  }
  if (reader.has_attribute("rarefied_total"))
    lines.push_back({"rarefied", "every position to " + number_of(reader.integer("rarefied_total"), "token")});
  lines.push_back(
      {"solver", fmt::format("{}, block size {}, residual {:.2g}, orthogonality {:.2g} (in units of n eps)", reader.text("solver"),
                             reader.integer("block_size"), reader.real("residual"), reader.real("orthogonality"))});
  lines.push_back({"Hellinger matrix", reader.has("/hellinger") ? "stored" : "not stored"});
  const NoiseAnalysis noise = reader.has("/noise") ? io::read_noise(reader) : NoiseAnalysis{};
  add_sentences("noise", reader.has("/noise") ? noise_sentences(noise) : std::vector<std::string>{"not analysed"}, lines);
  add_sentences("in words", geometry_sentences(io::read_facts(reader, reader.has("/noise") ? &noise : nullptr)), lines);
  if (reader.has("/bootstrap"))
    add_sentences("", bootstrap_sentences(reader.real("trace"), reader.real("corpus_violation_rate"), io::read_geometry_bootstrap(reader)),
                  lines);
  if (!noise.split_eigenvalues.empty()) lines.push_back({"eigenvalues across halves", first_numbers(noise.split_eigenvalues, 8)});
  if (noise.shuffle) lines.push_back({"eigenvalues, shuffled", first_numbers(noise.shuffled_eigenvalues, 8)});
}

void add_truth(const StoreReader& reader, InspectLines& lines) {
  const std::vector<Index> weights = reader.shape("/weights");
  const std::vector<Index> distributions = reader.shape("/distributions");
  lines.push_back({"positions", std::to_string(weights.at(0))});
  lines.push_back({"components", fmt::format("{} over {} tokens; the distributions are /weights times /distributions", distributions.at(0),
                                             distributions.at(1))});
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
  if (reader.format() == io::stress_format) io::inspect_stress(reader, lines);
  if (reader.format() == io::sweep_format) io::inspect_sweep(reader, lines);
  if (reader.format() == io::truth_format) add_truth(reader, lines);
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
