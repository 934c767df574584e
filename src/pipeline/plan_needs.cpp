#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/length_size.hpp"
#include "pipeline/plan_parts.hpp"
#include "pipeline/stage_times.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/linalg/block_cyclic.hpp"
#include "posgeom/linalg/process_grid.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/plan.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// Eigenvectors that come with the first solution of the noise analysis.
constexpr Index noise_vectors = 64;

/// Eigenvectors that embed computes.
Index vectors_of(const Config& config, const LengthSize& size) {
  const GeometryOptions& geometry = config.geometry;
  Index wanted = size.rows;
  if (!geometry.components_from_dims && geometry.components > 0) wanted = geometry.components;
  if (geometry.components_from_dims && config.stress.choice == StressOptions::Dimensions::listed) wanted = config.stress.dims.back();
  return std::min(wanted, size.rows);
}

/// Parts of the matrix that a rank holds at the peak of eigh(), the matrix itself included (measured at n = 3072 on 1 to 4 ranks).
double matrix_parts(Solver solver, bool all_vectors) {
  if (all_vectors) return 4;
  if (solver == Solver::elpa) return 3.2;
  return solver == Solver::pdsyevd ? 4 : 2;
}

Index dense_bytes(const EighOptions& options, Index n, const GridShape& shape, Index block) {
  const Index part = BlockCyclic{n, block, shape.rows, 0}.local_extent() * BlockCyclic{n, block, shape.columns, 0}.local_extent();
  const auto eigen = static_cast<Index>(matrix_parts(options.solver, options.vectors == n) * static_cast<double>(part));
  // Afterwards: the matrix, its vectors, and the leading ones gathered, as the solver and as the file have them.
  const Index after = part + part * options.vectors / std::max<Index>(n, 1) + 2 * n * options.vectors;
  return std::max(eigen, after) * double_bytes;
}

std::string limit_of(const EighOptions& options, Index n, const GridShape& shape, Index block) {
  const Index largest = largest_array(options, n, block, shape.rows, shape.columns);
  if (largest <= lp64_limit) return {};
  const Index ranks = smallest_ranks(options, n, block);
  return fmt::format("an array of {} numbers that {} needs passes the 32-bit limit {}; {}", largest, name_of(options.solver), lp64_limit,
                     ranks > 0 ? number_of(ranks, "rank stays below it", "ranks stay below it") : "no rank count stays below it");
}

Solver planned_solver(const Config& config, const LengthSize& size, Index vectors, const GridShape& shape, const MachineRates& rates) {
  if (config.geometry.solver != Solver::automatic) return config.geometry.solver;
  if (size.types > 0 && size.types < size.rows && size.types <= dual_limit) return Solver::dual;
  return fastest_solver(size.rows, vectors, config.geometry.block_size, shape.rows, shape.columns,
                        {.dgemm_flops = rates.dgemm_flops, .threads = rates.threads})
      .solver;
}

/// eigh() with the Gram matrix before it, or the solver that stands for both.
Index solving_bytes(const Config& config, const LengthSize& size, const GridShape& shape, const EighOptions& options) {
  const int ranks = shape.rows * shape.columns;
  if (options.solver == Solver::dual) {
    const Index v = size.types > 0 ? size.types : size.rows;
    return (4 * v * v + 2 * size.rows * v) * double_bytes;
  }
  if (options.solver == Solver::krylov) return krylov_bytes(size.whole, options.vectors, ranks, std::max(config.geometry.threads, 1));
  const Index block = config.geometry.block_size;
  const Index dense = std::max(gram_bytes(size.whole, shape, block), dense_bytes(options, size.rows, shape, block));
  // auto may find that krylov is faster, once it knows S.
  const bool either = config.geometry.solver == Solver::automatic && config.geometry.leading_only && options.vectors <= size.rows / 4;
  return either ? std::max(dense, krylov_bytes(size.whole, options.vectors, ranks, std::max(config.geometry.threads, 1))) : dense;
}

