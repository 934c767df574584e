#include <fmt/format.h>

#include <algorithm>

#include "pipeline/plan_parts.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// Elements of a square part of a matrix, a side, below which it does not pay to give it to a rank of its own.
constexpr Index least_side = 64;
/// Fewer ranks may take so many seconds more.
constexpr double worth_waiting = 60;

bool all_fit(const std::vector<StageNeed>& stages, Index memory_bytes) {
  return std::ranges::all_of(stages, [&](const StageNeed& need) { return fits(need, memory_bytes); });
}

double seconds_of(const std::vector<StageNeed>& stages) {
  double sum = 0;
  for (const StageNeed& need : stages) sum += need.seconds;
  return sum;
}

/// The smallest rank count whose stages fit; 0: none. Primes make 1 x P grids that hold less than their neighbours: every count is looked
/// at first, then some of a fine enough step.
Index smallest_ranks_for(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, Index memory_bytes,
                         const MachineRates& rates) {
  Config without = config;
  without.bootstrap = {};
  for (Index ranks = 1; ranks <= most_ranks; ranks += std::max<Index>(1, ranks / 64)) {
    const auto fit = [&](const Config& some) {
      return all_fit(stages_with(some, corpus, size, length, static_cast<int>(ranks), memory_bytes, rates), memory_bytes);
    };
    // The bootstrap's counts are the most arithmetic: last.
    if (fit(without) && (config.bootstrap.replicates == 0 || fit(config))) return ranks;
  }
  return 0;
}

LengthPlan plan_sized(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, int ranks,
                      Index memory_bytes, const MachineRates& rates) {
  LengthPlan plan;
  plan.length = length;
  const auto stages = [&](Index count) { return stages_with(config, corpus, size, length, static_cast<int>(count), memory_bytes, rates); };
  plan.rows = size.rows;
  plan.solver = solver_with(config, size, ranks, rates);
  plan.stages = stages(ranks);
  plan.fits = all_fit(plan.stages, memory_bytes);
  plan.smallest_ranks = smallest_ranks_for(config, corpus, size, length, memory_bytes, rates);
  if (plan.smallest_ranks == 0 && !plan.fits) return plan;
  plan.proposed_ranks = plan.fits ? ranks : static_cast<int>(plan.smallest_ranks);
  plan.proposed = plan.fits ? plan.stages : stages(plan.proposed_ranks);
  const Index enough = std::max(enough_ranks(size.rows), std::max<Index>(plan.smallest_ranks, 1));
  if (!plan.fits || enough >= ranks || config.geometry.grid_rows > 0) return plan;
  std::vector<StageNeed> fewer = stages(enough);
  if (all_fit(fewer, memory_bytes) && seconds_of(fewer) <= seconds_of(plan.stages) + worth_waiting) {
    plan.proposed_ranks = static_cast<int>(enough);
    plan.proposed = std::move(fewer);
  }
  return plan;
}

/// "fewer ranks a node, each with more --memory (8 a node, 30000 MiB would do)", where that fits at some rank count; else empty.
std::string more_memory(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, Index memory_bytes,
                        const MachineRates& rates) {
  const auto least = [&](int ranks_per_node) {
    Config other = config;
    other.plan_ranks_per_node = ranks_per_node;
    return least_memory(memory_bytes, [&](Index bytes) { return smallest_ranks_for(other, corpus, size, length, bytes, rates) > 0; });
  };
  const int per_node = config.plan_ranks_per_node;
  const Index node = per_node * (memory_bytes + process_bytes);
  const auto enough = [&](int ranks_per_node) {
    Config other = config;
    other.plan_ranks_per_node = ranks_per_node;
    return smallest_ranks_for(other, corpus, size, length, node / ranks_per_node - process_bytes, rates) > 0;
  };
  if (per_node > 1 && enough(1)) {
    // More of them share more of the counts, and leave each less for what is its own.
    int most = 1;
    for (int none = per_node; none - most > 1;) {
      const int middle = most + (none - most) / 2;
      (enough(middle) ? most : none) = middle;
    }
    return fmt::format("fewer ranks a node, each with more --memory ({} a node: {} MiB would do)", most, mebibytes_needed(least(most)));
  }
  const Index needed = least(std::min(per_node, 1));
  if (needed == 0) return {};
  const char* const how = per_node == 0  ? "fewer ranks a node, each with more --memory ("
                          : per_node > 1 ? "more --memory than such nodes have (1 rank a node: "
                                         : "more --memory (";
  return fmt::format("{}{} MiB would do)", how, mebibytes_needed(needed));
}

