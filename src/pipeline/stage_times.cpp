#include "pipeline/stage_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "posgeom/geometry/mds.hpp"

namespace posgeom {
namespace {

constexpr double nanosecond = 1e-9;
/// Nanoseconds on one core with AVX-512, fitted to the stages at m = 1024, 2048 and 4096 on packed text (novels, 3.7 to 5.7
/// million nonzeros).
constexpr double row_product = 0.17;  ///< a nonzero of one row against another row
constexpr double pair_sums = 3;       ///< square root and sums of one pair at one d
constexpr double pair_column = 0.10;  ///< one more column of one pair
constexpr double pair_sorted = 80;    ///< Spearman, one pair at one d
constexpr double violation = 33;      ///< an anchor's entry at one d
constexpr double lag_pair = 1.5;      ///< a pair of the per-lag sums

/// A nonzero of a replicate of the global null: drawn, and met in the steps of Lanczos; and a token drawn.
constexpr double null_nonzero = 25, null_step = 0.7, null_token = 2;
/// Each type costs its turn, whether it was drawn or not.
constexpr double null_type = 60, null_type_step = 1.5;
constexpr double null_steps = 70;
constexpr double half_nonzero = 150;  ///< a nonzero of the halves: read, drawn, put together

/// One ordered pair of a pass of smacof, at d = 0 and a column more.
constexpr double smacof_pair = 2, smacof_column = 0.125;
constexpr Index usual_passes = 700;

constexpr double gram_product = 0.07;  ///< a nonzero of S against a row
constexpr double dual_cube = 30;       ///< DGEMM operations for each of V^3

/// Nanoseconds a token of a token file, by the length (packed; from the file to the counts in memory).
struct CountRate {
  double length;
  double nanoseconds;
};
constexpr std::array<CountRate, 3> token_rates{{{64, 1.6}, {1024, 2.2}, {16384, 6.4}}};
constexpr double stored_nanoseconds = 40;  ///< a nonzero count: gathered, written, read back and checked
/// Of one replicate of the bootstrap: a token counted once more; a nonzero put together, and S formed of it, on every rank.
constexpr double resampled_token = 2, resampled_nonzero = 160;
constexpr double split_factor = 1.3;
constexpr double shuffle_factor = 4;

double token_rate(double length) {
  if (length <= token_rates.front().length) return token_rates.front().nanoseconds;
  for (std::size_t k = 1; k < token_rates.size(); ++k) {
    if (length > token_rates[k].length) continue;
    const double part = std::log(length / token_rates[k - 1].length) / std::log(token_rates[k].length / token_rates[k - 1].length);
    return token_rates[k - 1].nanoseconds + part * (token_rates[k].nanoseconds - token_rates[k - 1].nanoseconds);
  }
  return token_rates.back().nanoseconds;
}

/// And where the text is compressed (xz, the slowest but for bz2, at some 4 bytes a token).
constexpr double decompressed_token = 50;

/// Nanoseconds a token of text.
double text_rate(TokenizerKind tokenizer) {
  switch (tokenizer) {
    case TokenizerKind::wordpiece:
      return 220;
    case TokenizerKind::sentencepiece:
      return 1500;
    case TokenizerKind::whitespace:
      return 150;
    default:
      return 10;
  }
}

}  // namespace

double count_seconds(const Config& config, const CorpusEstimate& corpus, Index stored, Index ranks, const MachineRates& rates) {
  const bool text = corpus.text;
  const bool packed = config.sequences == Sequences::packed;
  const auto tokens = static_cast<double>(corpus.token_count);
  // A vocabulary is built in a pass of its own; where documents and blocks stand is found in another one, with the tokens for packed ones.
  const bool built = text && builds_vocabulary(config.corpus);
  const bool indexed = text && (packed || config.noise.split || config.noise.shuffle);
  double nanoseconds = text ? text_rate(config.corpus.tokenizer) * (1 + (built ? 1 : 0) + (packed ? 1 : 0)) : 0;
  if (corpus.compressed) nanoseconds += decompressed_token * (1 + (built ? 1 : 0) + (indexed ? 1 : 0));
  double counting = 0;
  for (const Index length : config.lengths) {
    // One table serves all lengths of documents.
    if (config.sequences == Sequences::document && length != config.lengths.back() && !config.noise.shuffle) continue;
    double one = token_rate(static_cast<double>(length));
    if (config.noise.split) one *= split_factor;
    if (config.noise.shuffle) one *= shuffle_factor;
    counting += one;
  }
  // A compressed file is read by one rank, and a stream of several too.
  const Index readers = corpus.streams == 0 ? ranks : packed ? 1 : std::min(ranks, corpus.streams);
  const double tables = (config.noise.split ? 2.0 : 1.0) * (config.noise.shuffle ? 2.0 : 1.0);
  const double seconds = tokens * (nanoseconds + counting) / static_cast<double>(readers) +
                         static_cast<double>(stored) * tables * stored_nanoseconds / static_cast<double>(ranks);
  return stage_start_seconds + seconds * nanosecond * rates.slowness;
}

double resampled_seconds(const Config& config, const CorpusEstimate& corpus, Index stored, Index replicates, Index passes, Index ranks,
                         const MachineRates& rates) {
  const auto count = static_cast<double>(replicates);
  const double reading = count_seconds(config, corpus, 0, ranks, rates) - stage_start_seconds;
  const double each = static_cast<double>(corpus.token_count) * resampled_token / static_cast<double>(ranks) +
                      static_cast<double>(stored) * resampled_nonzero;
  return static_cast<double>(passes) * reading + count * each * nanosecond * rates.slowness;
}

double spectrum_seconds(const SpectrumWork& work, Solver solver, Index ranks, const MachineRates& rates) {
  const auto m = static_cast<double>(work.s.rows);
  if (solver == Solver::dual) {  // on the root alone
    const auto v = static_cast<double>(work.types > 0 ? work.types : work.s.rows);
    return stage_start_seconds + (m * v * v + dual_cube * v * v * v) / rates.dgemm_flops;
  }
  const SolverRates solver_rates{.dgemm_flops = rates.dgemm_flops, .threads = rates.threads};
  if (solver == Solver::krylov)
    return stage_start_seconds + krylov_seconds(work.s, std::max<Index>(work.vectors, 1), static_cast<int>(ranks), solver_rates);
  const double gram = m * static_cast<double>(work.s.nonzeros) * gram_product * nanosecond * rates.slowness / static_cast<double>(ranks);
  return stage_start_seconds + gram + predicted_seconds({solver, work.vectors}, work.s.rows, static_cast<int>(ranks), solver_rates);
}

double stress_seconds(const StressWork& work, Index ranks, const MachineRates& rates) {
  const auto rows = static_cast<double>(work.rows);
  const double pairs = rows * (rows - 1) / 2;
  const auto cells = static_cast<double>(work.cells);
  const auto columns = static_cast<double>(work.columns);
  double total = rows * static_cast<double>(work.nonzeros) / 2 * row_product;
  total += pairs * (cells * pair_sums + columns * pair_column);
  if (work.violations) total += rows * rows * (cells * violation + columns * pair_column);
  if (work.spearman) total += pairs * ((cells + 1) * pair_sorted + columns * pair_column);
  if (work.lag_kernels) total += 2 * pairs * lag_pair;
  return total * nanosecond * rates.slowness / static_cast<double>(ranks);
}

double smacof_seconds(Index rows, const std::vector<Index>& dimensions, Index iterations, Index ranks, const MachineRates& rates) {
  const auto pairs = static_cast<double>(rows) * static_cast<double>(rows);
  double total = 0;
  for (const Index d : dimensions) total += pairs * (smacof_pair + smacof_column * static_cast<double>(d));
  return total * static_cast<double>(std::min(iterations, usual_passes)) * nanosecond * rates.slowness / static_cast<double>(ranks);
}

double noise_seconds(const NoiseWork& work, const EighOptions& eigen, Index ranks, const MachineRates& rates) {
  const auto m = static_cast<double>(work.rows), p = static_cast<double>(ranks);
  const auto nonzeros = static_cast<double>(work.nonzeros), half = static_cast<double>(work.half_nonzeros);
  const double unit = nanosecond * rates.slowness;
  const double gram = m * nonzeros * gram_product * unit / p;
  const double solving =
      predicted_seconds(eigen, work.rows, static_cast<int>(ranks), {.dgemm_flops = rates.dgemm_flops, .threads = rates.threads});
  double seconds = 0;
  if (work.split) {
    const double steps = std::min(null_steps, m);
    const double replicate = 2 * half * (null_nonzero + null_step * steps) + work.tokens * null_token +
                             2 * static_cast<double>(work.types) * (null_type + null_type_step * steps);
    const double rounds = std::ceil(static_cast<double>(work.replicates) / p);  // a replicate is one rank's
    seconds += rounds * replicate * unit + 2 * gram + solving + 4 * half * half_nonzero * unit + m * half * row_product * unit / p;
  }
  if (work.shuffle) seconds += gram + solving + summary_seconds(work.rows, work.nonzeros, ranks, rates);
  if (work.split && work.shuffle) seconds += 2 * gram + solving + 4 * half * half_nonzero * unit;
  return seconds;
}

double summary_seconds(Index rows, Index nonzeros, Index ranks, const MachineRates& rates) {
  const auto m = static_cast<double>(rows);
  const double total = m * static_cast<double>(nonzeros) * row_product + m * m * (violation + pair_sums);
  return total * nanosecond * rates.slowness / static_cast<double>(ranks);
}

}  // namespace posgeom
