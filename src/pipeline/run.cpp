#include "posgeom/pipeline/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "posgeom/mpi/collective.hpp"
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

/// **Collective.** `signal` needs the noise analysis of halves: this run's, or one that the geometry file has.
void check_signal(const StageContext& context) {
  const Config& config = context.config;
  const bool wanted = std::ranges::any_of(config.stress.encodings, [](const EncodingSpec& e) { return e.made() && e.name == "signal"; });
  if (!wanted || config.noise.split) return;
  for (const Index length : config.lengths) {
    const std::string path = geometry_path(config, length);
    const auto provenance = read_provenance(context.comm, path);
    const bool there = provenance && !line_value(split_lines(provenance->fingerprint_lines), "noise.replicates").empty();
    collective(context.comm, "checking the encodings", [&] {
      if (there && !config.output.force) return;
      throw Error(
          fmt::format("option --encodings, signal: it comes from the noise analysis of random halves, which {} does not hold and --noise "
                      "{} does not make; give --noise split or all, or leave signal out",
                      path, config.values.at("noise").back()),
          ErrorKind::usage);
    });
  }
}

}  // namespace

void check_options(const StageContext& context, Index ranks) {
  const Config& config = context.config;
  const Solver solver = config.geometry.solver;
  const bool dense = solver != Solver::automatic && solver != Solver::dual && solver != Solver::krylov;
  collective(context.comm, "checking the options", [&] {
    require_grid(config, ranks);
    if (!context.comm.is_root() || !dense) return;
    // What is finished needs no solver any more.
    const bool finished = !config.output.force && std::ranges::all_of(config.lengths, [&](Index length) {
      return std::filesystem::exists(geometry_path(config, length));
    });
    if (!finished) require_solver_suits(solver, ranks);
  });
  check_signal(context);
  check_encoding_files(context, 0);
}

void run(const StageContext& context) {
  check_options(context, context.comm.size());
  const CountedCorpus counted = count_stage(context);
  check_needs(context, counted, {"embed", "stress"});
  for_each_length(context, [&](const SquareRootDistributions& s) {
    GeometryFile geometry = embed_stage(context, counted.corpus_fingerprint, s);
    check_stop(context);
    StressFile stress = stress_stage(context, counted.corpus_fingerprint, s, geometry);
    bootstrap_stage(context, counted.corpus_fingerprint, s, geometry, stress);
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
