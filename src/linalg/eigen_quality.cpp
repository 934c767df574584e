#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "linalg/eigen_backends.hpp"
#include "linalg/scalapack.hpp"
#include "linalg/scaled_sum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Columns begin .. begin + width - 1 of the vectors, and an n x width matrix to compute in. Panels begin at multiples of block * process
/// columns, so that a panel's columns lie on the ranks, and in the order, of the same columns of the vectors.
struct Panel {
  Index begin = 0;
  Index width = 0;
  DistributedMatrix* scratch = nullptr;

  std::vector<BlockCyclic::Run> column_blocks() const {
    BlockCyclic columns = scratch->column_axis();
    columns.extent = width;
    return columns.blocks();
  }
  int first() const { return static_cast<int>(begin) + 1; }
  int columns() const { return static_cast<int>(width); }
};

/// Adds the squares of A Z - Z W on the panel's columns, to sums[j] for column j.
void add_residual(std::span<ScaledSum> sums, const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& z,
                  const Panel& panel) {
  DistributedMatrix& c = *panel.scratch;
  const Index local_begin = z.column_axis().local(panel.begin);
  const std::vector<BlockCyclic::Run> column_blocks = panel.column_blocks();
  for (const BlockCyclic::Run& run : column_blocks) {
    for (Index k = 0; k < run.count; ++k) {
      const double value = values[static_cast<std::size_t>(panel.begin + run.global + k)];
      for (Index i = 0; i < c.local_rows(); ++i) c.local(i, run.local + k) = value * z.local(i, local_begin + run.local + k);
    }
  }
  const int n = z.descriptor()[2];
  const int columns = panel.columns();
  const int one = 1;
  const int first = panel.first();
  const double plus = 1.0;
  const double minus = -1.0;
  scalapack::pdgemm_("N", "N", &n, &columns, &n, &plus, a.data().data(), &one, &one, a.descriptor().data(), z.data().data(), &one, &first,
                     z.descriptor().data(), &minus, c.data().data(), &one, &one, c.descriptor().data());
  for (const BlockCyclic::Run& run : column_blocks) {
    for (Index k = 0; k < run.count; ++k) {
      ScaledSum& sum = sums[static_cast<std::size_t>(panel.begin + run.global + k)];
      for (Index i = 0; i < c.local_rows(); ++i) sum.add(c.local(i, run.local + k));
    }
  }
}

/// Adds the squares of Z'Z - I on the panel's columns and the rows of the same columns; those of the rows below twice, for the symmetric
/// other half.
void add_orthogonality(ScaledSum& sum, const DistributedMatrix& z, const Panel& panel) {
  DistributedMatrix& c = *panel.scratch;
  const int n = z.descriptor()[2];
  const int rows = static_cast<int>(z.columns() - panel.begin);
  const int columns = panel.columns();
  const int one = 1;
  const int first = panel.first();
  const double plus = 1.0;
  const double zero = 0.0;
  scalapack::pdgemm_("T", "N", &rows, &columns, &n, &plus, z.data().data(), &one, &first, z.descriptor().data(), z.data().data(), &one,
                     &first, z.descriptor().data(), &zero, c.data().data(), &first, &one, c.descriptor().data());
  const std::vector<BlockCyclic::Run> row_blocks = c.row_axis().blocks();
  for (const BlockCyclic::Run& column_run : panel.column_blocks()) {
    for (Index k = 0; k < column_run.count; ++k) {
      const Index column = panel.begin + column_run.global + k;
      for (const BlockCyclic::Run& row_run : row_blocks) {
        for (Index i = 0; i < row_run.count; ++i) {
          const Index row = row_run.global + i;
          if (row < panel.begin || row >= z.columns()) continue;
          sum.add(c.local(row_run.local + i, column_run.local + k) - (row == column ? 1.0 : 0.0),
                  row < panel.begin + panel.width ? 1.0 : 2.0);
        }
      }
    }
  }
}

}  // namespace

double relative_residual(std::span<const double> residuals, double norm) {
  ScaledSum distance;
  for (const double r : residuals) distance.add(r);
  return norm == 0 && distance.root() == 0 ? 0.0 : distance.root() / norm;
}

EigenQuality eigen_quality(const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& vectors) {
  const Index n = a.rows();
  const Index count = vectors.columns();
  expects(a.columns() == n && vectors.rows() == n && count <= n && std::ssize(values) == count, "n x n and n x k matrices and k values");
  expects(a.grid().context() == vectors.grid().context() && a.block() == vectors.block(), "matrices of one process grid and block size");
  if (count == 0) return {};

  const Communicator& comm = a.grid().communicator();
  const Index step = a.block() * a.grid().columns();
  const Index width = (std::max(Index{512}, count / 8) + step - 1) / step * step;
  DistributedMatrix scratch =
      collective(comm, "checking eigenpairs", [&] { return DistributedMatrix(a.grid(), n, std::min(width, count), a.block()); });
  auto residuals = collective(comm, "checking eigenpairs", [&] { return std::vector<ScaledSum>(values.size()); });
  ScaledSum orthogonality;
  for (Index begin = 0; begin < count; begin += width) {
    const Panel panel{begin, std::min(width, count - begin), &scratch};
    add_residual(residuals, a, values, vectors, panel);
    add_orthogonality(orthogonality, vectors, panel);
  }
  const double unit = static_cast<double>(n) * eps;
  EigenQuality quality{
      .residual = 0, .orthogonality = root_over_ranks(comm, orthogonality) / unit, .residuals = roots_over_ranks(comm, residuals)};
  quality.residual = relative_residual(quality.residuals, frobenius_norm(a)) / unit;
  return quality;
}

void require_quality(const EigenQuality& quality, std::string_view solver, Index n) {
  if (quality.residual <= residual_limit && quality.orthogonality <= orthogonality_limit) return;  // false for NaN too
  throw Error(fmt::format(
      "{} gave wrong eigenpairs for a {} x {} matrix: residual {:.3g} and orthogonality {:.3g}, where right ones stay below {} and {}; "
      "nothing is written from them: try another --solver or --block-size, or another BLAS or ScaLAPACK",
      solver, n, n, quality.residual, quality.orthogonality, residual_limit, orthogonality_limit));
}

}  // namespace posgeom
