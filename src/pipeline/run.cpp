#include "posgeom/pipeline/run.hpp"

#include "posgeom/pipeline/plan.hpp"
#include "posgeom/pipeline/summary.hpp"

namespace posgeom {
namespace {

/// **Collective.** `body` at every length, ascending; a signal ends it in between.
template <class Body>
void for_each_length(const StageContext& context, const PositionCounts& counts, Body body) {
  for (const Index length : context.config.lengths) {
    check_stop(context);
    body(distributions_at(context, counts, length));
  }
}

}  // namespace

void run(const StageContext& context) {
  check_encoding_files(context, 0);
  const CountedCorpus counted = count_stage(context);
  check_encoding_files(context, positions_needed(context.config, counted.counts));
  require_memory(context.comm, context.config, counted.counts);
  for_each_length(context, counted.counts, [&](const SquareRootDistributions& s) {
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
  require_memory(context.comm, context.config, counted.counts);
  for_each_length(context, counted.counts, [&](const SquareRootDistributions& s) { embed_stage(context, counted.corpus_fingerprint, s); });
}

void stress(const StageContext& context) {
  const CountedCorpus counted = read_counted_corpus(context);
  check_encoding_files(context, positions_needed(context.config, counted.counts));
  require_memory(context.comm, context.config, counted.counts);
  for_each_length(context, counted.counts, [&](const SquareRootDistributions& s) {
    const GeometryFile geometry = read_geometry_for(context, counted.corpus_fingerprint, s.length);
    report_length(context.report, geometry, stress_stage(context, counted.corpus_fingerprint, s, geometry));
  });
}

void collect(const StageContext& context) { collect_stage(context); }

}  // namespace posgeom
