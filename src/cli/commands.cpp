#include "cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/allocation.hpp"
#include "cli/signals.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/idle_options.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/plan.hpp"
#include "posgeom/pipeline/run.hpp"

namespace posgeom::cli {
namespace {

void need_lengths(const Invocation& invocation) {
  if (invocation.config.lengths.empty())
    throw CollectiveError("option --lengths is missing: the sequence lengths, such as --lengths 128,256", ErrorKind::usage, 0);
}

void need_corpus(const Invocation& invocation) {
  if (invocation.config.corpus.paths.empty())
    throw CollectiveError("option --corpus is missing: a file, directory or glob", ErrorKind::usage, 0);
}

void no_files(const Invocation& invocation) {
  if (!invocation.files.empty()) {
    throw CollectiveError(
        fmt::format("unexpected argument '{}'; corpora are given with --corpus, switches as --header=on", invocation.files.front()),
        ErrorKind::usage, 0);
  }
}

/// **Collective.** The configuration; where --memory is not given, with this rank's share of what the batch system allocated.
Config within_allocation(const Invocation& invocation) {
  Config config = invocation.config;
  const Index allocated = all_reduce(invocation.comm, allocated_memory(), Reduction::minimum);
  if (config.geometry.memory_bytes == 0 && allocated > 0)
    config.geometry.memory_bytes = std::min(memory_limit(invocation.comm, 0), share_of_node(invocation.comm, allocated));
  return config;
}

/// Options that change nothing, of those that the command takes.
void warn_of_idle_options(const Invocation& invocation, std::string_view command) {
  const std::vector<std::string_view>& groups = find_command(command)->option_groups;
  for (const IdleOption& idle : idle_options(invocation.config)) {
    if (groups.empty() || std::ranges::find(groups, idle.group) != groups.end()) invocation.report.line("warning: " + idle.text);
  }
}

void with_stages(const Invocation& invocation, std::string_view command, void (*body)(const StageContext&)) {
  no_files(invocation);
  const Config config = within_allocation(invocation);
  const StageContext context{invocation.comm, config, grid_of(invocation.comm, config), invocation.report, stop_requested};
  const std::string crowded = use_blas_threads(invocation.comm, invocation.config.geometry.threads);
  for (const std::string& line :
       run_header(invocation.comm, context.grid.text(), memory_limit(invocation.comm, config.geometry.memory_bytes)))
    invocation.report.line(line);
  if (!crowded.empty()) invocation.report.line(crowded);
  warn_of_idle_options(invocation, command);
  make_output_directory(invocation.comm, invocation.config);
  body(context);
  const Index peak = all_reduce(invocation.comm, peak_memory(), Reduction::maximum);
  invocation.report.line(
      fmt::format("done: results in {}; peak memory {:.0f} MiB on the fullest rank", invocation.config.output.directory, mebibytes(peak)));
}

void run_command(const Invocation& invocation) {
  need_corpus(invocation);
  need_lengths(invocation);
  with_stages(invocation, "run", run);
}

void count_command(const Invocation& invocation) {
  need_corpus(invocation);
  need_lengths(invocation);
  with_stages(invocation, "count", count);
}

void embed_command(const Invocation& invocation) {
  need_lengths(invocation);
  with_stages(invocation, "embed", embed);
}

void stress_command(const Invocation& invocation) {
  need_lengths(invocation);
  with_stages(invocation, "stress", stress);
}

void bench_command(const Invocation& invocation) {
  need_corpus(invocation);
  need_lengths(invocation);
  no_files(invocation);
  use_blas_threads(invocation.comm, invocation.config.geometry.threads);
  make_output_directory(invocation.comm, invocation.config);
  const Config config = within_allocation(invocation);
  bench({invocation.comm, config, grid_of(invocation.comm, config), invocation.report, stop_requested});
}

void collect_command(const Invocation& invocation) { with_stages(invocation, "collect", collect); }

void tokenize_command(const Invocation& invocation) {
  need_corpus(invocation);
  with_stages(invocation, "tokenize", tokenize);
}

void synth_command(const Invocation& invocation) { with_stages(invocation, "synth", synth); }

void plan_command(const Invocation& invocation) {
  die_of_stop_signals();
  no_files(invocation);
  need_lengths(invocation);
  plan(invocation.comm, invocation.config, invocation.report);
}

/// **Collective.** A summary of a file of ours or of a token file.
InspectLines inspect_any(const Communicator& comm, const std::string& path) {
  const int tokens = collective(comm, "inspecting " + path, [&] { return comm.is_root() && is_token_file(path) ? 1 : 0; });
  if (all_reduce(comm, tokens, Reduction::maximum) == 0) return inspect_file(comm, path);
  return collective(comm, "inspecting " + path, [&] { return comm.is_root() ? describe_token_file(path) : InspectLines{}; });
}

void inspect_command(const Invocation& invocation) {
  die_of_stop_signals();
  if (invocation.files.empty()) throw CollectiveError("inspect: no file given; usage: posgeom inspect FILE...", ErrorKind::usage, 0);
  for (const std::string& path : invocation.files) {
    const InspectLines lines = inspect_any(invocation.comm, path);
    invocation.report.line(path);
    std::size_t width = 0;
    for (const auto& [what, value] : lines) width = std::max(width, what.size());
    for (const auto& [what, value] : lines) invocation.report.line(fmt::format("  {:<{}}  {}", what, width, value));
  }
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "the main job: count, embed and stress at every length, collected in one output directory", {}, run_command},
      {"count", "corpus -> OUT/counts.h5", {"corpus", "sequences", "noise", "geometry", "output"}, count_command},
      {"embed",
       "OUT/counts.h5 -> OUT/geometry-<n>.h5 for every length n",
       {"sequences", "positions", "noise", "geometry", "stress", "output"},
       embed_command},
      {"stress", "counts and geometry -> OUT/stress-<n>.h5", {"sequences", "positions", "stress", "noise", "output"}, stress_command},
      {"collect", "all stress files of OUT -> OUT/sweep.h5 and OUT/sweep.csv", {"sequences", "output"}, collect_command},
      {"tokenize", "text -> a token file in OUT, so that text is tokenised once", {"corpus", "tokenize", "output"}, tokenize_command},
      {"synth", "a synthetic corpus with known truth: a token file and truth.h5 in OUT", {"synth", "tokenize", "output"}, synth_command},
      {"bench",
       "run, everything made anew, and the seconds of its stages as CSV lines",
       {"corpus", "sequences", "positions", "noise", "geometry", "stress", "output"},
       bench_command},
      {"plan",
       "memory a rank, time, 32-bit limits and the smallest rank count, before a job is queued; of a corpus, or (--tokens) of one to come",
       {"corpus", "sequences", "positions", "noise", "bootstrap", "geometry", "stress", "plan"},
       plan_command,
       {"out", "force", "preset"},
       {"rarefy-geometry", "hellinger-range", "alpha", "split-by", "bootstrap-alpha", "factored", "rope-base", "rope-head-dim",
        "rope-scaling", "rope-original-length", "alibi-heads", "random-kind", "smacof-tolerance", "smacof-weights"}},
      {"inspect", "FILE...: a readable summary of files that posgeom wrote, and of token files", {"none"}, inspect_command},
  };
  return table;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(), [&](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace posgeom::cli
