#include "posgeom/pipeline/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "pipeline/length_size.hpp"
#include "pipeline/plan_parts.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/sample.hpp"
#include "posgeom/pipeline/stages.hpp"
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
  int count_ranks = 1;     ///< the planned ones, or the smallest count that fits; 0: none does
  int count_smallest = 1;  ///< the smallest count that fits; 0: none does
  Index memory_bytes = 0;
  MachineRates rates;
  StageNeed count;
  std::vector<LengthPlan> lengths;
};

/// The smallest rank count whose counting fits; 0: none. Each has the fewer rows, the more there are.
Index smallest_for_counting(const Config& config, const CorpusEstimate& corpus, Index memory_bytes) {
  const auto fit = [&](Index ranks) { return fits(count_need(config, corpus, static_cast<int>(ranks), memory_bytes), memory_bytes); };
  Index none = 0, enough = 1;
  while (!fit(enough)) {
    if (enough >= most_ranks) return 0;
    none = enough;
    enough *= 2;
  }
  while (enough - none > 1) {
    const Index middle = none + (enough - none) / 2;
    (fit(middle) ? enough : none) = middle;
  }
  return enough;
}

/// MiB of a stage, as the lines name it: what fits is never more than what there is.
Index mebibytes_of(const StageNeed& need, Index memory_bytes) {
  const Index up = mebibytes_needed(need.bytes);
  return fits(need, memory_bytes) ? std::min(up, mebibytes_there(memory_bytes + process_bytes)) : up;
}

/// **Collective.** What --memory says, else a rank's share of a node like this one.
Index planned_memory(const Communicator& comm, const Config& config, int ranks) {
  const Index limit = memory_limit(comm, config.geometry.memory_bytes);
  if (config.geometry.memory_bytes > 0) return limit;
  const int here = comm.split_by_node().size();
  // Where there are more of them than those that plan, they are taken to share this node.
  int sharing = ranks > comm.size() ? ranks : here;
  if (config.plan_ranks_per_node > 0) sharing = std::min(config.plan_ranks_per_node, ranks);
  return limit / sharing * here;
}

Plan make_plan(const Communicator& comm, const Config& config, const CorpusEstimate& corpus, const MachineRates& rates, int ranks) {
  Plan plan;
  plan.ranks = ranks;
  plan.rates = rates;
  plan.memory_bytes = all_reduce(comm, planned_memory(comm, config, ranks), Reduction::minimum);
  plan.count = count_need(config, corpus, plan.ranks, plan.memory_bytes, rates);
  plan.count_ranks = plan.ranks;
  plan.count_smallest = static_cast<int>(smallest_for_counting(config, corpus, plan.memory_bytes));
  if (!fits(plan.count, plan.memory_bytes)) {
    plan.count_ranks = plan.count_smallest;
    if (plan.count_ranks > 0) plan.count = count_need(config, corpus, plan.count_ranks, plan.memory_bytes, rates);
  }
  for (const Index length : config.lengths)
    plan.lengths.push_back(plan_length(config, corpus, length, plan.ranks, plan.memory_bytes, rates));
  return plan;
}

std::string first_line(const Config& config, const Plan& plan) {
  const int per_node = std::min(config.plan_ranks_per_node, plan.ranks);
  std::string memory = "--memory";
  if (config.geometry.memory_bytes == 0)
    memory = per_node > 0 ? fmt::format("{} on a node like this one; give --memory for others", per_node)
                          : "all on this node; give --memory, or --ranks-per-node, for what a rank has elsewhere";
  const std::string nodes = per_node > 0 ? " on " + number_of((plan.ranks + per_node - 1) / per_node, "node") : "";
  return fmt::format("plan for {}{}, {} a rank, {} MiB each beside the program's own {} ({})", number_of(plan.ranks, "rank"), nodes,
                     number_of(plan.rates.threads, "thread"), mebibytes_there(plan.memory_bytes), mebibytes_there(process_bytes), memory);
}

std::string corpus_line(const Config& config, const CorpusEstimate& corpus) {
  const auto known = [](Index value, Certainty certainty, const char* unknown) {
    if (value <= 0) return std::string(unknown);
    return fmt::format("{}{}{}", certainty == Certainty::at_least ? "at least " : "", value,
                       certainty == Certainty::exact ? "" : " (from a sample)");
  };
  return fmt::format("vocabulary {}, tokens {}{}", known(corpus.vocab_size, corpus.vocab_certainty, "unknown"),
                     known(corpus.token_count, corpus.token_certainty, "unknown"), config.plan_tokens > 0 ? " (--tokens)" : "");
}

