#include "posgeom/pipeline/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/sample.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// "0.4 s", "12 min", "3.5 h".
std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.2g} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// Everything that the command's lines are made from.
struct Plan {
  int ranks = 1;
  int count_ranks = 1;  ///< the planned ones, or the smallest count that fits; 0: none does
  Index memory_bytes = 0;
  MachineRates rates;
  StageNeed count;
  std::vector<LengthPlan> lengths;
};

Index smallest_for_counting(const Config& config, const CorpusEstimate& corpus, Index memory_bytes) {
  Index ranks = 1;
  const auto bytes = [&] { return count_need(config, corpus, static_cast<int>(ranks), memory_bytes).bytes; };
  while (ranks <= most_ranks && bytes() > memory_bytes) ranks += std::max<Index>(1, ranks / 64);
  return ranks <= most_ranks ? ranks : 0;
}

Plan make_plan(const Communicator& comm, const Config& config, const CorpusEstimate& corpus, const MachineRates& rates) {
  Plan plan;
  plan.ranks = config.plan_ranks > 0 ? config.plan_ranks : comm.size();
  plan.rates = rates;
  plan.memory_bytes = memory_limit(comm, config.geometry.memory_bytes);
  // Without --memory: the ranks that are planned share this node, where they are more than those that plan.
  if (config.geometry.memory_bytes == 0 && plan.ranks > comm.size()) plan.memory_bytes = plan.memory_bytes / plan.ranks * comm.size();
  plan.count = count_need(config, corpus, plan.ranks, plan.memory_bytes, rates);
  plan.count_ranks = plan.ranks;
  if (plan.count.bytes > plan.memory_bytes) {
    plan.count_ranks = static_cast<int>(smallest_for_counting(config, corpus, plan.memory_bytes));
    if (plan.count_ranks > 0) plan.count = count_need(config, corpus, plan.count_ranks, plan.memory_bytes, rates);
  }
  for (const Index length : config.lengths)
    plan.lengths.push_back(plan_length(config, corpus, length, plan.ranks, plan.memory_bytes, rates));
  return plan;
}

std::string count_line(const Config& config, const Plan& plan) {
  std::string line = fmt::format("count, {} sequences: {:.0f} MiB, {}: ", name_of(config.sequences), mebibytes(plan.count.bytes),
                                 duration(plan.count.seconds));
  if (plan.count_ranks == plan.ranks) return line + "fits";
  return line + (plan.count_ranks > 0 ? fmt::format("needs {}: the smallest count that fits", number_of(plan.count_ranks, "rank"))
                                      : std::string("does not fit; no rank count does: give more --memory"));
}

/// Where the figures are more than a corpus may take.
std::vector<std::string> bound_lines(const Config& config, const CorpusEstimate& corpus) {
  std::vector<std::string> lines;
  if (corpus.token_count == 0) {
    lines.emplace_back(
        "upper bounds: how many tokens there are is not known, and counts are taken as dense: every token at every position (a --corpus "
        "tells)");
  } else if (corpus.compressed && corpus.token_certainty != Certainty::exact) {
    lines.push_back(fmt::format(
        "compressed text: the token count is estimated from the share of the compressed bytes that the first {} tokens took: too low where "
        "later text repeats earlier text",
        corpus.sampled_tokens));
  }
  if (config.sequences != Sequences::document || corpus.whole_sample || corpus.position_total.empty()) return lines;
  std::vector<std::string> unreached;
  for (const Index length : config.lengths) {
    if (corpus.longest_document < length) unreached.push_back(fmt::format("{}", length));
  }
  if (!unreached.empty()) {
    lines.push_back(
        fmt::format("upper bounds for n={}: the longest document of the sample has {}, and positions that no document "
                    "reaches {}",
                    fmt::join(unreached, ","), number_of(corpus.longest_document, "token"),
                    config.positions.unreached == Unreached::drop ? "are dropped" : "share one row"));
  }
  return lines;
}

std::string length_line(const LengthPlan& need) {
  std::string line = fmt::format("n={:<8}", need.length);
  if (need.rows < need.length) line += fmt::format(" {} reached:", number_of(need.rows, "position"));
  for (const StageNeed& stage : need.stages)
    line += fmt::format(" {} {:.0f} MiB {},", stage.stage, mebibytes(stage.bytes), duration(stage.seconds));
  line += fmt::format(" {}: {}", name_of(need.solver), need.fits ? "fits" : "does not fit");
  if (need.smallest_ranks > 0) return line + fmt::format("; smallest rank count that does: {}", need.smallest_ranks);
  const auto largest =
      std::max_element(need.stages.begin(), need.stages.end(), [](const StageNeed& x, const StageNeed& y) { return x.bytes < y.bytes; });
  return line + fmt::format("; no rank count does, {} holds most of its part on every rank ({})", largest->stage,
                            largest->stage == "stress" ? "encodings: fewer --dims" : "counts: a smaller length");
}

