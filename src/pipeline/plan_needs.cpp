#include <fmt/format.h>

#include <algorithm>

#include "pipeline/stage_times.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/linalg/block_cyclic.hpp"
#include "posgeom/linalg/process_grid.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/plan.hpp"

namespace posgeom {
namespace {

constexpr Index double_bytes = 8;
/// A rank that has done nothing yet: MPI, HDF5, BLAS, their buffers (measured with Open MPI 4.1).
constexpr Index process_bytes = Index{48} << 20;

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

/// A rank's share of what its node holds once for all of its ranks.
Index shared(Index bytes, const Config& config, Index ranks) {
  return bytes / std::min<Index>(ranks, std::max(config.plan_ranks_per_node, 1));
}

/// The rows of a counts file, of S, and a copy of the former on its way into the node's memory: while a stage reads what it starts from.
Index reading_bytes(Index stored, const Config& config, Index ranks) {
  return shared(stored * static_cast<Index>(2 * (sizeof(Token) + sizeof(Count)) + sizeof(std::int32_t) + sizeof(double)), config, ranks);
}
Index distributions_bytes(Index stored, const Config& config, Index ranks) {
  return shared(stored * static_cast<Index>(sizeof(std::int32_t) + sizeof(double)), config, ranks);
}

/// What one length is, as far as is known.
struct LengthSize {
  Index rows = 0;
  Index types = 0;     ///< V_eff at most; 0: not known
  Index nonzeros = 0;  ///< of S
  Index rank = 0;      ///< at most
};

LengthSize size_of(const CorpusEstimate& corpus, Index length) {
  const bool known = corpus.vocab_size > 0 && corpus.vocab_certainty != Certainty::at_least;
  return {length, known ? corpus.vocab_size : 0, nonzeros(corpus, length), known ? std::min(length, corpus.vocab_size) : length};
}

Index widest_dimension(const Config& config, const LengthSize& size) {
  switch (config.stress.choice) {
    case StressOptions::Dimensions::listed:
      return config.stress.dims.back();
    case StressOptions::Dimensions::all:
      return size.rows;
    default:
      return size.rank;
  }
}

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
                     ranks > 0 ? fmt::format("{} ranks stay below it", ranks) : "no rank count stays below it");
}

Solver planned_solver(const Config& config, const LengthSize& size, Index vectors, const GridShape& shape, const MachineRates& rates) {
  if (config.geometry.solver != Solver::automatic) return config.geometry.solver;
  if (size.types > 0 && size.types < size.rows && size.types <= dual_limit) return Solver::dual;
  return fastest_solver(size.rows, vectors, config.geometry.block_size, shape.rows, shape.columns,
                        {.dgemm_flops = rates.dgemm_flops, .threads = rates.threads})
      .solver;
}

StageNeed embed_need(const Config& config, const LengthSize& size, const GridShape& shape, Solver solver, const MachineRates& rates) {
  StageNeed need{"embed"};
  const Index n = size.rows;
  const Index ranks = Index{shape.rows} * shape.columns;
  const EighOptions options{solver, vectors_of(config, size)};
  Index solving = 0;
  if (solver == Solver::dual) {
    const Index v = size.types > 0 ? size.types : n;
    solving = (4 * v * v + 2 * n * v) * double_bytes;
  } else {
    solving = dense_bytes(options, n, shape, config.geometry.block_size);
    need.limit = limit_of(options, n, shape, config.geometry.block_size);
  }
  need.bytes =
      process_bytes + std::max(reading_bytes(size.nonzeros, config, ranks), distributions_bytes(size.nonzeros, config, ranks) + solving);
  need.seconds = spectrum_seconds({n, size.types, size.nonzeros, options.vectors}, solver, ranks, rates) +
                 summary_seconds(n, size.nonzeros, ranks, rates);
  return need;
}

StageNeed stress_need(const Config& config, const LengthSize& size, Index ranks, const StageNeed& embed, const MachineRates& rates) {
  const Index n = size.rows;
  const Index widest = widest_dimension(config, size);
  std::vector<std::int32_t> dims = resolve_dimensions(config.stress, std::max<Index>(size.rank, 1), n);
  StressWork work{.rows = n, .nonzeros = size.nonzeros};
  Index columns = 0;  // of the encodings that are held as coordinates
  for (const EncodingSpec& spec : config.stress.encodings) {
    const bool is_mds = spec.name == "mds" && spec.made();
    if (!is_mds && spec.name != "random" && spec.made()) {
      work.lag_kernels = true;
      continue;
    }
    const Index width = is_mds ? std::min(widest, size.rank) : widest;
    columns += is_mds ? 2 * width : width;
    work.columns += width;
    const auto beyond = std::count_if(dims.begin(), dims.end(), [&](Index d) { return d > width; });  // they share a cell
    work.cells += std::ssize(dims) - beyond + (beyond > 0 && std::count(dims.begin(), dims.end(), width) == 0 ? 1 : 0);
  }
  StageNeed need{"stress"};
  const Index own_pairs = n * (n - 1) / 2 / ranks;
  const Index ranking = 16 * own_pairs + std::min(own_pairs * 17 / 16, Index{1} << 22) * 48;
  need.bytes = process_bytes + std::max(reading_bytes(size.nonzeros, config, ranks),
                                        distributions_bytes(size.nonzeros, config, ranks) + n * columns * double_bytes + ranking);
  need.seconds = stress_seconds(work, ranks, rates);
  if (config.noise.shuffle) {
    // Against the shuffled corpus: its own mds, and the sums over pairs once more, without sorting.
    work.cells = work.columns = 0;
    need.seconds += embed.seconds + stress_seconds(work, ranks, rates);
    need.bytes = std::max(need.bytes, embed.bytes) + distributions_bytes(size.nonzeros, config, ranks);
  }
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
  StageNeed need{"count", process_bytes + count_memory(options, corpus.vocab_size, tokens, corpus.unigram, ranks)};
  Index stored = 0;
  for (const Index length : config.lengths) stored += nonzeros(corpus, length);
  need.seconds = count_seconds(config, corpus.token_count, stored, ranks, rates);
  return need;
}

LengthPlan plan_length(const Config& config, const CorpusEstimate& corpus, Index length, int ranks, Index memory_bytes,
                       const MachineRates& rates) {
  LengthPlan plan;
  plan.length = length;
  const LengthSize size = size_of(corpus, length);
  const auto solver_of = [&](int rank_count) {
    return planned_solver(config, size, vectors_of(config, size), nearest_square_shape(rank_count), rates);
  };
  const auto needs = [&](int rank_count) {
    const StageNeed embed = embed_need(config, size, nearest_square_shape(rank_count), solver_of(rank_count), rates);
    return std::vector<StageNeed>{embed, stress_need(config, size, rank_count, embed, rates)};
  };
  const auto fit = [&](const std::vector<StageNeed>& stages) {
    return std::all_of(stages.begin(), stages.end(),
                       [&](const StageNeed& need) { return need.limit.empty() && need.bytes <= memory_bytes; });
  };
  plan.solver = solver_of(ranks);
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
                                need.smallest_ranks > 0 ? fmt::format("{} ranks with as much do", need.smallest_ranks)
                                                        : "no rank count helps: use fewer or smaller --dims, or a smaller length"));
      }
    }
  });
}

}  // namespace posgeom
