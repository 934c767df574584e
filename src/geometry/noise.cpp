#include "posgeom/geometry/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "geometry/noise_null.hpp"
#include "geometry/noise_split.hpp"
#include "geometry/rows.hpp"
#include "geometry/spectrum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/geometry/rarefy.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
/// Eigenvectors that come with the first solution; a greater signal rank, which only then is known, needs another one.
constexpr Index first_vectors = 64;

/// The table, which the caller must have given.
const PositionCounts& needed(const PositionCounts* table) {
  if (table == nullptr) throw std::logic_error("the noise analysis needs the corpus, and halves of it or a shuffled corpus");
  return *table;
}

/// As in classical_mds: what centring leaves of equal rows.
double rounding_floor(const SquareRootDistributions& s) {
  return static_cast<double>(s.row_count()) * 64 * machine_epsilon * machine_epsilon * largest_squared_norm(s);
}

Index count_above(const std::vector<double>& descending, double limit) {
  return std::ranges::partition_point(descending, [limit](double x) { return x > limit; }) - descending.begin();
}

/// Positions whose halves hold at least `total` tokens each.
std::vector<std::int32_t> positions_with(const std::vector<Count>& half_totals, Count total) {
  std::vector<std::int32_t> positions;
  for (std::size_t i = 0; i < half_totals.size(); ++i) {
    if (total > 0 && half_totals[i] >= total) positions.push_back(narrow_to_int(static_cast<Index>(i), "a position"));
  }
  return positions;
}

/// The halves of the tables at the analysis's positions.
noise::Halves halves_for(const Communicator& comm, const PositionCounts& half_a, const PositionCounts& half_b,
                         const NoiseAnalysis& analysis, const HellingerOptions& hellinger, std::uint64_t seed, bool shuffled) {
  return noise::rarefied_halves(comm, half_a, half_b, analysis.length, analysis.position, analysis.rarefied_total, seed, shuffled,
                                hellinger);
}

void set_signal_encoding(noise::SplitPairs pairs, Index columns, NoiseAnalysis& analysis) {
  const Index m = analysis.position_count();
  analysis.signal_components = columns;
  analysis.signal_encoding = std::move(pairs.vectors);
  analysis.signal_encoding.resize(static_cast<std::size_t>(m * columns));
  for (Index j = 0; j < columns; ++j) {
    const auto column = std::span(analysis.signal_encoding).subspan(static_cast<std::size_t>(j * m), static_cast<std::size_t>(m));
    const double norm = std::sqrt(pairs.values[static_cast<std::size_t>(j)]);
    for (double& x : column) x *= norm;
    fix_sign(column);
  }
}

/// B_cv of the real halves and what stands above `threshold`.
void add_spectrum(const ProcessGrid& grid, const noise::Halves& halves, const NoiseAnalysisOptions& options, NoiseAnalysis& analysis) {
  const Communicator& comm = grid.communicator();
  const DistributedMatrix b_cv =
      collective(comm, "forming the halves' Gram matrix", [&] { return noise::split_gram(grid, halves, options.block); });
  const Index m = analysis.position_count();
  noise::SplitPairs pairs = noise::split_pairs(grid, halves, b_cv, std::min(m, first_vectors));
  analysis.split_eigenvalues = pairs.values;
  analysis.signal_rank = count_above(pairs.values, std::max(analysis.threshold, rounding_floor(halves.a)));
  analysis.signal_trace = std::accumulate(pairs.values.begin(), pairs.values.begin() + analysis.signal_rank, 0.0);
  const Index columns = options.components > 0 ? std::min(options.components, analysis.signal_rank) : analysis.signal_rank;
  if (columns > first_vectors) pairs = noise::split_pairs(grid, halves, b_cv, columns);
  set_signal_encoding(std::move(pairs), columns, analysis);
  // sum_{i<j} (B_ii + B_jj - 2 B_ij) = m tr B where the rows of B sum to zero.
  analysis.denoised_sum = static_cast<double>(m) * trace(b_cv);
  analysis.denoised_negative = noise::negative_distances(b_cv);
  analysis.reliability = noise::reliability(comm, halves);
  analysis.reliability_of_whole = 2 * analysis.reliability / (1 + analysis.reliability);
}

PositionCounts second_half_together(const Communicator& comm, const PositionCounts& whole, const PositionCounts& half_a, Index length,
                                    std::string_view what) {
  return collective(comm, "splitting the counts into halves", [&] { return second_half(whole, half_a, length, what); });
}

/// Of each position the tokens of the smaller half of the shuffled corpus.
std::vector<Count> shuffled_half_totals(const Communicator& comm, const NoiseTables& tables, Index length,
                                        const HellingerOptions& hellinger) {
  const PositionCounts half_b = second_half_together(comm, *tables.shuffled, *tables.shuffled_half_a, length, "the shuffled corpus");
  return noise::half_totals(*tables.shuffled_half_a, half_b, length, hellinger);
}

