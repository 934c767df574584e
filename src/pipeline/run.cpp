#include "posgeom/pipeline/run.hpp"

#include <algorithm>

#include "posgeom/pipeline/plan.hpp"
#include "posgeom/pipeline/summary.hpp"

namespace posgeom {
namespace {

/// **Collective.** `body` at every length, ascending; a signal ends it in between.
template <class Body>
void for_each_length(const StageContext& context, Body body) {
  for (const Index length : context.config.lengths) {
    check_stop(context);
    body(distributions_at(context, length));
  }
}

/// **Collective.** Everything that can be refused before hours are spent: tables of too few rows, too little memory.
void check_needs(const StageContext& context, const CountedCorpus& counted, const std::vector<std::string>& stages) {
  const std::vector<LengthNeeds> needs = needs_of_lengths(context, counted);
  Index positions = 0;
  for (const LengthNeeds& length : needs) positions = std::max(positions, length.positions);
  if (std::find(stages.begin(), stages.end(), "stress") != stages.end()) check_encoding_files(context, positions);
  require_memory(context.comm, context.config, needs, stages);
}

}  // namespace

void run(const StageContext& context) {
  check_encoding_files(context, 0);
  const CountedCorpus counted = count_stage(context);
  check_needs(context, counted, {"embed", "stress"});
  for_each_length(context, [&](const SquareRootDistributions& s) {
    const GeometryFile geometry = embed_stage(context, counted.corpus_fingerprint, s);
    check_stop(context);
    const StressFile stress = stress_stage(context, counted.corpus_fingerprint, s, geometry);
    report_length(context.report, geometry, stress);
  });
  check_stop(context);
  collect_stage(context);
}

void count(const StageContext& context) { count_stage(context); }

void embed(const StageContext& context) {
  const CountedCorpus counted = read_counted_corpus(context);
  check_needs(context, counted, {"embed"});
  for_each_length(context, [&](const SquareRootDistributions& s) { embed_stage(context, counted.corpus_fingerprint, s); });
}

void stress(const StageContext& context) {
  const CountedCorpus counted = read_counted_corpus(context);
  check_needs(context, counted, {"stress"});
  for_each_length(context, [&](const SquareRootDistributions& s) {
    const GeometryFile geometry = read_geometry_for(context, counted.corpus_fingerprint, s.length);
    report_length(context.report, geometry, stress_stage(context, counted.corpus_fingerprint, s, geometry));
  });
}

void collect(const StageContext& context) { collect_stage(context); }

void tokenize(const StageContext& context) { tokenize_stage(context); }

void synth(const StageContext& context) { synth_stage(context); }

}  // namespace posgeom
