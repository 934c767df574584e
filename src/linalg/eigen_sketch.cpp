#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "linalg/eigen_backends.hpp"
#include "linalg/scalapack.hpp"
#include "linalg/scaled_sum.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Entry (i, k) of the random directions: +1 or -1, a hash (SplitMix64's) of the indices.
double direction(Index i, Index k) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) << 20U) + static_cast<std::uint64_t>(k) + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return ((x ^ (x >> 31U)) & 1U) == 0 ? 1.0 : -1.0;
}

/// `width` vectors of a length, column-major, the same on every rank.
using Vectors = std::vector<double>;

Vectors directions_of(Index length, Index width) {
  Vectors w;
  w.reserve(static_cast<std::size_t>(length * width));
  for (Index k = 0; k < width; ++k) {
    for (Index i = 0; i < length; ++i) w.push_back(direction(i, k));
  }
  return w;
}

/// The elements of the vectors that belong to this rank's part of an axis, local_extent x width.
Vectors part_of(const Vectors& whole, const BlockCyclic& axis, Index width) {
  Vectors part;
  part.reserve(static_cast<std::size_t>(axis.local_extent() * width));
  const std::vector<BlockCyclic::Run> runs = axis.blocks();
  for (Index k = 0; k < width; ++k) {
    for (const BlockCyclic::Run& run : runs) {
      const auto begin = whole.begin() + k * axis.extent + run.global;
      part.insert(part.end(), begin, begin + run.count);
    }
  }
  return part;
}

/// **Collective.** M x, or M'x, for `width` vectors x.
Vectors image(const DistributedMatrix& m, const Vectors& x, Index width, bool transposed) {
  const Communicator& comm = m.grid().communicator();
  const BlockCyclic& from = transposed ? m.row_axis() : m.column_axis();
  const BlockCyclic& to = transposed ? m.column_axis() : m.row_axis();
  Vectors all = collective(comm, "checking eigenpairs", [&] {
    const Vectors mine = part_of(x, from, width);
    Vectors product(static_cast<std::size_t>(to.local_extent() * width));
    const int rows = narrow_to_int(to.local_extent(), "the local rows of a matrix");
    const int columns = narrow_to_int(width, "the number of directions");
    const int inner = narrow_to_int(from.local_extent(), "the local columns of a matrix");
    const int ld = narrow_to_int(m.leading_dimension(), "the leading dimension of a matrix");
    const double one = 1.0;
    const double zero = 0.0;
    if (rows > 0 && inner > 0) {
      scalapack::dgemm_(transposed ? "T" : "N", "N", &rows, &columns, &inner, &one, m.data().data(), &ld, mine.data(), &inner, &zero,
                        product.data(), &rows);
    }
    Vectors whole(static_cast<std::size_t>(to.extent * width));
    const std::vector<BlockCyclic::Run> runs = to.blocks();
    for (Index k = 0; k < width; ++k) {
      for (const BlockCyclic::Run& run : runs)
        std::copy_n(product.begin() + k * to.local_extent() + run.local, run.count, whole.begin() + k * to.extent + run.global);
    }
    return whole;
  });
  all_reduce(comm, std::span(all));
  broadcast(comm, std::span(all));  // bit-equal: all ranks decide by what follows
  return all;
}

}  // namespace

EigenQuality sketched_quality(const DistributedMatrix& a, std::span<const double> values, const DistributedMatrix& vectors,
                              Index directions) {
  const Index n = a.rows();
  const Index count = vectors.columns();
  expects(a.columns() == n && vectors.rows() == n && std::ssize(values) == count, "n x n and n x k matrices and k values");
  expects(a.grid().context() == vectors.grid().context() && directions >= 1, "matrices of one process grid, and a direction");
  if (count == 0) return {};
  const Communicator& comm = a.grid().communicator();
  const double share = 1 / std::sqrt(static_cast<double>(directions));

  // w'(A Z - Z W) by w'A first, then w'Z. A is symmetric.
  const Vectors w = collective(comm, "checking eigenpairs", [&] { return directions_of(n, directions); });
  const Vectors of_product = image(vectors, image(a, w, directions, false), directions, true);
  const Vectors of_vectors = image(vectors, w, directions, true);
  EigenQuality quality;
  quality.residuals = collective(comm, "checking eigenpairs", [&] { return std::vector<double>(values.size()); });
  for (Index j = 0; j < count; ++j) {
    ScaledSum sum;
    for (Index k = 0; k < directions; ++k) {
      const auto at = static_cast<std::size_t>(j + k * count);
      sum.add(of_product[at] - values[static_cast<std::size_t>(j)] * of_vectors[at]);
    }
    quality.residuals[static_cast<std::size_t>(j)] = share * sum.root();
  }

  const Vectors u = collective(comm, "checking eigenpairs", [&] { return directions_of(count, directions); });
  const Vectors back = image(vectors, image(vectors, u, directions, false), directions, true);
  ScaledSum departure;
  for (std::size_t k = 0; k < u.size(); ++k) departure.add(back[k] - u[k]);
  const double unit = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  quality.orthogonality = share * departure.root() / unit;
  quality.residual = relative_residual(quality.residuals, frobenius_norm(a)) / unit;
  return quality;
}

}  // namespace posgeom