void add_split(const ProcessGrid& grid, const NoiseTables& tables, const HellingerOptions& hellinger, const NoiseAnalysisOptions& options,
               const NoiseProgress& progress, NoiseAnalysis& analysis) {
  const Communicator& comm = grid.communicator();
  analysis.split = true;
  analysis.alpha = options.alpha;
  std::optional<noise::Halves> halves;
  {
    const PositionCounts half_b = second_half_together(comm, *tables.corpus, *tables.half_a, analysis.length, "the corpus");
    std::vector<Count> totals = noise::half_totals(*tables.half_a, half_b, analysis.length, hellinger);
    if (tables.shuffled != nullptr && tables.shuffled_half_a != nullptr) {
      // A packed sequence holds documents of both halves: shuffling it moves their tokens to other positions.
      const std::vector<Count> shuffled = shuffled_half_totals(comm, tables, analysis.length, hellinger);
      for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = std::min(totals[i], shuffled[i]);
    }
    analysis.rarefied_total = options.rarefy > 0 ? options.rarefy : default_rarefied_total(totals);
    analysis.position = positions_with(totals, analysis.rarefied_total);
    if (!analysis.position.empty()) halves = halves_for(comm, *tables.half_a, half_b, analysis, hellinger, options.seed, false);
  }
  if (!halves) {
    analysis.null_largest.assign(static_cast<std::size_t>(options.replicates), std::numeric_limits<double>::quiet_NaN());
    analysis.signal_rank = 0;
    analysis.signal_trace = 0;
    return;
  }
  analysis.null_largest = noise::null_replicates(comm, *tables.corpus, analysis, hellinger, options, progress);
  std::vector<double> sorted = analysis.null_largest;
  std::ranges::sort(sorted);
  analysis.threshold = sorted[static_cast<std::size_t>(threshold_rank(options.replicates, options.alpha) - 1)];
  add_spectrum(grid, *halves, options, analysis);
}

/// All eigenvalues of B, by the dual problem or a dense solver.
std::vector<double> whole_spectrum(const ProcessGrid& grid, const SquareRootDistributions& s, Index block) {
  if (s.column_count < s.row_count() && s.column_count <= dual_limit) {
    return classical_mds(grid, s, {.solver = Solver::dual, .components = 1}).spectrum.eigenvalues;
  }
  const DistributedMatrix gram = collective(grid.communicator(), "forming a Gram matrix", [&] { return hellinger_gram(grid, s, block); });
  return eigh(gram, {Solver::automatic, 1}).values;
}

/// The shuffled corpus's own geometry.
void add_shuffled(const ProcessGrid& grid, const NoiseTables& tables, const HellingerOptions& hellinger,
                  const NoiseAnalysisOptions& options, NoiseAnalysis& analysis) {
  const Communicator& comm = grid.communicator();
  analysis.shuffle = true;
  collective(comm, "comparing the shuffled corpus with the corpus", [&] {
    for (std::size_t i = 0; i < static_cast<std::size_t>(analysis.length); ++i) {
      const Count found = tables.shuffled->length >= analysis.length ? tables.shuffled->position_total[i] : 0;
      if (found == tables.corpus->position_total[i]) continue;
      throw Error(
          fmt::format("the noise analysis: the shuffled corpus holds {} tokens at position {}, the corpus {}: shuffling within "
                      "sequences keeps them, so these tables are not of one corpus and length; count it again",
                      found, i, tables.corpus->position_total[i]));
    }
  });
  const bool rarefied = tables.rarefied_shuffled != nullptr;
  HellingerOptions of_geometry = hellinger;
  if (rarefied) of_geometry.min_count = 1;
  const auto distributions = [&](const PositionCounts& counts) {
    return square_root_distributions(comm, counts, analysis.length, of_geometry);
  };
  const double real_trace = std::isnan(tables.trace) ? gram_trace(distributions(*tables.corpus)) : tables.trace;
  const SquareRootDistributions s = distributions(rarefied ? *tables.rarefied_shuffled : *tables.shuffled);
  analysis.shuffled_eigenvalues = whole_spectrum(grid, s, options.block);
  analysis.shuffled_trace = gram_trace(s);
  analysis.shuffled_rank = numerical_rank(analysis.shuffled_eigenvalues, MdsOptions{}.rank_tolerance, rounding_floor(s));
  const HellingerSummary summary = summarize_hellinger(comm, s);
  analysis.shuffled_violation_rate = summary.corpus_violation_rate;
  analysis.shuffled_sum_hellinger_squared = summary.sum_squared;
  // sum H^2 = m tr B for both.
  analysis.shuffled_share = real_trace > 0 ? analysis.shuffled_trace / real_trace : std::numeric_limits<double>::quiet_NaN();
}

