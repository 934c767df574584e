#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/jacobi.hpp"
#include "geometry/noise_split.hpp"
#include "geometry/rows.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom::noise {
namespace {

/// So many columns of Z, times m, are what one rank may hold.
constexpr Index most_columns = 2048;

/// Appends J S / 2, dense and column-major.
void append_centred(const SquareRootDistributions& s, std::vector<double>& z) {
  const auto rows = static_cast<std::size_t>(s.row_count());
  const std::size_t begin = z.size();
  for (const double mean : column_means(s)) z.insert(z.end(), rows, -mean / 2);
  for (std::size_t i = 0; i < rows; ++i) {
    for (auto e = static_cast<std::size_t>(s.row_begin[i]); e < static_cast<std::size_t>(s.row_end[i]); ++e) {
      z[begin + i + static_cast<std::size_t>(s.column[e]) * rows] += s.value[e] / 2;
    }
  }
}

}  // namespace

SplitPairs dual_split_pairs(const Halves& halves, Index vectors) {
  const auto m = static_cast<std::size_t>(halves.a.row_count());
  const auto c = 2 * static_cast<std::size_t>(halves.a.column_count);
  std::vector<double> z;
  append_centred(combination(halves, 1), z);
  append_centred(combination(halves, -1), z);
  const Communicator alone = Communicator::self();
  const ProcessGrid self(alone, 1, 1);
  const DistributedMatrix products = inner_products(self, z, halves.a.row_count(), static_cast<Index>(c));
  const DenseEigenpairs gram = dense_eigh(std::vector<double>(products.data().begin(), products.data().end()), static_cast<Index>(c));
  // What is left of gamma below its rounding is no direction of Z.
  const double rounding = static_cast<double>(c) * std::numeric_limits<double>::epsilon() * std::max(0.0, gram.values.front());
  const auto k =
      static_cast<std::size_t>(std::ranges::partition_point(gram.values, [&](double x) { return x > rounding; }) - gram.values.begin());
  SplitPairs pairs;
  pairs.values.assign(m, 0.0);
  pairs.vectors.assign(m * static_cast<std::size_t>(vectors), 0.0);
  if (k == 0) return pairs;

  std::vector<double> small(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t v = 0; v < c; ++v) sum += (v < c / 2 ? 1 : -1) * gram.vectors[v + i * c] * gram.vectors[v + j * c];
      small[i + j * k] = small[j + i * k] = sum * std::sqrt(gram.values[i]) * std::sqrt(gram.values[j]);
    }
  }
  const DenseEigenpairs solved = dense_eigh(std::move(small), static_cast<Index>(k));
  // The m - k zeros stand between the positive ones and the negative ones.
  std::ranges::copy(solved.values, pairs.values.begin());
  std::ranges::sort(pairs.values, std::greater{});
  for (std::size_t j = 0; j < std::min(static_cast<std::size_t>(vectors), k) && solved.values[j] > 0; ++j) {
    const auto column = std::span(pairs.vectors).subspan(j * m, m);
    for (std::size_t v = 0; v < c; ++v) {
      double coefficient = 0;
      for (std::size_t i = 0; i < k; ++i) {
        coefficient += gram.vectors[v + i * c] * solved.vectors[i + j * k] / std::sqrt(gram.values[i]);
      }
      for (std::size_t i = 0; i < m; ++i) column[i] += coefficient * z[i + v * m];
    }
  }
  return pairs;
}

SplitPairs split_pairs(const ProcessGrid& grid, const Halves& halves, const DistributedMatrix& b_cv, Index vectors) {
  const Communicator& comm = grid.communicator();
  const Index columns = 2 * halves.a.column_count;
  SplitPairs pairs;
  if (2 * columns <= halves.a.row_count() && columns <= most_columns) {
    pairs = collective(comm, "solving the dual eigenproblem of the halves",
                       [&] { return comm.is_root() ? dual_split_pairs(halves, vectors) : SplitPairs{}; });
    broadcast_resized(comm, pairs.values);
    broadcast_resized(comm, pairs.vectors);
    return pairs;
  }
  const Eigenpairs found = eigh(b_cv, {Solver::automatic, vectors});
  std::vector<Index> leading(static_cast<std::size_t>(vectors));
  std::iota(leading.begin(), leading.end(), Index{0});
  pairs.values = found.values;
  pairs.vectors = gather_columns(found.vectors, leading);
  return pairs;
}

}  // namespace posgeom::noise
