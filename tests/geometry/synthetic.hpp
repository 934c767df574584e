#pragma once
#include <map>
#include <random>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"

namespace posgeom::synthetic {

/// Counts of which row i, token v holds table[i][v]; zeros are left out.
inline PositionCounts counts_of(const std::vector<std::vector<Count>>& table) {
  PositionCounts counts;
  counts.length = std::ssize(table);
  counts.vocab_size = std::ssize(table.front());
  counts.indptr.push_back(0);
  for (const auto& row : table) {
    Count total = 0;
    for (std::size_t v = 0; v < row.size(); ++v) {
      if (row[v] == 0) continue;
      counts.token.push_back(static_cast<Token>(v));
      counts.count.push_back(row[v]);
      total += row[v];
    }
    counts.position_total.push_back(total);
    counts.indptr.push_back(std::ssize(counts.token));
  }
  return counts;
}

/// `length` positions over `vocab_size` tokens whose weights drift with the position; about `fill` of the cells are not zero. Position 0
/// always holds a token.
inline std::vector<std::vector<Count>> drifting_table(Index length, Index vocab_size, double fill, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::vector<Count>> table(static_cast<std::size_t>(length), std::vector<Count>(static_cast<std::size_t>(vocab_size), 0));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t v = 0; v < table[i].size(); ++v) {
      const double drift = 1 + std::cos(0.1 * static_cast<double>(i) + static_cast<double>(v));
      if (uniform(generator) < fill) table[i][v] = 1 + static_cast<Count>(40 * drift * uniform(generator));
    }
    if (i == 0 && table[0][0] == 0) table[0][0] = 5;
  }
  return table;
}

inline PositionCounts drifting_counts(Index length, Index vocab_size, double fill, unsigned seed) {
  return counts_of(drifting_table(length, vocab_size, fill, seed));
}

/// The same table with empty rows at `holes`.
inline PositionCounts with_holes(std::vector<std::vector<Count>> table, const std::vector<std::size_t>& holes) {
  for (const std::size_t i : holes) std::fill(table[i].begin(), table[i].end(), 0);
  return counts_of(table);
}

/// Three positions with one token each, all different: H = sqrt 2 between any two.
inline PositionCounts three_disjoint() { return counts_of({{3, 0, 0}, {0, 5, 0}, {0, 0, 7}}); }

}  // namespace posgeom::synthetic