/// What of the real halves' spectrum stands above that of the shuffled halves.
void add_order(const ProcessGrid& grid, const NoiseTables& tables, const HellingerOptions& hellinger, const NoiseAnalysisOptions& options,
               NoiseAnalysis& analysis) {
  const Communicator& comm = grid.communicator();
  if (analysis.position.empty()) {
    analysis.signal_rank_order = 0;
    return;
  }
  std::optional<noise::Halves> halves;
  {
    const PositionCounts half_b =
        second_half_together(comm, *tables.shuffled, *tables.shuffled_half_a, analysis.length, "the shuffled corpus");
    halves = halves_for(comm, *tables.shuffled_half_a, half_b, analysis, hellinger, options.seed, true);
  }
  const DistributedMatrix b_cv =
      collective(comm, "forming the shuffled halves' Gram matrix", [&] { return noise::split_gram(grid, *halves, options.block); });
  analysis.shuffled_split_largest = noise::split_pairs(grid, *halves, b_cv, 1).values.front();
  analysis.signal_rank_order =
      count_above(analysis.split_eigenvalues, std::max(analysis.shuffled_split_largest, rounding_floor(halves->a)));
}

}  // namespace

Index threshold_rank(Index replicates, double alpha) {
  if (std::isnan(alpha) || alpha <= 0 || alpha >= 1)
    throw Error(fmt::format("--alpha: found {}, expected a rate between 0 and 1", alpha), ErrorKind::usage);
  if (replicates < 1) throw Error(fmt::format("--replicates: found {}, expected at least 1", replicates), ErrorKind::usage);
  // 100 times 0.95 must be 95, not one unit in the last place more.
  const auto rank = static_cast<Index>(std::ceil(static_cast<double>(replicates + 1) * (1 - alpha) - 1e-9));
  if (rank > replicates) {
    throw Error(fmt::format("--replicates {} cannot give a threshold of --alpha {}: at least {} are needed", replicates, alpha,
                            static_cast<Index>(std::ceil(1 / alpha - 1e-9)) - 1),
                ErrorKind::usage);
  }
  return std::max<Index>(1, rank);
}

Count default_rarefied_total(const std::vector<Count>& half_totals) {
  const Count largest = half_totals.empty() ? 0 : std::ranges::max(half_totals);
  Count smallest = largest;
  for (const Count total : half_totals) {
    if (total > 0 && 100 * static_cast<double>(total) >= static_cast<double>(largest)) smallest = std::min(smallest, total);
  }
  return smallest;
}

NoiseAnalysis analyse_noise(const ProcessGrid& grid, const NoiseTables& tables, Index length, const HellingerOptions& hellinger,
                            const NoiseAnalysisOptions& options, const NoiseProgress& progress) {
  const PositionCounts& corpus = needed(tables.corpus);
  if (tables.half_a == nullptr) needed(tables.shuffled);
  expects(length >= 1 && length <= corpus.length && options.components >= 0, "a length that was counted");
  collective(grid.communicator(), "checking the options of the noise analysis", [&] {
    threshold_rank(options.replicates, options.alpha);
    if (options.rarefy < 0) throw Error(fmt::format("--rarefy: found {}, expected a number of tokens", options.rarefy), ErrorKind::usage);
  });
  NoiseAnalysis analysis;
  analysis.length = length;
  const auto totals = std::span(corpus.position_total).first(static_cast<std::size_t>(length));
  analysis.reached = std::ranges::count_if(totals, [&](Count n) { return n >= std::max<Count>(1, hellinger.min_count); });
  if (tables.half_a != nullptr) add_split(grid, tables, hellinger, options, progress, analysis);
  if (tables.shuffled != nullptr) add_shuffled(grid, tables, hellinger, options, analysis);
  if (analysis.split && analysis.shuffle && tables.shuffled_half_a != nullptr) add_order(grid, tables, hellinger, options, analysis);
  return analysis;
}

DistributedMatrix denoised_squared_distances(const ProcessGrid& grid, const NoiseTables& tables, const NoiseAnalysis& analysis,
                                             const HellingerOptions& hellinger, const NoiseAnalysisOptions& options) {
  const PositionCounts& half_a = needed(tables.half_a);
  expects(!analysis.position.empty(), "positions that take part");
  const Communicator& comm = grid.communicator();
  const PositionCounts half_b = second_half_together(comm, needed(tables.corpus), half_a, analysis.length, "the corpus");
  const noise::Halves halves = halves_for(comm, half_a, half_b, analysis, hellinger, options.seed, false);
  return noise::squared_distances(
      collective(comm, "forming the halves' Gram matrix", [&] { return noise::split_gram(grid, halves, options.block); }));
}

}  // namespace posgeom