std::string helps_sized(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, Index memory_bytes,
                        const MachineRates& rates) {
  const std::string memory = more_memory(config, corpus, size, length, memory_bytes, rates);
  const std::string or_else = memory.empty() ? "" : memory + "; or ";
  if (corpus.token_count == 0)
    return "the counts are taken as dense, since how many tokens there are is not known: --tokens tells, or a --corpus" +
           (memory.empty() ? "" : "; else " + memory);
  constexpr int many = 64;
  struct Change {
    bool possible;
    std::string what;
    void (*make)(Config&);
  };
  const Change changes[] = {
      {config.geometry.solver != Solver::automatic, "--solver auto", [](Config& c) { c.geometry.solver = Solver::automatic; }},
      {config.bootstrap.replicates > 0, "--bootstrap 0", [](Config& c) { c.bootstrap = {}; }},
      {config.noise.split || config.noise.shuffle, "--noise none (halves and null are on every rank)", [](Config& c) { c.noise = {}; }},
      {true, "fewer or smaller --dims, or fewer --encodings (they are on every rank)",
       [](Config& c) {
         c.stress.choice = StressOptions::Dimensions::listed;
         c.stress.dims = {1};
         c.stress.write_encodings = false;
       }},
      {config.plan_ranks_per_node < many,
       fmt::format("{0} ranks a node, which hold the counts once together (plan: --ranks-per-node {0})", many),
       [](Config& c) { c.plan_ranks_per_node = many; }},
  };
  const auto smallest = [&](const std::vector<const Change*>& made) {
    Config other = config;
    for (const Change* const change : made) change->make(other);
    return smallest_ranks_for(other, corpus, size, length, memory_bytes, rates);
  };
  // One more change at a time until it fits; then those go that were not needed.
  std::vector<const Change*> made;
  for (const Change& change : changes) {
    if (!change.possible) continue;
    made.push_back(&change);
    if (smallest(made) == 0) continue;
    for (std::size_t k = 0; k + 1 < made.size();) {
      std::vector<const Change*> fewer = made;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      if (smallest(fewer) > 0) {
        made = std::move(fewer);
      } else {
        ++k;
      }
    }
    std::string text;
    for (const Change* const needed : made) text += fmt::format("{}{}", text.empty() ? "with " : " and ", needed->what);
    return fmt::format("{}{} it would fit ({} or more)", or_else, text, number_of(smallest(made), "rank"));
  }
  return or_else + "a smaller length: the counts are on every rank or node";
}

}  // namespace

Index enough_ranks(Index rows) { return std::max<Index>(1, rows / least_side * (rows / least_side)); }

LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes,
                       const MachineRates& rates) {
  return plan_sized(config, corpus, size_of(config, corpus, length), length, ranks, memory_bytes, rates);
}

std::string what_helps(const Config& config, const CorpusEstimate& corpus, const LengthPlan& plan, Index memory_bytes,
                       const MachineRates& rates) {
  return helps_sized(config, corpus, size_of(config, corpus, plan.length), plan.length, memory_bytes, rates);
}

void check_solver(const Config& config, Index rows, Index types) {
  LengthSize size;
  size.rows = size.rank = rows;
  require_solver_for(config.geometry.solver, rows, types, vectors_of(config, size));
}

void require_memory(const Communicator& comm, const Config& config, const std::vector<LengthNeeds>& needs,
                    const std::vector<std::string>& stages) {
  const Index memory_bytes = all_reduce(comm, memory_limit(comm, config.geometry.memory_bytes), Reduction::minimum);
  Config here = config;
  here.plan_ranks_per_node = all_reduce(comm, comm.split_by_node().size(), Reduction::minimum);
  collective(comm, "planning the memory", [&] {
    for (const LengthNeeds& length : needs) {
      CorpusEstimate corpus;
      corpus.vocab_size = length.types;
      corpus.token_count = length.nonzeros;
      const LengthSize size = size_of(length);
      const LengthPlan need = plan_sized(here, corpus, size, size.rows, comm.size(), memory_bytes, {});
      for (const StageNeed& stage : need.stages) {
        if (std::ranges::find(stages, stage.stage) == stages.end() || stage.limited <= memory_bytes) continue;
        throw Error(
            fmt::format("--lengths {}: {} takes {} MiB a rank beside the program's own, more than the {} MiB that --memory "
                        "allows; {}",
                        length.length, stage.stage, mebibytes_needed(stage.limited), mebibytes_there(memory_bytes),
                        need.smallest_ranks > 0 ? number_of(need.smallest_ranks, "rank with as much does", "ranks with as much do")
                                                : "no rank count helps: " + helps_sized(here, corpus, size, size.rows, memory_bytes, {})),
            ErrorKind::run);
      }
    }
  });
}

}  // namespace posgeom
