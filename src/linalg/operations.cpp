#include "posgeom/linalg/operations.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/scalapack.hpp"
#include "linalg/scaled_sum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {

void rank_k_update(DistributedMatrix& c, std::span<const double> row_panel, std::span<const double> column_panel, Index width) {
  expects(width >= 0 && std::ssize(row_panel) == c.local_rows() * width && std::ssize(column_panel) == c.local_columns() * width,
          "panels of local rows x width and local columns x width");
  if (c.local_rows() == 0 || c.local_columns() == 0 || width == 0) return;
  const int m = narrow_to_int(c.local_rows(), "the local rows of a matrix");
  const int n = narrow_to_int(c.local_columns(), "the local columns of a matrix");
  const int k = narrow_to_int(width, "the width of a rank-k update");
  const int ldc = narrow_to_int(c.leading_dimension(), "the leading dimension of a matrix");
  const double one = 1.0;
  scalapack::dgemm_("N", "T", &m, &n, &k, &one, row_panel.data(), &m, column_panel.data(), &n, &one, c.data().data(), &ldc);
}

void multiply_local(const LocalShape& shape, const double* a, const double* b, double beta, double* c) {
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) {
    for (Index e = 0; e < shape.m * shape.n; ++e) c[e] = beta == 0 ? 0.0 : beta * c[e];
    return;
  }
  const int m = narrow_to_int(shape.m, "the rows of a product");
  const int n = narrow_to_int(shape.n, "the columns of a product");
  const int k = narrow_to_int(shape.k, "the inner extent of a product");
  const double one = 1.0;
  scalapack::dgemm_(shape.transpose_a ? "T" : "N", shape.transpose_b ? "T" : "N", &m, &n, &k, &one, a, shape.transpose_a ? &k : &m, b,
                    shape.transpose_b ? &n : &k, &beta, c, &m);
}

void multiply(const DistributedMatrix& a, const DistributedMatrix& b, DistributedMatrix& c, bool transpose_a) {
  expects((transpose_a ? a.columns() : a.rows()) == c.rows() && (transpose_a ? a.rows() : a.columns()) == b.rows() &&
              b.columns() == c.columns(),
          "shapes that can be multiplied");
  expects(a.grid().context() == b.grid().context() && a.grid().context() == c.grid().context(), "three matrices of one process grid");
  expects(a.block() == b.block() && a.block() == c.block(), "three matrices of one block size");
  if (b.rows() == 0) std::ranges::fill(c.data(), 0.0);
  if (b.rows() == 0 || c.rows() == 0 || c.columns() == 0) return;
  const int m = c.descriptor()[2];
  const int n = c.descriptor()[3];
  const int k = b.descriptor()[2];
  const int first = 1;
  const double one = 1.0;
  const double zero = 0.0;
  scalapack::pdgemm_(transpose_a ? "T" : "N", "N", &m, &n, &k, &one, a.data().data(), &first, &first, a.descriptor().data(),
                     b.data().data(), &first, &first, b.descriptor().data(), &zero, c.data().data(), &first, &first, c.descriptor().data());
}

double frobenius_norm(const DistributedMatrix& a) {
  ScaledSum sum;
  for (const double x : a.data().first(static_cast<std::size_t>(a.local_rows() * a.local_columns()))) sum.add(x);
  return root_over_ranks(a.grid().communicator(), sum);
}

double trace(const DistributedMatrix& a) {
  double sum = 0;
  for (const BlockCyclic::Run& run : a.column_axis().blocks()) {
    for (Index k = 0; k < run.count; ++k) {
      const Index g = run.global + k;
      if (g < a.rows() && a.row_axis().owner(g) == a.grid().row()) sum += a.local(a.row_axis().local(g), run.local + k);
    }
  }
  return sum_over_ranks(a.grid().communicator(), sum);
}

std::vector<double> gather_columns(const DistributedMatrix& a, std::span<const Index> columns) {
  for (const Index g : columns) expects(g >= 0 && g < a.columns(), "a column of the matrix");
  const Communicator& comm = a.grid().communicator();
  auto all = collective(comm, "gathering columns of a matrix", [&] {
    std::vector<double> mine(static_cast<std::size_t>(a.rows() * std::ssize(columns)));
    const std::vector<BlockCyclic::Run> row_blocks = a.row_axis().blocks();
    for (Index k = 0; k < std::ssize(columns); ++k) {
      const Index g = columns[static_cast<std::size_t>(k)];
      if (a.column_axis().owner(g) != a.grid().column()) continue;
      const double* column = a.data().data() + a.column_axis().local(g) * a.leading_dimension();
      for (const BlockCyclic::Run& run : row_blocks) std::copy_n(column + run.local, run.count, mine.data() + k * a.rows() + run.global);
    }
    return mine;
  });
  // Each element is one rank's value plus zeros: exact.
  all_reduce(comm, std::span(all));
  return all;
}

void fill(DistributedMatrix& a, const std::function<double(Index, Index)>& f) {
  const std::vector<BlockCyclic::Run> row_blocks = a.row_axis().blocks();
  for (const BlockCyclic::Run& columns : a.column_axis().blocks()) {
    for (Index k = 0; k < columns.count; ++k) {
      for (const BlockCyclic::Run& rows : row_blocks) {
        for (Index i = 0; i < rows.count; ++i) a.local(rows.local + i, columns.local + k) = f(rows.global + i, columns.global + k);
      }
    }
  }
}

}  // namespace posgeom
