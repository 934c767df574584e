#include "geometry/noise_split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "geometry/anchor_blocks.hpp"
#include "geometry/compensated_sum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom::noise {
namespace {

void append_rows(const PositionCounts& from, std::span<const std::int32_t> positions, PositionCounts& to) {
  for (const std::int32_t i : positions) {
    const auto tokens = from.tokens_at(i);
    const auto occurrences = from.counts_at(i);
    to.token.own().insert(to.token.own().end(), tokens.begin(), tokens.end());
    to.count.own().insert(to.count.own().end(), occurrences.begin(), occurrences.end());
    to.indptr.push_back(std::ssize(to.token));
    to.position_total.push_back(from.position_total[static_cast<std::size_t>(i)]);
  }
}

/// Rows first .. first+count-1 of `s`, standing at `positions`.
SquareRootDistributions some_rows(const SquareRootDistributions& s, Index first, Index length, std::span<const std::int32_t> positions) {
  SquareRootDistributions part;
  part.length = length;
  part.column_count = s.column_count;
  part.position.assign(positions.begin(), positions.end());
  const auto begin = static_cast<std::size_t>(first);
  const Index offset = s.row_begin[begin];
  for (std::size_t k = begin; k < begin + positions.size(); ++k) {
    part.row_begin.push_back(s.row_begin[k] - offset);
    part.row_end.push_back(s.row_end[k] - offset);
  }
  part.column.assign(s.column.begin() + offset, s.column.begin() + offset + part.row_end.back());
  part.value.assign(s.value.begin() + offset, s.value.begin() + offset + part.row_end.back());
  return part;
}

/// Calls body(i, j, local i, local j) for this rank's elements.
template <class Body>
void each_element(const DistributedMatrix& a, Body body) {
  for (const BlockCyclic::Run& column : a.column_axis().blocks()) {
    for (const BlockCyclic::Run& row : a.row_axis().blocks()) {
      for (Index j = 0; j < column.count; ++j) {
        for (Index i = 0; i < row.count; ++i) body(row.global + i, column.global + j, row.local + i, column.local + j);
      }
    }
  }
}

/// **Collective.** The diagonal, on every rank.
std::vector<double> diagonal_of(const DistributedMatrix& a) {
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows()), 0.0);
  each_element(a, [&](Index i, Index j, Index local_i, Index local_j) {
    if (i == j) diagonal[static_cast<std::size_t>(i)] = a.local(local_i, local_j);
  });
  all_reduce(a.grid().communicator(), std::span<double>(diagonal));
  return diagonal;
}

}  // namespace

std::vector<Count> half_totals(const PositionCounts& half_a, const PositionCounts& half_b, Index length, const HellingerOptions& options) {
  std::vector<Count> totals;
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
    const Count a = half_a.position_total[i];
    const Count b = half_b.position_total[i];
    totals.push_back(a + b >= std::max<Count>(1, options.min_count) ? std::min(a, b) : 0);
  }
  return totals;
}

Halves halves_of(const PositionCounts& a, const PositionCounts& b, std::span<const std::int32_t> positions,
                 const HellingerOptions& options) {
  // Both halves' rows as one table: one numbering of the columns.
  PositionCounts both;
  both.length = 2 * std::ssize(positions);
  both.vocab_size = a.vocab_size;
  both.indptr.push_back(0);
  append_rows(a, positions, both);
  append_rows(b, positions, both);
  expects(std::ranges::all_of(both.position_total, [](Count n) { return n > 0; }), "rows with tokens");
  const SquareRootDistributions s =
      square_root_distributions(both, both.length, {.unreached = Unreached::drop, .min_count = 1, .unit_range = options.unit_range});
  return {some_rows(s, 0, a.length, positions), some_rows(s, std::ssize(positions), a.length, positions)};
}

Halves rarefied_halves(const Communicator& comm, const PositionCounts& half_a, const PositionCounts& half_b, Index length,
                       std::span<const std::int32_t> positions, Count total, std::uint64_t seed, bool shuffled,
                       const HellingerOptions& options) {
  const PositionCounts a =
      rarefied(comm, half_a, length, positions, total, seed, shuffled ? RarefiedTable::shuffled_half_a : RarefiedTable::half_a);
  const PositionCounts b =
      rarefied(comm, half_b, length, positions, total, seed, shuffled ? RarefiedTable::shuffled_half_b : RarefiedTable::half_b);
  return collective(comm, "forming the halves' distributions", [&] { return halves_of(a, b, positions, options); });
}

SquareRootDistributions combination(const Halves& halves, double sign) {
  const SquareRootDistributions& a = halves.a;
  const SquareRootDistributions& b = halves.b;
  SquareRootDistributions sum;
  sum.length = a.length;
  sum.column_count = a.column_count;
  sum.position = a.position;
  const auto add = [&sum](std::int32_t column, double value) {
    sum.column.push_back(column);
    sum.value.push_back(value);
  };
  for (std::size_t i = 0; i < a.position.size(); ++i) {
    sum.row_begin.push_back(std::ssize(sum.value));
    auto e = static_cast<std::size_t>(a.row_begin[i]);
    auto f = static_cast<std::size_t>(b.row_begin[i]);
    const auto e_end = static_cast<std::size_t>(a.row_end[i]);
    const auto f_end = static_cast<std::size_t>(b.row_end[i]);
    while (e < e_end || f < f_end) {
      if (f == f_end || (e < e_end && a.column[e] < b.column[f])) {
        add(a.column[e], a.value[e]);
        ++e;
      } else if (e == e_end || b.column[f] < a.column[e]) {
        add(b.column[f], sign * b.value[f]);
        ++f;
      } else {
        add(a.column[e], a.value[e] + sign * b.value[f]);
        ++e;
        ++f;
      }
    }
    sum.row_end.push_back(std::ssize(sum.value));
  }
  return sum;
}