/// The noise analysis, beside the corpus's S and encoding.
Index noise_need(const Config& config, const LengthSize& size, const GridShape& shape, const MachineRates& rates, double& seconds) {
  const NoiseOptions& noise = config.noise;
  if (!noise.split && !noise.shuffle) return 0;
  const Index ranks = Index{shape.rows} * shape.columns, block = config.geometry.block_size;
  const EighOptions options{fastest_solver(size.rows, noise_vectors, block, shape.rows, shape.columns,
                                           {.dgemm_flops = rates.dgemm_flops, .threads = rates.threads})
                                .solver,
                            std::min(size.rows, noise_vectors)};
  seconds = noise_seconds({.rows = size.rows,
                           .nonzeros = size.whole.nonzeros,
                           .half_nonzeros = size.half.nonzeros,
                           .types = size.whole.columns,
                           .tokens = size.tokens,
                           .replicates = config.noise_analysis.replicates,
                           .split = noise.split,
                           .shuffle = noise.shuffle},
                          options, ranks, rates);
  // Few token types: the halves' problem is solved by types, by the root.
  const Index z = 2 * size.types;
  const bool by_types = size.types > 0 && 2 * z <= size.rows && z <= 2048;
  const Index eigen = by_types ? (2 * size.rows * z + 6 * z * z) * double_bytes : dense_bytes(options, size.rows, shape, block);
  const Index tables = (size.whole.nonzeros + (noise.split ? size.half.nonzeros : 0)) * (noise.shuffle ? 2 : 1);
  return shared_bytes(tables * static_cast<Index>(sizeof(Token) + sizeof(Count)), config, ranks) +
         noise_bytes({size.whole, size.half, noise.split, noise.shuffle}, shape, block, eigen);
}

