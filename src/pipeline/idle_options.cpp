#include "posgeom/pipeline/idle_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/values.hpp"

namespace posgeom {
namespace {

/// Whether posgeom makes an encoding of this name, to be scored or to be projected.
bool makes(const StressOptions& stress, std::string_view name) {
  return std::ranges::any_of(stress.encodings,
                             [&](const EncodingSpec& spec) { return (spec.made() && spec.name == name) || spec.projection.of == name; });
}

/// Options that need something that the configuration does not have, which `missing` names.
struct Dependent {
  bool has_it;
  std::string_view missing;
  std::vector<std::string_view> options;
};

std::vector<Dependent> dependents(const Config& config) {
  const bool rope = makes(config.stress, "rope");
  const bool leading = config.geometry.solver == Solver::automatic || config.geometry.solver == Solver::krylov;
  return {
      {makes(config.stress, "smacof"), "smacof is not among --encodings", {"smacof-iterations", "smacof-tolerance", "smacof-weights"}},
      {rope, "rope is not among --encodings", {"rope-base", "rope-head-dim", "rope-scaling"}},
      {makes(config.stress, "alibi"), "alibi is not among --encodings", {"alibi-heads"}},
      {makes(config.stress, "random"), "random is not among --encodings", {"random-kind"}},
      {config.noise.split, "--noise analyses no halves (split or all do)", {"replicates", "alpha", "rarefy"}},
      {config.bootstrap.replicates > 0, "--bootstrap is 0", {"bootstrap-alpha"}},
      {leading, "--solver names one that finds the whole spectrum", {"spectrum"}},
      {config.synth.corpus.kind != SyntheticKind::stationary,
       "--synth-kind stationary has one component",
       {"synth-components", "synth-overlap"}},
  };
}

}  // namespace

std::vector<IdleOption> idle_options(const Config& config) {
  std::vector<IdleOption> idle;
  const Values values(config.values);
  for (const Dependent& dependent : dependents(config)) {
    if (dependent.has_it) continue;
    for (const Option& option : option_table()) {
      const bool affected = std::ranges::find(dependent.options, option.name) != dependent.options.end();
      if (!affected || values.text(option.name) == option.default_value) continue;
      idle.push_back({option.group, fmt::format("--{} {} has no effect: {}", option.name, values.text(option.name), dependent.missing)});
    }
  }
  if (std::ranges::find(config.lengths, Index{1}) != config.lengths.end())
    idle.push_back({"sequences", "--lengths 1: one position alone has no distances, and nothing to embed or to score"});
  return idle;
}

}  // namespace posgeom