DistributedMatrix split_gram(const ProcessGrid& grid, const Halves& halves, Index block) {
  DistributedMatrix b = hellinger_gram(grid, combination(halves, 1), block);
  const DistributedMatrix difference = hellinger_gram(grid, combination(halves, -1), block);
  std::ranges::transform(b.data(), difference.data(), b.data().begin(), [](double x, double y) { return (x - y) / 4; });
  return b;
}

DistributedMatrix squared_distances(const DistributedMatrix& b) {
  const std::vector<double> diagonal = diagonal_of(b);
  DistributedMatrix squared = b;
  each_element(b, [&](Index i, Index j, Index local_i, Index local_j) {
    const double norms = diagonal[static_cast<std::size_t>(i)] + diagonal[static_cast<std::size_t>(j)];
    squared.local(local_i, local_j) = i == j ? 0.0 : norms - 2 * b.local(local_i, local_j);
  });
  return squared;
}

Index negative_distances(const DistributedMatrix& b) {
  const std::vector<double> diagonal = diagonal_of(b);
  Index negative = 0;
  each_element(b, [&](Index i, Index j, Index local_i, Index local_j) {
    const double norms = diagonal[static_cast<std::size_t>(i)] + diagonal[static_cast<std::size_t>(j)];
    if (i < j && norms - 2 * b.local(local_i, local_j) < 0) ++negative;
  });
  return all_reduce(b.grid().communicator(), negative);
}

double reliability(const Communicator& comm, const Halves& halves) {
  const Index m = halves.a.row_count();
  struct Workspace {
    HellingerRows a, b;
    std::vector<double> of_a, of_b;
  };
  const auto room = static_cast<std::size_t>(m * HellingerRows::row_block);
  Workspace work = collective(comm, "preparing the halves' distances", [&] {
    return Workspace{HellingerRows(halves.a), HellingerRows(halves.b), std::vector<double>(room), std::vector<double>(room)};
  });
  const AnchorBlocks blocks(comm, m);
  std::array<CompensatedSum, 5> sums;
  for (Index round = 0; round < blocks.rounds(); ++round) {
    const auto [first, count] = blocks.block(round);
    if (count == 0) continue;
    work.a.compute(first, count, first, m - first, work.of_a);
    work.b.compute(first, count, first, m - first, work.of_b);
    for (Index r = 0; r < count; ++r) {
      std::array<double, 5> row{};
      for (Index j = r + 1; j < m - first; ++j) {
        const double x = work.of_a[static_cast<std::size_t>(r * (m - first) + j)];
        const double y = work.of_b[static_cast<std::size_t>(r * (m - first) + j)];
        row[0] += x;
        row[1] += y;
        row[2] += x * x;
        row[3] += y * y;
        row[4] += x * y;
      }
      for (std::size_t k = 0; k < row.size(); ++k) sums[k].add(row[k]);
    }
  }
  combine(comm, sums);
  const double pairs = static_cast<double>(m) * static_cast<double>(m - 1) / 2;
  const auto sum = [&](std::size_t k) { return sums[k].value(); };
  const double xx = sum(2) - sum(0) * sum(0) / pairs;
  const double yy = sum(3) - sum(1) * sum(1) / pairs;
  // Below the rounding of the sums, all distances are equal.
  constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
  const bool both_vary = pairs > 1 && xx > rounding * sum(2) && yy > rounding * sum(3);
  if (!both_vary) return std::numeric_limits<double>::quiet_NaN();
  return (sum(4) - sum(0) * sum(1) / pairs) / std::sqrt(xx * yy);
}

}  // namespace posgeom::noise

namespace posgeom {

Index noise_bytes(const NoiseSize& size, const GridShape& shape, Index block, Index eigen) {
  const Index gram = gram_bytes(size.whole, shape, block);
  // Every rank has the second half, both rarefied ones, their rows in one table (and half of it once more when it last grew), S of that,
  // and S of each half.
  const Index cell = sizeof(Token) + sizeof(Count);
  const Index halves = 2 * size.rarefied.bytes();
  // Tables that grew by doubling leave their earlier arrays behind, and a rank's drawn rows once all have them, which glibc's malloc keeps
  // below 32 MiB.
  constexpr Index kept_below = Index{1} << 25;
  const Index kept = size.half.nonzeros * static_cast<Index>(sizeof(Count)) < kept_below ? 1 : 0;
  const Index ranks = Index{shape.rows} * shape.columns;
  const Index drawn = ranks > 1 ? kept * size.rarefied.nonzeros / ranks : 0;
  const Index forming = cell * (size.half.nonzeros * (1 + kept) + size.rarefied.nonzeros * (2 + 3) + drawn) + 2 * halves;
  const Index rows = BlockCyclic{size.rarefied.rows, block, shape.rows, 0}.local_extent();
  const Index columns = BlockCyclic{size.rarefied.rows, block, shape.columns, 0}.local_extent();
  // Their sum and difference have as many entries as the whole, nearly, or as both together.
  const Index products = halves + std::min(size.whole.bytes(), halves) + static_cast<Index>(sizeof(double)) * rows * columns + gram;
  const Index of_split = size.split ? std::max({forming, products, halves + eigen}) : 0;
  const Index of_shuffled = size.shuffle ? size.whole.bytes() + std::max(gram, eigen) : 0;
  return std::max(of_split, of_shuffled);
}

}  // namespace posgeom
