#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "posgeom/geometry/noise.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "support/world.hpp"
#include "synthetic.hpp"

/// Corpora with known truth, counted in two halves.
namespace posgeom::synthetic {

inline ProcessGrid grid() { return ProcessGrid::nearest_square(world()); }

inline std::vector<std::int32_t> first_positions(Index count) {
  std::vector<std::int32_t> positions;
  for (Index i = 0; i < count; ++i) positions.push_back(static_cast<std::int32_t>(i));
  return positions;
}

/// **Collective.** The matrix by columns, on every rank.
inline std::vector<double> whole(const DistributedMatrix& a) {
  std::vector<Index> columns;
  for (Index j = 0; j < a.columns(); ++j) columns.push_back(j);
  return gather_columns(a, columns);
}

using Distribution = std::vector<double>;

struct SplitCorpus {
  PositionCounts all;
  PositionCounts half_a;
  PositionCounts half_b;
  NoiseTables tables() const { return {.corpus = &all, .half_a = &half_a}; }
};

/// p_v proportional to 1 / (v + 1).
inline Distribution zipf(Index types) {
  Distribution p;
  for (Index v = 0; v < types; ++v) p.push_back(1 / static_cast<double>(v + 1));
  return p;
}

/// half_totals[i] tokens of position i in each half, independent draws from row i's (unnormalised) distribution.
inline SplitCorpus split_corpus(const std::vector<Distribution>& rows, const std::vector<Count>& half_totals, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::vector<Count>> a;
  std::vector<std::vector<Count>> b;
  std::vector<std::vector<Count>> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::discrete_distribution<int> type(rows[i].begin(), rows[i].end());
    for (auto* half : {&a, &b}) {
      half->emplace_back(rows[i].size(), 0);
      for (Count k = 0; k < half_totals[i]; ++k) ++half->back()[static_cast<std::size_t>(type(generator))];
    }
    all.push_back(a.back());
    for (std::size_t v = 0; v < all.back().size(); ++v) all.back()[v] += b.back()[v];
  }
  return {counts_of(all), counts_of(a), counts_of(b)};
}

/// Totals that fall as those of text do: from `first` to `last` tokens, geometrically.
inline std::vector<Count> falling_totals(Index length, double first, double last) {
  std::vector<Count> totals;
  for (Index i = 0; i < length; ++i) {
    totals.push_back(std::llround(first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(length - 1))));
  }
  return totals;
}

/// One common distribution, text-like totals: no signal.
inline SplitCorpus common_corpus(Index length, Index types, unsigned seed) {
  return split_corpus(std::vector<Distribution>(static_cast<std::size_t>(length), zipf(types)), falling_totals(length, 3000, 150), seed);
}

/// mu_i = sum_c w_c(i) q_c: three components of disjoint support, each Zipf, with smooth weights: S has rank 3, centred too.
inline std::vector<Distribution> planted_rows(Index length, Index types_each) {
  std::vector<Distribution> rows;
  for (Index i = 0; i < length; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(length - 1);
    Distribution row;
    for (const double centre : {0.0, 0.5, 1.0}) {
      const double weight = 0.05 + std::exp(-30 * (x - centre) * (x - centre));
      for (const double p : zipf(types_each)) row.push_back(weight * p);
    }
    double sum = 0;
    for (const double p : row) sum += p;
    for (double& p : row) p /= sum;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace posgeom::synthetic
