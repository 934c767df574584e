#include "posgeom/io/sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// Below this ratio of the fullest position's tokens to the thinnest's, what unequal totals do to distances is small.
constexpr double unequal = 2;

/// So many eigenvalues it takes to see a flat bulk (flat_bulk_begin).
constexpr Index bulk_reach = 24;

std::string unequal_totals(const GeometryFacts& facts) {
  return fmt::format(
      "positions hold {} to {} tokens ({:.3g} times as many): few tokens alone make distances larger, so that they grow towards the thinly "
      "counted positions, mostly the tail; --rarefy-geometry M or auto brings all to as many",
      facts.fewest_tokens, facts.most_tokens, static_cast<double>(facts.most_tokens) / static_cast<double>(facts.fewest_tokens));
}

std::string leading_only(const GeometryFacts& facts) {
  const std::string found = number_of(facts.known_eigenvalues, "leading eigenvalue");
  std::string text = fmt::format(
      "krylov found {} of {}: {}entropy rank, participation ratio and the dimensions for a larger share of the trace need all of them and "
      "are not known (NaN and -1 in the file)",
      found, facts.positions, facts.rank < 0 ? "the rank, " : "");
  if (facts.known_eigenvalues < bulk_reach)
    text += fmt::format(
        "; nor can {} show whether components lie in a flat bulk of sampling noise: the noise analysis does, or another "
        "--solver",
        facts.known_eigenvalues == 1 ? "it" : "so few");
  return text;
}

}  // namespace

std::string listed(const std::vector<std::string>& parts) {
  constexpr std::size_t most = 12;
  const std::size_t shown = std::min(parts.size(), most);
  return fmt::format("{}{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     parts.size() > shown ? fmt::format(" and {} more", parts.size() - shown) : std::string());
}

GeometryFacts facts_of(const GeometryFile& file) {
  return {.positions = std::ssize(file.position),
          .rank = file.spectrum.rank,
          .known_eigenvalues = std::ssize(file.spectrum.eigenvalues),
          .components = file.encoding.components,
          .fewest_tokens = file.fewest_tokens,
          .most_tokens = file.most_tokens,
          .rarefied_total = file.rarefied_total,
          .noise = file.noise ? &*file.noise : nullptr};
}

std::vector<std::string> geometry_sentences(const GeometryFacts& facts) {
  if (facts.positions == 1) return {"one position alone has no distances: there is nothing to embed or to score"};
  std::vector<std::string> sentences;
  if (facts.fewest_tokens > 0 && static_cast<double>(facts.most_tokens) >= unequal * static_cast<double>(facts.fewest_tokens))
    sentences.push_back(unequal_totals(facts));
  if (facts.rarefied_total > 0)
    sentences.push_back(
        fmt::format("every position was rarefied to {} before distances were formed", number_of(facts.rarefied_total, "token")));
  if (facts.rank > 0 && facts.rank + 1 == facts.positions)
    sentences.emplace_back(
        "the rank is the largest possible: finite counts alone make every position look independent, so it is no evidence of order");
  if (facts.known_eigenvalues < facts.positions) sentences.push_back(leading_only(facts));
  if (facts.noise == nullptr || !facts.noise->split)
    sentences.emplace_back("nothing was analysed of sampling noise (--noise split or all does): how much of this is signal is not known");
  return sentences;
}

std::vector<std::string> sweep_sentences(const Sweep& sweep) {
  std::vector<std::string> ranks;
  std::vector<std::int64_t> totals;
  for (std::size_t l = 0; l < sweep.lengths.size(); ++l) {
    if (sweep.signal_rank[l] < 0) continue;
    ranks.push_back(fmt::format("{} at n = {} (M = {}, {})", sweep.signal_rank[l], sweep.lengths[l], sweep.rarefied_total[l],
                                number_of(sweep.noise_positions[l], "position")));
    totals.push_back(sweep.rarefied_total[l]);
  }
  if (ranks.empty()) return {};
  std::string text = "signal rank: " + listed(ranks);
  if (std::ranges::adjacent_find(totals, std::not_equal_to<>()) != totals.end())
    text +=
        "; not comparable, since M differs: with more tokens of each position more stands above noise; --rarefy M gives all lengths the "
        "same";
  return {text};
}

}  // namespace posgeom
