#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// How the components of a synthetic corpus share the vocabulary.
///   planted     component c holds the tokens v with v mod K = c: disjoint supports, so that the Gram matrix of the exact distributions has
///               rank K - 1 or K (K components whose weights are free; one less where they sum up linearly after the square root)
///   drift       component c holds all tokens, its frequent ones where another component's rare ones are (ids rotated by c V / K)
///   stationary  one component: no position differs from another
enum class SyntheticKind { planted, drift, stationary };
std::string_view name_of(SyntheticKind kind);
/// Throws Error (usage) that lists the names, where `name` is none of them.
SyntheticKind synthetic_kind_named(std::string_view name);

/// How many tokens a document has: at least 1, at most the number of positions.
struct DocumentLengths {
  enum class Law { fixed, uniform, geometric, lognormal };
  Law law = Law::lognormal;
  double first = 20;    ///< fixed: the length; uniform: the shortest; geometric: the mean; lognormal: the median
  double second = 0.8;  ///< uniform: the longest; lognormal: sigma of the logarithm
};
/// "fixed:L", "uniform:A:B", "geometric:MEAN" or "lognormal:MEDIAN:SIGMA". Throws Error (usage) for anything else.
DocumentLengths document_lengths_named(std::string_view text);

struct SyntheticOptions {
  SyntheticKind kind = SyntheticKind::planted;
  Index positions = 0;   ///< n
  Index vocab_size = 0;  ///< V
  Index components = 3;  ///< K
  double overlap = 0;    ///< in [0, 1): the share of every component that is the first one's Zipf law over the whole vocabulary
  double zipf = 1;       ///< exponent: the r-th token of a component (from 0) has a probability proportional to (r + 2.7)^-zipf
  DocumentLengths lengths;
  std::uint64_t seed = 1;
};

/// A corpus whose truth is known: the token at position i of a document is drawn from mu_i = sum_c w_c(i) q_c, independently of all others.
/// w_c(i) are normalised Gaussian bumps, centred at c / (K - 1) of the length, 1 / (3 K) of it wide. A document is a function of options
/// and its index alone: the same whatever the rank count and the number of documents.
class SyntheticCorpus {
 public:
  /// Throws Error (usage) where the options contradict each other, naming the command's option.
  explicit SyntheticCorpus(const SyntheticOptions& options);
  /// [n, K] row-major: w_c(i).
  const std::vector<double>& weights() const { return weights_; }
  /// [K, V] row-major: q_c(v).
  const std::vector<double>& components() const { return components_; }
  Index component_count() const { return component_count_; }
  /// Appends the tokens of document `index` and returns how many they are.
  std::int32_t append_document(Index index, std::vector<Token>& tokens) const;

 private:
  std::int32_t length_of(double first, double second) const;

  SyntheticOptions options_;
  Index component_count_;
  std::vector<double> weights_;
  std::vector<double> components_;
  std::vector<double> cumulative_weights_;     ///< as weights_, summed over c
  std::vector<double> cumulative_components_;  ///< as components_, summed over v
};

}  // namespace posgeom