std::string count_line(const Config& config, const CorpusEstimate& corpus, const Plan& plan) {
  const std::string line =
      fmt::format("count, {} sequences: {} MiB, {}: ", name_of(config.sequences), mebibytes_of(plan.count, plan.memory_bytes),
                  corpus.token_count > 0 ? duration(plan.count.seconds) : "time unknown");
  // Rows are handed over between ranks when the memory is full: the same figure for many rank counts.
  const char* const all = plan.count.limited == plan.memory_bytes ? ", in as much as --memory allows" : "";
  if (plan.count_ranks == plan.ranks) return line + fmt::format("fits{}; smallest rank count that does: {}", all, plan.count_smallest);
  if (plan.count_ranks > 0) return line + fmt::format("needs {}: the smallest count that fits{}", number_of(plan.count_ranks, "rank"), all);
  const Index needed = least_memory(plan.memory_bytes, [&](Index bytes) { return smallest_for_counting(config, corpus, bytes) > 0; });
  return line + fmt::format("does not fit; no rank count does: give {}more --memory ({} MiB would do)",
                            corpus.token_count > 0 ? "" : "--tokens, without which every count is taken as nonzero, or ",
                            mebibytes_needed(needed));
}

/// Where the figures are more than a corpus may take.
std::vector<std::string> bound_lines(const Config& config, const CorpusEstimate& corpus) {
  std::vector<std::string> lines;
  if (corpus.token_count == 0) {
    lines.emplace_back(
        "upper bounds: how many tokens there are is not known, and counts are taken as dense: every token at every position (--tokens "
        "tells, or "
        "a --corpus)");
  } else if (corpus.unigram.empty()) {
    lines.emplace_back(
        "upper bounds: how often tokens repeat is not known, and each is taken as another one where it can be (a --corpus tells; with "
        "--tokens, a "
        "sample of it does)");
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

std::string length_line(const Config& config, const CorpusEstimate& corpus, const Plan& plan, const LengthPlan& need) {
  std::string line = fmt::format("n={:<8}", need.length);
  if (need.rows < need.length) line += fmt::format(" {} reached:", number_of(need.rows, "position"));
  for (const StageNeed& stage : need.stages)
    line += fmt::format(" {} {} MiB {},", stage.stage, mebibytes_of(stage, plan.memory_bytes), duration(stage.seconds));
  line += fmt::format(" {}: {}", name_of(need.solver), need.fits ? "fits" : "does not fit");
  if (need.smallest_ranks == 0) return line + "; no rank count does: " + what_helps(config, corpus, need, plan.memory_bytes, plan.rates);
  line += fmt::format("; smallest rank count that does: {}", need.smallest_ranks);
  if (need.fits && need.proposed_ranks < plan.ranks)
    line += fmt::format("; {} suffice{} for so few positions", number_of(need.proposed_ranks, "rank"), need.proposed_ranks == 1 ? "s" : "");
  return line;
}

/// One job's sbatch options: a quarter more memory than predicted, but no more than a rank may have, and twice the time and five minutes.
std::string slurm_line(std::string_view job, Index ranks, int threads, const StageNeed& need, Index memory_bytes, int ranks_per_node) {
  const double most = mebibytes(std::max(memory_bytes + process_bytes, need.bytes));
  const double mib = std::min(std::ceil((mebibytes(need.bytes) * 1.25 + 64) / threads), std::max(1.0, std::floor(most / threads)));
  const auto minutes = static_cast<Index>(std::ceil(need.seconds * 2 / 60)) + 5;
  // Where a node's ranks share its memory, they must be together.
  std::string together;
  if (ranks_per_node > 0 && ranks > 1) {
    const Index per_node = std::min<Index>(ranks, ranks_per_node);
    together = fmt::format(" --nodes={} --ntasks-per-node={}", (ranks + per_node - 1) / per_node, per_node);
  }
  return fmt::format("slurm {} --ntasks={}{} --cpus-per-task={} --mem-per-cpu={:.0f}M --time={}:{:02}:00", job, ranks, together, threads,
                     mib, minutes / 60, minutes % 60);
}

std::vector<std::string> slurm_lines(const Config& config, const CorpusEstimate& corpus, const Plan& plan) {
  std::vector<std::string> lines;
  const int threads = plan.rates.threads;
  const auto add = [&](std::string_view job, Index ranks, int job_threads, const StageNeed& need) {
    lines.push_back(slurm_line(job, ranks, job_threads, need, plan.memory_bytes, config.plan_ranks_per_node));
  };
  if (plan.count_ranks > 0) add("count", plan.count_ranks, threads, plan.count);
  // `run` has the ranks of its greediest stage from beginning to end.
  Index whole_ranks = std::max(plan.ranks, plan.count_ranks);
  bool all = plan.count_ranks > 0;
  for (const LengthPlan& need : plan.lengths) {
    all = all && need.proposed_ranks > 0;
    for (const StageNeed& stage : need.proposed) {
      if (stage.stage != "bootstrap") add(fmt::format("{} {}", stage.stage, need.length), need.proposed_ranks, threads, stage);
    }
    whole_ranks = std::max<Index>(whole_ranks, need.proposed_ranks);
  }
  add("collect", 1, 1, {.stage = "collect", .bytes = Index{100} << 20, .seconds = 10});
  if (!all) return lines;
  const int ranks = static_cast<int>(whole_ranks);
  StageNeed whole = plan.count;
  for (const LengthPlan& length : plan.lengths) {
    const LengthPlan need = ranks == plan.ranks ? length : plan_length(config, corpus, length.length, ranks, plan.memory_bytes, plan.rates);
    for (const StageNeed& stage : need.stages) {
      whole.bytes = std::max(whole.bytes, stage.bytes);
      whole.seconds += stage.seconds;
    }
  }
  add("run", whole_ranks, threads, whole);
  return lines;
}

/// The positions that a table of vectors must have rows for, as far as that is known: up to the last one that is kept.
Index positions_needed(const Config& config, const CorpusEstimate& corpus) {
  const Index longest = config.lengths.back();
  if (config.positions.unreached != Unreached::drop) return longest;
  if (!corpus.whole_sample || config.sequences != Sequences::document) return 0;
  Index needed = std::min(longest, std::ssize(corpus.position_total));
  while (needed > 0 && corpus.position_total[static_cast<std::size_t>(needed - 1)] < config.positions.min_count) --needed;
  return needed;
}

/// The token types that certainly occur, as far as the sample tells.
Index types_seen(const Config& config, const CorpusEstimate& corpus) {
  const bool all_count = config.sequences != Sequences::document || corpus.longest_document <= config.lengths.front();
  return all_count ? std::ssize(corpus.unigram) - std::ranges::count(corpus.unigram, Count{0}) : 0;
}

/// **Collective.** The estimate, once all is refused that run would refuse.
CorpusEstimate checked_corpus(const StageContext& context, Index ranks) {
  const Config& config = context.config;
  check_options(context, ranks);
  CorpusEstimate corpus = estimate_corpus(context.comm, config);
  collective(context.comm, "looking at the corpus", [&] {
    if (corpus.vocab_size == 0) {
      throw Error("option --vocab-size is missing: without --corpus the size of the vocabulary, or --tokenizer and --vocab, must be given",
                  ErrorKind::usage);
    }
    for (const Index length : config.lengths) check_solver(config, size_of(config, corpus, length).rows, types_seen(config, corpus));
  });
  check_encoding_files(context, positions_needed(config, corpus));
  return corpus;
}

}  // namespace

void plan(const Communicator& comm, const Config& config, StageReport& report) {
  const int ranks = config.plan_ranks > 0 ? config.plan_ranks : comm.size();
  const StageContext context{comm, config, ProcessGrid::nearest_square(comm), report, {}};
  const CorpusEstimate corpus = checked_corpus(context, ranks);
  MachineRates rates;
  if (config.calibrate)
    rates = collective(comm, "measuring this machine", [&] { return comm.is_root() ? measure_rates() : MachineRates{}; });
  broadcast(comm, std::span(&rates, 1));
  rates.threads = std::max(config.geometry.threads, 1);
  const Plan plan = make_plan(comm, config, corpus, rates, ranks);
  report.line(first_line(config, plan));
  report.line(
      rates.measured
          ? fmt::format("times: as measured here, {:.0f} GF/s DGEMM a core, everything else {:.2g} times the stored figures",
                        rates.dgemm_flops / 1e9, rates.slowness)
          : std::string("times: from stored figures of one machine, right within a factor of a few; --calibrate measures this one"));
  report.line(corpus_line(config, corpus));
  for (const std::string& line : bound_lines(config, corpus)) report.line(line);
  report.line(count_line(config, corpus, plan));
  for (const LengthPlan& need : plan.lengths) {
    report.line(length_line(config, corpus, plan, need));
    for (const StageNeed& stage : need.stages) {
      if (!stage.limit.empty()) report.line("  " + stage.limit);
    }
  }
  for (const std::string& line : slurm_lines(config, corpus, plan)) report.line(line);
}

}  // namespace posgeom
