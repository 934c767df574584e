#include "geometry/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/jacobi.hpp"
#include "geometry/rows.hpp"
#include "geometry/spectrum.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

constexpr Index chunk = 256;

/// Row chunks of X = J S, dense.
class DualRows {
 public:
  explicit DualRows(const SquareRootDistributions& s) : s_(s), mean_(column_means(s)) {}

  /// Rows first .. first+count-1 as the columns of a column-major column_count x count matrix.
  std::span<const double> transposed(Index first, Index count) {
    values_.resize(static_cast<std::size_t>(s_.column_count * count));
    for (Index i = 0; i < count; ++i) {
      double* row = values_.data() + i * s_.column_count;
      std::transform(mean_.begin(), mean_.end(), row, [](double x) { return -x; });
      add_entries(first + i, [&](Index c, double x) { row[c] += x; });
    }
    return values_;
  }
  /// Rows first .. first+count-1 as a column-major count x column_count matrix.
  std::span<const double> straight(Index first, Index count) {
    values_.resize(static_cast<std::size_t>(s_.column_count * count));
    for (Index c = 0; c < s_.column_count; ++c) std::fill_n(values_.begin() + c * count, count, -mean_[static_cast<std::size_t>(c)]);
    for (Index i = 0; i < count; ++i) {
      add_entries(first + i, [&](Index c, double x) { values_[static_cast<std::size_t>(i + c * count)] += x; });
    }
    return values_;
  }

 private:
  template <class Add>
  void add_entries(Index row, Add add) const {
    for (Index e = s_.row_begin[static_cast<std::size_t>(row)]; e < s_.row_end[static_cast<std::size_t>(row)]; ++e) {
      add(s_.column[static_cast<std::size_t>(e)], s_.value[static_cast<std::size_t>(e)]);
    }
  }

  const SquareRootDistributions& s_;
  std::vector<double> mean_;
  std::vector<double> values_;
};

/// Calls body(first, count) for the chunks of 0 .. rows-1.
template <class Body>
void for_chunks(Index rows, Body body) {
  for (Index first = 0; first < rows; first += chunk) body(first, std::min(chunk, rows - first));
}

/// Rows first .. first+count-1 of the column-major rows x columns matrix as the columns of a columns x count one.
std::vector<double> transposed_rows(std::span<const double> matrix, Index rows, Index columns, Index first, Index count) {
  std::vector<double> part(static_cast<std::size_t>(columns * count));
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < count; ++i)
      part[static_cast<std::size_t>(j + i * columns)] = matrix[static_cast<std::size_t>(first + i + j * rows)];
  }
  return part;
}

/// X M, m x r, where `transposed_m` is r x column_count: body(first, count, product) for each chunk of rows.
template <class Body>
void multiply_rows(const ProcessGrid& self, DualRows& x, Index m, Index column_count, std::span<const double> transposed_m, Index r,
                   Body body) {
  for_chunks(m, [&](Index first, Index count) {
    DistributedMatrix product(self, count, r, default_block_size);
    rank_k_update(product, x.straight(first, count), transposed_m, column_count);
    body(first, count, product);
  });
}

/// |B p_j - lambda_j p_j| / sqrt(lambda_j) for each column, B P = X (X'P), without an m x m matrix.
std::vector<double> residual_norms(const ProcessGrid& self, DualRows& x, Index column_count, std::span<const double> p, Index m,
                                   std::span<const double> lambda) {
  const Index r = std::ssize(lambda);
  DistributedMatrix projected(self, r, column_count, default_block_size);  // P'X
  for_chunks(m, [&](Index first, Index count) {
    rank_k_update(projected, transposed_rows(p, m, r, first, count), x.transposed(first, count), count);
  });
  std::vector<double> sums(lambda.size(), 0.0);
  multiply_rows(self, x, m, column_count, projected.data(), r, [&](Index first, Index count, const DistributedMatrix& product) {
    for (Index j = 0; j < r; ++j) {
      const double eigenvalue = lambda[static_cast<std::size_t>(j)];
      for (Index i = 0; i < count; ++i) {
        const double difference = product.local(i, j) - eigenvalue * p[static_cast<std::size_t>(first + i + j * m)];
        sums[static_cast<std::size_t>(j)] += difference * difference / eigenvalue;
      }
    }
  });
  for (double& sum : sums) sum = std::sqrt(sum);
  return sums;
}

}  // namespace

