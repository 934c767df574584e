#include "pipeline/stage_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

constexpr double gram_product = 0.07;  ///< a nonzero of S against a row
constexpr double dual_cube = 30;       ///< DGEMM operations for each of V^3

/// Nanoseconds a token of a token file, by the length (packed; from the file to the counts in memory).
struct CountRate {
  double length;
  double nanoseconds;
};
constexpr std::array<CountRate, 3> token_rates{{{64, 1.6}, {1024, 2.2}, {16384, 6.4}}};
constexpr double start_seconds = 0.3;      ///< of any stage: reading, checking, writing little
constexpr double stored_nanoseconds = 40;  ///< a nonzero count: gathered, written, read back and checked
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

/// Nanoseconds a token of text.
double text_rate(TokenizerKind tokenizer) {
  switch (tokenizer) {
    case TokenizerKind::wordpiece:
      return 300;
    case TokenizerKind::sentencepiece:
      return 1500;
    case TokenizerKind::whitespace:
      return 150;
    default:
      return 10;
  }
}

}  // namespace

double count_seconds(const Config& config, Index tokens, Index stored, Index ranks, const MachineRates& rates) {
  const bool text = !holds_tokens(config.corpus.format);
  const bool windows = config.sequences != Sequences::document;
  double nanoseconds = text ? text_rate(config.corpus.tokenizer) : 0;
  for (const Index length : config.lengths) {
    if (!windows && length != config.lengths.back() && !config.noise.shuffle) continue;  // one table serves all
    double one = token_rate(static_cast<double>(length));
    if (config.noise.split) one *= split_factor;
    if (config.noise.shuffle) one *= shuffle_factor;
    nanoseconds += one;
  }
  const double tables = (config.noise.split ? 2.0 : 1.0) * (config.noise.shuffle ? 2.0 : 1.0);
  const double seconds = (static_cast<double>(tokens) * nanoseconds + static_cast<double>(stored) * tables * stored_nanoseconds) *
                         nanosecond * rates.slowness / static_cast<double>(ranks);
  return start_seconds + seconds;
}

double spectrum_seconds(const SpectrumWork& work, Solver solver, Index ranks, const MachineRates& rates) {
  const auto m = static_cast<double>(work.rows);
  if (solver == Solver::dual) {  // on the root alone
    const auto v = static_cast<double>(work.types > 0 ? work.types : work.rows);
    return start_seconds + (m * v * v + dual_cube * v * v * v) / rates.dgemm_flops;
  }
  const double gram = m * static_cast<double>(work.nonzeros) * gram_product * nanosecond * rates.slowness / static_cast<double>(ranks);
  const SolverRates solver_rates{.dgemm_flops = rates.dgemm_flops, .threads = rates.threads};
  return start_seconds + gram + predicted_seconds({solver, work.vectors}, work.rows, static_cast<int>(ranks), solver_rates);
}

double stress_seconds(const StressWork& work, Index ranks, const MachineRates& rates) {
  const auto rows = static_cast<double>(work.rows);
  const double pairs = rows * (rows - 1) / 2;
  const auto cells = static_cast<double>(work.cells);
  const auto columns = static_cast<double>(work.columns);
  double total = rows * static_cast<double>(work.nonzeros) / 2 * row_product;
  total += pairs * (cells * pair_sums + columns * pair_column);
  total += rows * rows * (cells * violation + columns * pair_column);
  total += pairs * ((cells + 1) * pair_sorted + columns * pair_column);
  if (work.lag_kernels) total += 2 * pairs * lag_pair;
  return total * nanosecond * rates.slowness / static_cast<double>(ranks);
}

double summary_seconds(Index rows, Index nonzeros, Index ranks, const MachineRates& rates) {
  const auto m = static_cast<double>(rows);
  const double total = m * static_cast<double>(nonzeros) * row_product + m * m * (violation + pair_sums);
  return total * nanosecond * rates.slowness / static_cast<double>(ranks);
}

}  // namespace posgeom
