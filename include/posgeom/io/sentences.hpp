#pragma once
#include <string>
#include <vector>

#include "posgeom/io/store.hpp"

namespace posgeom {

/// What sentences say of a geometry, from memory or from a file of which the large parts are not read.
struct GeometryFacts {
  Index positions = 0;          ///< kept
  Index rank = -1;              ///< -1: not known
  Index known_eigenvalues = 0;  ///< fewer than positions: the leading ones
  Index components = 0;         ///< columns of /encoding
  Count fewest_tokens = -1;     ///< as in GeometryFile
  Count most_tokens = -1;
  Index rarefied_total = 0;
  const NoiseAnalysis* noise = nullptr;  ///< null: not analysed
};
/// `file` must outlive the facts.
GeometryFacts facts_of(const GeometryFile& file);

/// All of these are without full stops, the most important first: for the run's report, and for `posgeom inspect`.

/// What stands above sampling noise and above shuffled text ("noise: ..."), then what the tables of a length say and do not say. `facts`:
/// of the geometry that was scored against; null: not known, and nothing is said of it.
std::vector<std::string> stress_sentences(const StressFile& stress, const GeometryFacts* facts);
/// What a spectrum, a rank and distances do not say by themselves.
std::vector<std::string> geometry_sentences(const GeometryFacts& facts);
/// Intervals of --bootstrap, and which of them to quote.
std::vector<std::string> bootstrap_sentences(double trace, double corpus_violation_rate, const GeometryBootstrap& bootstrap);
/// The most frequent ranking of the encodings at each dimension, of at most ten; none without replicates.
std::vector<std::string> ranking_sentences(const StressFile& stress);
/// The signal ranks of a sweep, each with its M, and whether they can be compared; none where nothing was analysed.
std::vector<std::string> sweep_sentences(const Sweep& sweep);

/// Parts of a sentence: "a, b and 3 more".
std::string listed(const std::vector<std::string>& parts);

}  // namespace posgeom
