#include "posgeom/pipeline/run.hpp"

#include "posgeom/pipeline/plan.hpp"
#include "posgeom/pipeline/summary.hpp"

namespace posgeom {

void run(const StageContext& context) {
  check_encoding_files(context, 0);
  const auto [counts, corpus_fingerprint] = count_stage(context);
  check_encoding_files(context, positions_needed(context.config, counts));
  require_memory(context.comm, context.config, counts);
  for (const Index length : context.config.lengths) {
    check_stop(context);
    const SquareRootDistributions s = distributions_at(context, counts, length);
    const GeometryFile geometry = embed_stage(context, corpus_fingerprint, s);
    check_stop(context);
    const StressFile stress = stress_stage(context, corpus_fingerprint, s, geometry);
    report_length(context.report, geometry, stress);
  }
  check_stop(context);
  collect_stage(context);
}

void count(const StageContext& context) { count_stage(context); }

void embed(const StageContext& context) {
  const auto [counts, corpus_fingerprint] = read_counted_corpus(context);
  require_memory(context.comm, context.config, counts);
  for (const Index length : context.config.lengths) {
    check_stop(context);
    const SquareRootDistributions s = distributions_at(context, counts, length);
    embed_stage(context, corpus_fingerprint, s);
  }
}

void stress(const StageContext& context) {
  const auto [counts, corpus_fingerprint] = read_counted_corpus(context);
  check_encoding_files(context, positions_needed(context.config, counts));
  require_memory(context.comm, context.config, counts);
  for (const Index length : context.config.lengths) {
    check_stop(context);
    const SquareRootDistributions s = distributions_at(context, counts, length);
    const GeometryFile geometry = read_geometry_for(context, corpus_fingerprint, length);
    report_length(context.report, geometry, stress_stage(context, corpus_fingerprint, s, geometry));
  }
}

void collect(const StageContext& context) { collect_stage(context); }

}  // namespace posgeom
