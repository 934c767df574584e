#include "posgeom/pipeline/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "posgeom/geometry/mds.hpp"
#include "posgeom/linalg/block_cyclic.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/process_grid.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/sample.hpp"

namespace posgeom {
namespace {

constexpr Index double_bytes = 8;
/// A rank that has done nothing yet: MPI, HDF5, BLAS, their buffers (measured with Open MPI 4.1).
constexpr Index process_bytes = Index{48} << 20;
constexpr Index most_ranks = Index{1} << 20;

double mebibytes(Index bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

/// Nonzero (position, token) counts: no more than the table's cells, the tokens, or the types that so many draws from the sample's
/// distribution show; equal shares of the tokens for all positions show most.
Index nonzeros(const CorpusEstimate& corpus, Index length) {
  const Index cells = length * std::max<Index>(corpus.vocab_size, 1);
  if (corpus.token_count == 0 || corpus.token_certainty == Certainty::at_least) return cells;
  Index most = std::min(cells, corpus.token_count);
  if (!corpus.unigram.empty()) {
    const double types =
        expected_types(corpus.unigram, corpus.vocab_size, static_cast<double>(corpus.token_count) / static_cast<double>(length));
    most = std::min(most, static_cast<Index>(types * static_cast<double>(length)) + 1);
  }
  return most;
}

/// The counts and the square-root distributions stay beside every later stage.
Index sparse_bytes(const CorpusEstimate& corpus, Index length) {
  return nonzeros(corpus, length) * static_cast<Index>(sizeof(Token) + sizeof(Count) + sizeof(std::int32_t) + sizeof(double));
}

StageNeed embed_need(const CorpusEstimate& corpus, Index n, const GridShape& shape, Index block, bool dual) {
  StageNeed need{"embed", process_bytes + sparse_bytes(corpus, n), ""};
  if (dual) {
    const Index v = corpus.vocab_size;
    need.bytes += 4 * v * v * double_bytes + 2 * n * v * double_bytes;
    return need;
  }
  const Index local_rows = BlockCyclic{n, block, shape.rows, 0}.local_extent();
  const Index local_columns = BlockCyclic{n, block, shape.columns, 0}.local_extent();
  const Index workspace = pdsyevd_workspace(n, block, shape.rows, shape.columns);
  need.bytes += (3 * local_rows * local_columns + workspace) * double_bytes;
  if (workspace > lp64_limit) {
    const Index ranks = smallest_pdsyevd_ranks(n, block);
    need.limit = fmt::format("pdsyevd's workspace of {} doubles passes the 32-bit limit {}; {}", workspace, lp64_limit,
                             ranks > 0 ? fmt::format("{} ranks stay below it", ranks) : "no rank count stays below it");
  } else if (local_rows * local_columns > lp64_limit) {
    need.limit = fmt::format("a local matrix of {} elements passes the 32-bit limit {}", local_rows * local_columns, lp64_limit);
  }
  return need;
}

StageNeed stress_need(const Config& config, const CorpusEstimate& corpus, Index n) {
  const bool listed = config.stress.choice == StressOptions::Dimensions::listed;
  const Index most =
      corpus.vocab_size > 0 && corpus.vocab_certainty != Certainty::at_least ? std::min(n, corpus.vocab_size) : n;  // of the rank
  const Index widest = listed ? config.stress.dims.back() : config.stress.choice == StressOptions::Dimensions::all ? n : most;
  Index columns = 0;  // of the encodings that are held as coordinates
  for (const EncodingSpec& spec : config.stress.encodings) {
    if (spec.name == "mds") columns += 2 * std::min(widest, most);
    if (spec.name == "random" || !spec.path.empty()) columns += widest;
  }
  return {"stress", process_bytes + sparse_bytes(corpus, n) + n * columns * double_bytes, ""};
}

}  // namespace

CountOptions count_options_of(const Config& config) {
  CountOptions options;
  options.sequences = config.sequences;
  options.drop_last_block = config.drop_last_block;
  options.lengths = config.lengths;
  options.noise = config.noise;
  return options;
}

StageNeed count_need(const Config& config, const CorpusEstimate& corpus, int ranks, Index memory_bytes) {
  CountOptions options = count_options_of(config);
  options.memory_bytes = memory_bytes;
  const Index tokens = corpus.token_certainty == Certainty::at_least ? 0 : corpus.token_count;
  return {"count", process_bytes + count_memory(options, corpus.vocab_size, tokens, corpus.unigram, ranks), ""};
}

LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes) {
  LengthPlan plan;
  plan.length = length;
  plan.dual = config.geometry.solver == Solver::dual || (config.geometry.solver == Solver::automatic && corpus.vocab_size > 0 &&
                                                         corpus.vocab_size < length && corpus.vocab_size <= dual_limit);
  const auto needs = [&](int rank_count) {
    const GridShape shape = nearest_square_shape(rank_count);
    return std::vector<StageNeed>{embed_need(corpus, length, shape, config.geometry.block_size, plan.dual),
                                  stress_need(config, corpus, length)};
  };
  const auto fit = [&](const std::vector<StageNeed>& stages) {
    return std::all_of(stages.begin(), stages.end(),
                       [&](const StageNeed& need) { return need.limit.empty() && need.bytes <= memory_bytes; });
  };
  plan.stages = needs(ranks);
  plan.fits = fit(plan.stages);
  // Primes make 1 x P grids that hold less than their neighbours: look at every count at first, then at even ones of a fine enough step.
  for (Index candidate = 1; candidate <= most_ranks && plan.smallest_ranks == 0; candidate += std::max<Index>(1, candidate / 64)) {
    if (fit(needs(static_cast<int>(candidate)))) plan.smallest_ranks = candidate;
  }
  return plan;
}

void require_memory(const Communicator& comm, const Config& config, const std::vector<LengthNeeds>& needs,
                    const std::vector<std::string>& stages) {
  const Index memory_bytes = all_reduce(comm, memory_limit(comm, config.geometry.memory_bytes), Reduction::minimum);
  const bool drops = config.positions.unreached == Unreached::drop;
  collective(comm, "planning the memory", [&] {
    for (const LengthNeeds& length : needs) {
      CorpusEstimate corpus;
      corpus.vocab_size = length.types;
      corpus.token_count = length.nonzeros;
      const Index rows = std::max<Index>(drops ? length.reached : length.length, 1);
      const LengthPlan need = plan_length(config, corpus, rows, comm.size(), memory_bytes);
      for (const StageNeed& stage : need.stages) {
        if (std::find(stages.begin(), stages.end(), stage.stage) == stages.end() || stage.bytes <= memory_bytes) continue;
        throw Error(fmt::format("--lengths {}: {} takes {:.0f} MiB a rank, more than the {:.0f} MiB that --memory allows; {}",
                                length.length, stage.stage, mebibytes(stage.bytes), mebibytes(memory_bytes),
                                need.smallest_ranks > 0 ? fmt::format("{} ranks with as much do", need.smallest_ranks)
                                                        : "no rank count helps: use fewer or smaller --dims, or a smaller length"));
      }
    }
  });
}

namespace {

std::string count_line(const Config& config, const CorpusEstimate& corpus, int ranks, Index memory_bytes) {
  const auto need_of = [&](Index rank_count) { return count_need(config, corpus, static_cast<int>(rank_count), memory_bytes).bytes; };
  const Index bytes = need_of(ranks);
  std::string line = fmt::format("count, {} sequences: {:.0f} MiB: ", name_of(config.sequences), mebibytes(bytes));
  if (bytes <= memory_bytes) return line + "fits";
  Index smallest = 1;
  while (smallest <= most_ranks && need_of(smallest) > memory_bytes) smallest += std::max<Index>(1, smallest / 64);
  return line + (smallest <= most_ranks ? fmt::format("does not fit; smallest rank count that does: {}", smallest)
                                        : "does not fit; no rank count does: give more --memory");
}

}  // namespace

void plan(const Communicator& comm, const Config& config, StageReport& report) {
  const CorpusEstimate corpus = estimate_corpus(comm, config);
  const int ranks = config.plan_ranks > 0 ? config.plan_ranks : comm.size();
  Index memory_bytes = memory_limit(comm, config.geometry.memory_bytes);
  // Without --memory: the ranks that are planned share this node, where they are more than those that plan.
  if (config.geometry.memory_bytes == 0 && ranks > comm.size()) memory_bytes = memory_bytes / ranks * comm.size();
  report.line(
      fmt::format("plan for {} rank{}, {:.0f} MiB each{}", ranks, ranks == 1 ? "" : "s", mebibytes(memory_bytes),
                  config.geometry.memory_bytes > 0 ? " (--memory)" : " (all on this node; give --memory for what a rank has elsewhere)"));
  const auto known = [](Index value, Certainty certainty, const char* unknown) {
    if (value <= 0) return std::string(unknown);
    return fmt::format("{}{}{}", certainty == Certainty::at_least ? "at least " : "", value,
                       certainty == Certainty::exact ? "" : " (from a sample)");
  };
  report.line(fmt::format("vocabulary {}, tokens {}", known(corpus.vocab_size, corpus.vocab_certainty, "unknown (give --vocab-size)"),
                          known(corpus.token_count, corpus.token_certainty, "unknown: counts are taken as dense, an upper bound")));
  if (corpus.vocab_size > 0) report.line(count_line(config, corpus, ranks, memory_bytes));
  for (const Index length : config.lengths) {
    const LengthPlan need = plan_length(config, corpus, length, ranks, memory_bytes);
    std::string line = fmt::format("n={:<8}", length);
    for (const StageNeed& stage : need.stages) line += fmt::format(" {} {:.0f} MiB", stage.stage, mebibytes(stage.bytes));
    line += need.dual ? ", dual" : ", pdsyevd";
    if (need.fits) {
      line += ": fits";
    } else {
      line += ": does not fit";
    }
    if (need.smallest_ranks > 0) {
      line += fmt::format("; smallest rank count that does: {}", need.smallest_ranks);
    } else {
      const auto largest = std::max_element(need.stages.begin(), need.stages.end(),
                                            [](const StageNeed& x, const StageNeed& y) { return x.bytes < y.bytes; });
      line += fmt::format("; no rank count does, {} holds most of its part on every rank ({})", largest->stage,
                          largest->stage == "stress" ? "encodings: fewer --dims" : "counts: a smaller length");
    }
    report.line(line);
    for (const StageNeed& stage : need.stages) {
      if (!stage.limit.empty()) report.line("  32-bit limit: " + stage.limit);
    }
  }
}

}  // namespace posgeom
