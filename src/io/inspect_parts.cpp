#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "io/inspect.hpp"

namespace posgeom::io {

std::string number(double value) { return fmt::format("{:.6g}", value); }
std::string known(double value) { return std::isnan(value) ? "not known" : number(value); }
std::string known(Index value) { return value < 0 ? "not known" : std::to_string(value); }

std::vector<Index> columns_to_show(Index count) {
  constexpr Index shown_columns = 8;  // of a table, so that it fits 100 characters
  std::vector<Index> columns;
  for (Index k = 0; k < count; ++k) {
    if (count <= shown_columns || k < shown_columns / 2 || k >= count - shown_columns / 2) columns.push_back(k);
  }
  return columns;
}

void add_sentences(std::string key, const std::vector<std::string>& sentences, InspectLines& lines) {
  for (const std::string& sentence : sentences) lines.push_back({std::exchange(key, ""), sentence});
}

GeometryFacts read_facts(const StoreReader& reader, const NoiseAnalysis* noise) {
  GeometryFacts facts{.positions = reader.shape("/position").at(0),
                      .rank = reader.integer("rank"),
                      .known_eigenvalues = reader.shape("/eigenvalues").at(0),
                      .components = reader.shape("/encoding").at(1),
                      .noise = noise};
  if (reader.has_attribute("rarefied_total")) facts.rarefied_total = reader.integer("rarefied_total");
  if (reader.has_attribute("most_tokens")) {
    facts.fewest_tokens = reader.integer("fewest_tokens");
    facts.most_tokens = reader.integer("most_tokens");
  }
  return facts;
}

}  // namespace posgeom::io
