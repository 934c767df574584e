#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "posgeom/geometry/noise.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// "3 components stand", "1 component stands", "no component stands"
std::string components_stand(Index count) {
  if (count == 0) return "no component stands";
  return fmt::format("{} component{}", count, count == 1 ? " stands" : "s stand");
}

std::string participants(const NoiseAnalysis& n) {
  if (n.position.empty()) {
    return n.rarefied_total == 0
               ? fmt::format("none of {} positions has tokens in both halves: nothing can be said about sampling noise", n.length)
               : fmt::format("none of {} positions holds M = {} tokens in both halves: nothing can be said about sampling noise", n.length,
                             n.rarefied_total);
  }
  std::string text = fmt::format("{} of {} positions hold{} at least M = {} tokens in each half and take part", n.position_count(),
                                 n.length, n.position_count() == 1 ? "s" : "", n.rarefied_total);
  const Index fewer = n.reached - n.position_count();
  const Index unreached = n.length - n.reached;
  if (fewer > 0) text += fmt::format("; {} hold{} fewer", fewer, fewer == 1 ? "s" : "");
  if (unreached > 0) text += fmt::format("; {} {} not reached", unreached, unreached == 1 ? "is" : "are");
  return text;
}

std::string above_noise(const NoiseAnalysis& n) {
  if (n.position_count() == 1) return "one position alone has no distances: nothing can be said about sampling noise";
  std::string text =
      fmt::format("{} above sampling noise (M = {} tokens a half at {}; threshold {:.4g}, at most {:g} % false alarms by {})",
                  components_stand(n.signal_rank), n.rarefied_total, number_of(n.position_count(), "position"), n.threshold, 100 * n.alpha,
                  number_of(std::ssize(n.null_largest), "replicate"));
  text += n.signal_rank == 0 ? ": the positions are indistinguishable from draws of one common distribution"
                             : fmt::format(", with a trace of {:.4g}", n.signal_trace);
  return text;
}

/// Whether the only component above the shuffled corpus may be there by chance. The two largest eigenvalues are one draw each: without any
/// order in the corpus either is as often the larger (tests/geometry/noise_rate_test).
bool is_near_shuffled(const NoiseAnalysis& n) {
  return std::min(n.signal_rank_order, n.signal_rank) == 1 &&
         (n.split_eigenvalues.empty() || n.split_eigenvalues.front() < 2 * n.shuffled_split_largest);
}

std::string above_order(const NoiseAnalysis& n) {
  std::string text =
      fmt::format("{} above what the tokens show without their order (largest eigenvalue {:.4g} of the shuffled corpus's halves)",
                  components_stand(n.signal_rank_order), n.shuffled_split_largest);
  if (n.signal_rank_order == 0) {
    text += ": the order of the tokens is indistinguishable from shuffled text";
  } else if (n.signal_rank_order > n.signal_rank) {
    // One shuffled corpus is one draw: its largest eigenvalue is often below that of another draw of the same.
    text += fmt::format("; only the {} above sampling noise count{}", n.signal_rank, n.signal_rank == 1 ? "s" : "");
  }
  if (is_near_shuffled(n)) text += "; one alone, and by less than twice: where order plays no part, that happens about every other time";
  if (const Index others = n.signal_rank - n.signal_rank_order; others > 0 && n.signal_rank_order > 0)
    text += fmt::format("; the other {} above sampling noise {} no larger than order-free text shows", others, others == 1 ? "is" : "are");
  return text;
}

}  // namespace

std::vector<std::string> noise_sentences(const NoiseAnalysis& n) {
  std::vector<std::string> sentences;
  if (n.split) {
    if (!n.position.empty()) sentences.push_back(above_noise(n));
    if (n.position_count() > 1 && n.signal_rank_order >= 0) sentences.push_back(above_order(n));
    sentences.push_back(participants(n));
    if (std::isfinite(n.reliability)) {
      sentences.push_back(
          fmt::format("the two halves' distances correlate at {:.4g} ({:.4g} for both together)", n.reliability, n.reliability_of_whole));
    }
  }
  if (n.shuffle) {
    const std::string keeps = std::isfinite(n.shuffled_share)
                                  ? fmt::format("keeps {:.4g} % of the sum of squared distances", 100 * n.shuffled_share)
                              : n.shuffled_trace > 0 ? std::string("has distances, the corpus has none")
                                                     : std::string("has no distances either");
    const std::string violations = std::isfinite(n.shuffled_violation_rate)
                                       ? fmt::format("{:.4g} % monotonicity violations", 100 * n.shuffled_violation_rate)
                                       : std::string("too few positions for monotonicity violations");
    std::string text = fmt::format("the corpus shuffled within its sequences {}: rank {}, trace {:.6g}, {}", keeps, n.shuffled_rank,
                                   n.shuffled_trace, violations);
    if (std::isfinite(n.shuffled_share))
      text += fmt::format(
          " (over {} with the tokens that the geometry has, not M: thinner positions keep more, so that other lengths and corpora are not "
          "comparable)",
          number_of(std::ssize(n.shuffled_eigenvalues), "position"));
    sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace posgeom