DualPairs dual_eigenpairs(const SquareRootDistributions& s, double rank_tolerance, double floor) {
  const Index m = s.row_count();
  const Index v = s.column_count;
  DualPairs pairs;
  pairs.values.assign(static_cast<std::size_t>(m), 0.0);
  if (v == 0) return pairs;  // no token at all: B = 0
  const Communicator alone = Communicator::self();
  const ProcessGrid self(alone, 1, 1);
  DualRows x(s);
  DenseEigenpairs small;
  {
    DistributedMatrix gram(self, v, v, default_block_size);
    for_chunks(m, [&](Index first, Index count) {
      const auto rows = x.transposed(first, count);
      rank_k_update(gram, rows, rows, count);
    });
    small = dense_eigh(std::vector<double>(gram.data().begin(), gram.data().end()), v);
  }
  // B has m eigenvalues: where V_eff > m, (J S)'(J S) has V_eff - m more zeros, which are the smallest but for rounding.
  std::ranges::copy(std::span(small.values).first(static_cast<std::size_t>(std::min(v, m))), pairs.values.begin());
  const Index r = numerical_rank(pairs.values, rank_tolerance, floor);
  if (r == 0) return pairs;

  pairs.scaled.resize(static_cast<std::size_t>(m * r));
  const std::vector<double> transposed_w = transposed_rows(small.vectors, v, r, 0, v);
  small.vectors = {};
  multiply_rows(self, x, m, v, transposed_w, r, [&](Index first, Index count, const DistributedMatrix& product) {
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < count; ++i) pairs.scaled[static_cast<std::size_t>(first + i + j * m)] = product.local(i, j);
    }
  });

  // An error of eps lambda_1 in X'X is large against the smallest eigenvalues that count: make the columns orthogonal to their own
  // rounding, and take the eigenvalues from them.
  orthogonalise_columns(self, pairs.scaled, m, r);
  const DistributedMatrix products = inner_products(self, pairs.scaled, m, r);
  std::vector<Index> order(static_cast<std::size_t>(r));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater{}, [&](Index j) { return products.local(j, j); });
  std::vector<double> sorted(pairs.scaled.size());
  for (Index j = 0; j < r; ++j) {
    const Index from = order[static_cast<std::size_t>(j)];
    pairs.values[static_cast<std::size_t>(j)] = products.local(from, from);
    std::copy_n(pairs.scaled.begin() + from * m, m, sorted.begin() + j * m);
  }
  pairs.scaled = std::move(sorted);
  for (auto value = pairs.values.begin() + r; value != pairs.values.end(); ++value)
    *value = std::min(*value, pairs.values[static_cast<std::size_t>(r - 1)]);

  double departure = 0;
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i < r; ++i) {
      const double cosine = products.local(i, j) / std::sqrt(products.local(i, i) * products.local(j, j));
      departure += i == j ? 0.0 : cosine * cosine;
    }
  }
  const double unit = static_cast<double>(std::max(m, v)) * std::numeric_limits<double>::epsilon();
  double norm_squared = 0;
  for (const double value : pairs.values) norm_squared += value * value;
  pairs.orthogonality = std::sqrt(departure) / unit;
  pairs.residuals = residual_norms(self, x, v, pairs.scaled, m, std::span<const double>(pairs.values).first(static_cast<std::size_t>(r)));
  double residual_squared = 0;
  for (const double residual : pairs.residuals) residual_squared += residual * residual;
  pairs.residual = std::sqrt(residual_squared) / (std::sqrt(norm_squared) * unit);
  return pairs;
}

}  // namespace posgeom
