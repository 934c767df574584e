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
#include "posgeom/pipeline/plan.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// Eigenvectors that come with the first solution of the noise analysis.
constexpr Index noise_vectors = 64;

/// The process grid of so many ranks: --grid where that is one of them.
GridShape shape_of(const Config& config, int ranks) {
  const GeometryOptions& geometry = config.geometry;
  const bool given = geometry.grid_rows > 0 && Index{geometry.grid_rows} * geometry.grid_columns == ranks;
  return given ? GridShape{geometry.grid_rows, geometry.grid_columns} : nearest_square_shape(ranks);
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
  return fmt::format("32-bit limit: an array of {} numbers that {} needs passes {}; {}", largest, name_of(options.solver), lp64_limit,
                     ranks > 0 ? number_of(ranks, "rank stays below it", "ranks stay below it") : "no rank count stays below it");
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
                           .half_nonzeros = size.rarefied.nonzeros,
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
         noise_bytes({size.whole, size.half, size.rarefied, noise.split, noise.shuffle}, shape, block, eigen);
}

StageNeed embed_need(const Config& config, const LengthSize& size, const GridShape& shape, Solver solver, const MachineRates& rates) {
  StageNeed need{.stage = "embed"};
  const Index n = size.rows;
  const Index ranks = Index{shape.rows} * shape.columns, block = config.geometry.block_size;
  const EighOptions options{solver, vectors_of(config, size)};
  if (solver != Solver::dual && solver != Solver::krylov) need.limit = limit_of(options, n, shape, block);
  if (solver == Solver::dual && size.whole.columns > dual_limit)
    need.limit = fmt::format("--solver dual takes at most {} different tokens, and {} may occur", dual_limit, size.whole.columns);
  Index most = solving_bytes(config, size, shape, options);
  const Index encoding = n * options.vectors * double_bytes;
  const Index part = BlockCyclic{n, block, shape.rows, 0}.local_extent() * BlockCyclic{n, block, shape.columns, 0}.local_extent();
  if (config.geometry.write_hellinger) most = std::max(most, encoding + part * double_bytes + writing_bytes(part));
  double noise = 0;
  most = std::max(most, noise_need(config, size, shape, rates, noise) + encoding);
  need.bytes =
      process_bytes + std::max(reading_bytes(size.whole.nonzeros, config, ranks), shared_bytes(size.whole.bytes(), config, ranks) + most);
  need.limited = need.bytes - process_bytes;
  need.seconds = spectrum_seconds({size.whole, size.types, options.vectors}, solver, ranks, rates) +
                 summary_seconds(n, size.whole.nonzeros, ranks, rates) + noise;
  return need;
}

/// What a decompressor looks back on: at most 64 MiB (xz -9), of some 4 bytes a token.
Index window_bytes(const CorpusEstimate& corpus) {
  constexpr Index widest = Index{1} << 26;
  return corpus.compressed ? std::min(widest, 4 * corpus.token_count) : 0;
}

}  // namespace

Index vectors_of(const Config& config, const LengthSize& size) {
  const GeometryOptions& geometry = config.geometry;
  Index wanted = size.rows;
  if (!geometry.components_from_dims && geometry.components > 0) wanted = geometry.components;
  if (geometry.components_from_dims && config.stress.choice == StressOptions::Dimensions::listed) wanted = config.stress.dims.back();
  return std::min(wanted, size.rows);
}

Solver solver_with(const Config& config, const LengthSize& size, int ranks, const MachineRates& rates) {
  if (config.geometry.solver != Solver::automatic) return config.geometry.solver;
  if (size.types > 0 && size.types < size.rows && size.types <= dual_limit) return Solver::dual;
  const GridShape shape = shape_of(config, ranks);
  return fastest_solver(size.rows, vectors_of(config, size), config.geometry.block_size, shape.rows, shape.columns,
                        {.dgemm_flops = rates.dgemm_flops, .threads = rates.threads})
      .solver;
}

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
  StageNeed need{.stage = "count", .bytes = process_bytes};
  Index stored = 0, largest = 0, compressed = 0;
  for (const Index length : config.lengths) {
    const LengthSize size = size_of(config, corpus, length);
    stored += size.whole.nonzeros;
    largest = std::max(largest, size.whole.nonzeros);
    // A half's table has an entry wherever the whole one has.
    compressed += size.whole.nonzeros * (config.noise.split ? 2 : 1) * (config.noise.shuffle ? 2 : 1);
  }
  // Tables that would outgrow the memory are handed over at fifteen sixteenths of it: what is read with may be in the rest.
  const Index tables = count_memory(options, corpus.vocab_size, tokens, corpus.unigram, ranks), reading = window_bytes(corpus);
  const bool beside = memory_bytes > 0 && tables == memory_bytes && reading <= memory_bytes / 16;
  // When it is written, the tables have become compressed rows; to be compared they are read back, counts into what grows from tokens.
  const Index writing = compressed / ranks * static_cast<Index>(sizeof(Token) + sizeof(Count)) + writing_bytes(largest / ranks) * 3 / 2;
  need.limited = std::max(tables + (beside ? 0 : reading), writing);
  need.bytes += need.limited;
  need.seconds = count_seconds(config, corpus, stored, ranks, rates);
  return need;
}

std::vector<StageNeed> stages_with(const Config& config, const CorpusEstimate& corpus, const LengthSize& size, Index length, int ranks,
                                   Index memory_bytes, const MachineRates& rates) {
  const GridShape shape = shape_of(config, ranks);
  const Solver solver = solver_with(config, size, ranks, rates);
  Config quiet = config;
  quiet.noise = {};
  const StageNeed geometry = embed_need(quiet, size, shape, solver, rates);
  std::vector<StageNeed> stages{embed_need(config, size, shape, solver, rates)};
  stages.push_back(stress_need(config, size, ranks, memory_bytes, {geometry, stages.front()}, rates));
  if (config.bootstrap.replicates > 0)
    stages.push_back(bootstrap_need(config, corpus, length, size, ranks, memory_bytes, {geometry, stages.back()}, rates));
  return stages;
}

}  // namespace posgeom
