#include "geometry/krylov_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// In (-1, 1), a hash (SplitMix64's) of the row and the vector.
double random_element(Index row, std::uint64_t vector) {
  std::uint64_t x = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U + vector * 0xd1342543de82ef95U + 0x632be59bd9b4e019U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(x >> 11U) - (std::int64_t{1} << 52)), -52);
}

/// **Collective.** The eigenpairs that the root finds.
DenseEigenpairs eigh_on_root(const Communicator& comm, std::vector<double> a, Index n) {
  DenseEigenpairs pairs = collective(comm, "orthogonalising a block", [&] {
    return comm.is_root()
               ? dense_eigh(std::move(a), n)
               : DenseEigenpairs{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n * n))};
  });
  broadcast(comm, std::span(pairs.values));
  broadcast(comm, std::span(pairs.vectors));
  return pairs;
}

}  // namespace

std::vector<double> products_over_ranks(const GramOperator& b, std::span<const double> x, Index nx, std::span<const double> y, Index ny) {
  std::vector<double> products(static_cast<std::size_t>(nx * ny));
  multiply_local({.m = nx, .n = ny, .k = b.local_rows(), .transpose_a = true}, x.data(), y.data(), 0.0, products.data());
  if (b.communicator().size() > 1) {
    all_reduce(b.communicator(), std::span(products));
    broadcast(b.communicator(), std::span(products));
  }
  return products;
}

KrylovBasis::KrylovBasis(const GramOperator& b, Index capacity)
    : b_(&b), rows_(b.local_rows()), values_(static_cast<std::size_t>(capacity * rows_)) {}

void KrylovBasis::append(const VectorBlock& w) {
  expects((count_ + w.count) * rows_ <= std::ssize(values_), "room in the basis");
  std::ranges::copy(w.values, values_.begin() + count_ * rows_);
  count_ += w.count;
}

std::vector<double> KrylovBasis::project(const VectorBlock& y) const {
  return products_over_ranks(*b_, values(), count_, y.values, y.count);
}

void KrylovBasis::subtract(VectorBlock& y, std::span<const double> h) const {
  std::vector<double> negative(h.begin(), h.end());
  for (double& x : negative) x = -x;
  multiply_local({.m = rows_, .n = y.count, .k = count_}, values_.data(), negative.data(), 1.0, y.values.data());
}

VectorBlock KrylovBasis::random_block(Index count) {
  VectorBlock block{count, {}};
  block.values.reserve(static_cast<std::size_t>(count * rows_));
  for (Index j = 0; j < count; ++j) {
    const std::uint64_t vector = drawn_++;
    for (Index i = 0; i < rows_; ++i) block.values.push_back(random_element(b_->first() + i, vector));
  }
  b_->centre(block.values, count);
  return block;
}

Orthonormal KrylovBasis::orthonormalise(VectorBlock y, Index wanted, double scale) {
  const Index columns = y.count;
  const double epsilon = std::numeric_limits<double>::epsilon();
  // y = (the block at hand) r, at first with r = I.
  std::vector<double> r(static_cast<std::size_t>(columns * columns));
  for (Index j = 0; j < columns; ++j) r[static_cast<std::size_t>(j + j * columns)] = 1;
  double floor = std::pow(scale * epsilon, 2);
  for (int pass = 0; pass < 6; ++pass) {
    // The vector of ones is an eigenvector too (of 0), and Lanczos' recurrence would let a rounding error along it grow.
    b_->centre(y.values, y.count);
    for (int twice = 0; twice < 2; ++twice) subtract(y, project(y));
    // Orthonormal by the eigenvectors of Y'Y (Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002); again until nothing changes.
    const DenseEigenpairs inner = eigh_on_root(b_->communicator(), products_over_ranks(*b_, y.values, y.count, y.values, y.count), y.count);
    const double largest = inner.values.front();
    const Index kept = std::min(wanted, y.count);
    const double least = std::max(10 * epsilon * largest, floor);
    std::vector<double> transform(static_cast<std::size_t>(y.count * kept));
    std::vector<double> back(static_cast<std::size_t>(kept * y.count));
    Index present = 0;
    for (Index j = 0; j < kept; ++j) {
      const double value = inner.values[static_cast<std::size_t>(j)];
      if (value > floor) ++present;
      const double length = std::sqrt(std::max(value, least));
      for (Index i = 0; i < y.count; ++i) {
        const double u = inner.vectors[static_cast<std::size_t>(i + j * y.count)];
        transform[static_cast<std::size_t>(i + j * y.count)] = length > 0 ? u / length : 0.0;
        back[static_cast<std::size_t>(j + i * kept)] = value > floor ? u * length : 0.0;
      }
    }
    VectorBlock next{kept, std::vector<double>(static_cast<std::size_t>(kept * rows_))};
    multiply_local({.m = rows_, .n = kept, .k = y.count}, y.values.data(), transform.data(), 0.0, next.values.data());
    std::vector<double> product(static_cast<std::size_t>(kept * columns));
    multiply_local({.m = kept, .n = columns, .k = y.count}, back.data(), r.data(), 0.0, product.data());
    if (present < kept) {  // those that are rounding only
      VectorBlock random = random_block(kept - present);
      const double length = std::sqrt(3.0 / static_cast<double>(b_->rows()));
      std::ranges::transform(random.values, next.values.begin() + present * rows_, [length](double x) { return x * length; });
    }
    y = std::move(next);
    r = std::move(product);
    if (present == kept && pass > 0 && inner.values[static_cast<std::size_t>(kept - 1)] > 0.5 && largest < 2) break;
    floor = 1e-20;  // from here on the vectors' lengths are about 1
  }
  return {std::move(y), std::move(r)};
}

std::vector<double> KrylovBasis::combine(std::span<const double> y, Index columns) const {
  std::vector<double> product(static_cast<std::size_t>(columns * rows_));
  multiply_local({.m = rows_, .n = columns, .k = count_}, values_.data(), y.data(), 0.0, product.data());
  return product;
}

void KrylovBasis::restart(std::span<const double> y, Index columns) {
  const std::vector<double> kept = combine(y, columns);
  std::ranges::copy(kept, values_.begin());
  count_ = columns;
}

}  // namespace posgeom
