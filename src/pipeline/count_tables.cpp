#include "pipeline/count_tables.hpp"
#include "posgeom/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace posgeom {
namespace {

bool holds(const std::vector<Index>& lengths, Index length) { return std::find(lengths.begin(), lengths.end(), length) != lengths.end(); }

bool all_anew(const Config& config, const CountsSummary& there) {
  return there.sequences == Sequences::document || (config.noise.split && !there.split);
}

}  // namespace

std::vector<Index> missing_lengths(const Config& config, const CountsSummary& there) {
  if (config.noise.split && !there.split) return config.lengths;
  std::vector<Index> missing;
  for (const Index length : config.lengths) {
    const bool counted =
        there.sequences == Sequences::document ? !there.lengths.empty() && length <= there.lengths.back() : holds(there.lengths, length);
    const bool shuffled = !config.noise.shuffle || holds(there.shuffled_lengths, length);
    if (!counted || !shuffled) missing.push_back(length);
  }
  return missing;
}

std::vector<Index> lengths_to_count(const Config& config, const CountsSummary& there) {
  if (!all_anew(config, there)) return missing_lengths(config, there);
  std::set<Index> lengths(config.lengths.begin(), config.lengths.end());
  lengths.insert(there.lengths.begin(), there.lengths.end());
  lengths.insert(there.shuffled_lengths.begin(), there.shuffled_lengths.end());
  return {lengths.begin(), lengths.end()};
}

NoiseOptions noise_to_count(const Config& config, const CountsSummary* there) {
  NoiseOptions noise = config.noise;
  if (there == nullptr) return noise;
  noise.split = noise.split || there->split;
  noise.shuffle = noise.shuffle || (all_anew(config, *there) && !there->shuffled_lengths.empty());
  return noise;
}

void keep_other_tables(CorpusCounts before, CorpusCounts& counts) {
  for (CountTable& table : before.tables) {
    const bool there = std::any_of(counts.tables.begin(), counts.tables.end(), [&](const CountTable& other) {
      return other.shuffled == table.shuffled &&
             (other.length == table.length || (counts.sequences == Sequences::document && !table.shuffled));
    });
    if (!there) counts.tables.push_back(std::move(table));
  }
  std::stable_sort(counts.tables.begin(), counts.tables.end(),
                   [](const CountTable& a, const CountTable& b) { return a.shuffled != b.shuffled ? b.shuffled : a.length < b.length; });
}

std::string comma_separated(const std::vector<Index>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

std::string describe(const CountsSummary& summary) {
  const char* const what = summary.sequences == Sequences::document ? "positions" : "length";
  return fmt::format("{} ({} empty), {}, longest {}, V = {}, {} {}{}{}", number_of(summary.document_count, "document"),
                     summary.empty_document_count, number_of(summary.token_count, "token"), summary.longest_document, summary.vocab_size,
                     what, comma_separated(summary.lengths), summary.split ? ", halves" : "",
                     summary.shuffled_lengths.empty() ? "" : ", shuffle null of " + comma_separated(summary.shuffled_lengths));
}

}  // namespace posgeom
