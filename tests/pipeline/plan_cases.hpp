// Configurations and corpora of the plan's tests.
#pragma once
#include "posgeom/pipeline/plan.hpp"

namespace posgeom::plan_cases {

inline constexpr Index plenty = Index{1} << 44;

inline LengthPlan plan_for(Index n, Index v, int ranks, Index memory = plenty, Solver solver = Solver::automatic) {
  Config config;
  config.geometry.solver = solver;
  config.stress.choice = StressOptions::Dimensions::listed;
  config.stress.dims = {1, 64};
  config.stress.encodings = {{"mds", "", ""}};
  return plan_length(config, {v, 0}, n, ranks, memory);
}

inline bool crosses_a_limit(const LengthPlan& plan) {
  for (const StageNeed& need : plan.stages) {
    if (!need.limit.empty()) return true;
  }
  return false;
}

/// Documents of 2000 tokens of a Zipf vocabulary.
inline CorpusEstimate some_corpus(Index positions) {
  CorpusEstimate corpus;
  corpus.vocab_size = 20000;
  corpus.token_count = 20000000;
  for (Index k = 1; k <= corpus.vocab_size; ++k) corpus.unigram.push_back(1000000 / k + 1);
  corpus.position_total.assign(static_cast<std::size_t>(positions), 500);
  corpus.sampled_tokens = 500 * positions;
  corpus.longest_document = positions;
  return corpus;
}

inline Config some_config() {
  Config config;
  config.lengths = {2048};
  config.geometry.solver = Solver::lapack;
  config.stress.choice = StressOptions::Dimensions::listed;
  config.stress.dims = {1, 64};
  config.stress.encodings = {{"mds", "", ""}};
  return config;
}

inline LengthPlan plan_of(const Config& config, const CorpusEstimate& corpus) {
  return plan_length(config, corpus, 2048, 1, Index{1} << 33);
}

}  // namespace posgeom::plan_cases