/// One job's sbatch options: a quarter more memory than predicted, and twice the time and five minutes.
std::string slurm_line(std::string_view job, Index ranks, int threads, const StageNeed& need, int ranks_per_node = 1) {
  const double mib = std::ceil((mebibytes(need.bytes) * 1.25 + 64) / threads);
  const auto minutes = static_cast<Index>(std::ceil(need.seconds * 2 / 60)) + 5;
  // Where a node's ranks share their memory, they must be together.
  const std::string together =
      ranks_per_node > 1 && ranks > 1 ? fmt::format(" --ntasks-per-node={}", std::min<Index>(ranks, ranks_per_node)) : "";
  return fmt::format("slurm {} --ntasks={}{} --cpus-per-task={} --mem-per-cpu={:.0f}M --time={}:{:02}:00", job, ranks, together, threads,
                     mib, minutes / 60, minutes % 60);
}

std::vector<std::string> slurm_lines(const Config& config, const CorpusEstimate& corpus, const Plan& plan) {
  std::vector<std::string> lines;
  const int threads = plan.rates.threads;
  if (plan.count_ranks > 0) lines.push_back(slurm_line("count", plan.count_ranks, threads, plan.count));
  StageNeed whole = plan.count;
  Index whole_ranks = plan.count_ranks;
  for (const LengthPlan& planned : plan.lengths) {
    if (planned.smallest_ranks == 0) return lines;
    const LengthPlan need =
        planned.fits ? planned
                     : plan_length(config, corpus, planned.length, static_cast<int>(planned.smallest_ranks), plan.memory_bytes, plan.rates);
    const Index ranks = planned.fits ? plan.ranks : planned.smallest_ranks;
    for (const StageNeed& stage : need.stages) {
      if (stage.stage == "bootstrap") {  // a part of `run`, no job of its own
        whole.bytes = std::max(whole.bytes, stage.bytes);
        whole.seconds += stage.seconds;
        continue;
      }
      lines.push_back(slurm_line(fmt::format("{} {}", stage.stage, need.length), ranks, threads, stage, config.plan_ranks_per_node));
      whole.bytes = std::max(whole.bytes, stage.bytes);
      whole.seconds += stage.seconds;
    }
    whole_ranks = std::max(whole_ranks, ranks);
  }
  lines.push_back(slurm_line("collect", 1, 1, {"collect", Index{100} << 20, 10}));
  if (plan.count_ranks > 0) lines.push_back(slurm_line("run", whole_ranks, threads, whole, config.plan_ranks_per_node));
  return lines;
}

}  // namespace

void plan(const Communicator& comm, const Config& config, StageReport& report) {
  const CorpusEstimate corpus = estimate_corpus(comm, config);
  MachineRates rates;
  if (config.calibrate)
    rates = collective(comm, "measuring this machine", [&] { return comm.is_root() ? measure_rates() : MachineRates{}; });
  broadcast(comm, std::span(&rates, 1));
  rates.threads = std::max(config.geometry.threads, 1);
  const Plan plan = make_plan(comm, config, corpus, rates);
  report.line(
      fmt::format("plan for {} rank{} of {} thread{}, {:.0f} MiB each{}", plan.ranks, plan.ranks == 1 ? "" : "s", rates.threads,
                  rates.threads == 1 ? "" : "s", mebibytes(plan.memory_bytes),
                  config.geometry.memory_bytes > 0 ? " (--memory)" : " (all on this node; give --memory for what a rank has elsewhere)"));
  report.line(
      rates.measured
          ? fmt::format("times: as measured here, {:.0f} GF/s DGEMM a core, everything else {:.2g} times the stored figures",
                        rates.dgemm_flops / 1e9, rates.slowness)
          : std::string("times: from stored figures of one machine, right within a factor of a few; --calibrate measures this one"));
  const auto known = [](Index value, Certainty certainty, const char* unknown) {
    if (value <= 0) return std::string(unknown);
    return fmt::format("{}{}{}", certainty == Certainty::at_least ? "at least " : "", value,
                       certainty == Certainty::exact ? "" : " (from a sample)");
  };
  report.line(fmt::format("vocabulary {}, tokens {}", known(corpus.vocab_size, corpus.vocab_certainty, "unknown (give --vocab-size)"),
                          known(corpus.token_count, corpus.token_certainty, "unknown")));
  for (const std::string& line : bound_lines(config, corpus)) report.line(line);
  if (corpus.vocab_size > 0) report.line(count_line(config, plan));
  for (const LengthPlan& need : plan.lengths) {
    report.line(length_line(need));
    for (const StageNeed& stage : need.stages) {
      if (!stage.limit.empty()) report.line("  32-bit limit: " + stage.limit);
    }
  }
  for (const std::string& line : slurm_lines(config, corpus, plan)) report.line(line);
}

}  // namespace posgeom