StageNeed embed_need(const Config& config, const LengthSize& size, const GridShape& shape, Solver solver, const MachineRates& rates) {
  StageNeed need{"embed"};
  const Index n = size.rows;
  const Index ranks = Index{shape.rows} * shape.columns, block = config.geometry.block_size;
  const EighOptions options{solver, vectors_of(config, size)};
  if (solver != Solver::dual && solver != Solver::krylov) need.limit = limit_of(options, n, shape, block);
  Index most = solving_bytes(config, size, shape, options);
  const Index encoding = n * options.vectors * double_bytes;
  const Index part = BlockCyclic{n, block, shape.rows, 0}.local_extent() * BlockCyclic{n, block, shape.columns, 0}.local_extent();
  if (config.geometry.write_hellinger) most = std::max(most, encoding + part * double_bytes + writing_bytes(part));
  double noise = 0;
  most = std::max(most, noise_need(config, size, shape, rates, noise) + encoding);
  need.bytes =
      process_bytes + std::max(reading_bytes(size.whole.nonzeros, config, ranks), shared_bytes(size.whole.bytes(), config, ranks) + most);
  need.seconds = spectrum_seconds({n, size.types, size.whole.nonzeros, options.vectors}, solver, ranks, rates) +
                 summary_seconds(n, size.whole.nonzeros, ranks, rates) + noise;
  return need;
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

StageNeed count_need(const Config& config, const CorpusEstimate& corpus, int ranks, Index memory_bytes, const MachineRates& rates) {
  CountOptions options = count_options_of(config);
  options.memory_bytes = memory_bytes;
  const Index tokens = corpus.token_certainty == Certainty::at_least ? 0 : corpus.token_count;
  StageNeed need{"count", process_bytes};
  Index stored = 0, largest = 0;
  for (const Index length : config.lengths) {
    const Index nonzeros = size_of(config, corpus, length).whole.nonzeros;
    stored += nonzeros;
    largest = std::max(largest, nonzeros);
  }
  need.bytes += count_memory(options, corpus.vocab_size, tokens, corpus.unigram, ranks) + writing_bytes(largest / ranks);
  // What a decompressor looks back on: at most 64 MiB (xz -9), of some 4 bytes a token.
  constexpr Index widest_window = Index{1} << 26;
  if (corpus.compressed) need.bytes += std::min(widest_window, 4 * corpus.token_count);
  // A compressed stream of packed sequences is read by one rank.
  const bool alone = corpus.compressed && config.sequences == Sequences::packed;
  need.seconds = count_seconds(config, corpus.token_count, stored, alone ? 1 : ranks, rates);
  return need;
}

LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes,
                       const MachineRates& rates) {
  LengthPlan plan;
  plan.length = length;
  const LengthSize size = size_of(config, corpus, length);
  plan.rows = size.rows;
  const auto solver_of = [&](int rank_count) {
    return planned_solver(config, size, vectors_of(config, size), nearest_square_shape(rank_count), rates);
  };
  Config quiet = config;
  quiet.noise = {};
  const auto fit = [&](const std::vector<StageNeed>& stages) {
    return std::all_of(stages.begin(), stages.end(),
                       [&](const StageNeed& need) { return need.limit.empty() && need.bytes <= memory_bytes; });
  };
  const auto needs = [&](int rank_count) {
    const GridShape shape = nearest_square_shape(rank_count);
    const Solver solver = solver_of(rank_count);
    const StageNeed geometry = embed_need(quiet, size, shape, solver, rates);
    std::vector<StageNeed> stages{embed_need(config, size, shape, solver, rates)};
    stages.push_back(stress_need(config, size, rank_count, memory_bytes, {geometry, stages.front()}, rates));
    return std::pair(geometry, stages);
  };
  const auto with_bootstrap = [&](const std::pair<StageNeed, std::vector<StageNeed>>& found, int rank_count) {
    std::vector<StageNeed> stages = found.second;
    if (config.bootstrap.replicates > 0)
      stages.push_back(bootstrap_need(config, corpus, length, size, rank_count, memory_bytes, {found.first, stages.back()}, rates));
    return stages;
  };
  plan.solver = solver_of(ranks);
  plan.stages = with_bootstrap(needs(ranks), ranks);
  plan.fits = fit(plan.stages);
  // Primes make 1 x P grids that hold less than their neighbours: look at every count at first, then at even ones of a fine enough step.
  for (Index candidate = 1; candidate <= most_ranks && plan.smallest_ranks == 0; candidate += std::max<Index>(1, candidate / 64)) {
    const int rank_count = static_cast<int>(candidate);
    const auto found = needs(rank_count);
    // The bootstrap's counts are the most arithmetic: last.
    if (fit(found.second) && fit(with_bootstrap(found, rank_count))) plan.smallest_ranks = candidate;
  }
  return plan;
}

void require_memory(const Communicator& comm, const Config& config, const std::vector<LengthNeeds>& needs,
                    const std::vector<std::string>& stages) {
  const Index memory_bytes = all_reduce(comm, memory_limit(comm, config.geometry.memory_bytes), Reduction::minimum);
  const bool drops = config.positions.unreached == Unreached::drop;
  Config here = config;
  here.plan_ranks_per_node = all_reduce(comm, comm.split_by_node().size(), Reduction::minimum);
  collective(comm, "planning the memory", [&] {
    for (const LengthNeeds& length : needs) {
      CorpusEstimate corpus;
      corpus.vocab_size = length.types;
      corpus.token_count = length.nonzeros;
      const Index rows = std::max<Index>(drops ? length.reached : length.length, 1);
      const LengthPlan need = plan_length(here, corpus, rows, comm.size(), memory_bytes);
      for (const StageNeed& stage : need.stages) {
        if (std::find(stages.begin(), stages.end(), stage.stage) == stages.end() || stage.bytes <= memory_bytes) continue;
        throw Error(fmt::format("--lengths {}: {} takes {:.0f} MiB a rank, more than the {:.0f} MiB that --memory allows; {}",
                                length.length, stage.stage, mebibytes(stage.bytes), mebibytes(memory_bytes),
                                need.smallest_ranks > 0 ? number_of(need.smallest_ranks, "rank with as much does", "ranks with as much do")
                                                        : "no rank count helps: use fewer or smaller --dims, or a smaller length"));
      }
    }
  });
}

}  // namespace posgeom
