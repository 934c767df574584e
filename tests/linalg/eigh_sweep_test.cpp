// pdsyevd over orders, blocks, matrices and rank counts: where its own workspace query is too small, where ranks hold nothing, where it is
// trivial.
#include <gtest/gtest.h>

#include "linalg/grids.hpp"
#include "linalg/matrices.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using test::world;
using testing_support::sanitized;

/// The eigenvalues in descending order, exact or from LAPACK on the root.
std::vector<double> reference(const test::Family& family, Index n) {
  std::vector<double> values;
  if (family.spectrum) {
    values = family.spectrum(n);
    std::ranges::sort(values, std::greater{});
  } else {
    if (world().is_root()) values = dense_eigh(test::dense(family, n), n).values;
    broadcast_resized(world(), values);
  }
  return values;
}

void expect_right(const ProcessGrid& grid, const test::Family& family, Index n, Index block, const std::vector<double>& expected) {
  SCOPED_TRACE(testing::Message() << family.name << ", order " << n << ", block " << block << ", grid " << grid.text());
  DistributedMatrix a(grid, n, n, block);
  fill(a, [&](Index i, Index j) { return family.element(i, j, n); });
  const Eigenpairs pairs = eigh(a);
  EXPECT_TRUE(std::is_sorted(pairs.values.rbegin(), pairs.values.rend()));
  EXPECT_LT(pairs.residual, n < 10 ? 4.0 : 1.0);
  EXPECT_LT(pairs.orthogonality, 10.0);
  const double norm = std::max(std::abs(expected.front()), std::abs(expected.back()));
  const double tolerance = static_cast<double>(n + 10) * test::eps;
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(pairs.values[k], expected[k], tolerance * norm);
  // Bit-equal on every rank: the bytes of the root's.
  std::vector<double> of_root = pairs.values;
  broadcast(world(), std::span(of_root));
  EXPECT_EQ(pairs.values, of_root);
  if (n > 40) return;
  const test::Deviation worst =
      test::deviation(test::dense(family, n), pairs.values, gather_columns(pairs.vectors, test::all_columns(n)), n);
  EXPECT_LE(worst.residual, tolerance * norm);
  EXPECT_LE(worst.orthogonality, tolerance);
}

/// Every grid shape for matrices that spend no time elsewhere, else the one that is used: the sweep has to stay short with more ranks than
/// cores.
template <class Body>
void for_grids(const test::Family& family, const Body& body) {
  if (family.name == "random") {
    test::for_every_grid(body);
  } else {
    body(ProcessGrid::nearest_square(world()));
  }
}

TEST(EighSweep, FewRows) {
  for (const test::Family& family : test::families()) {
    for (const Index n : {1, 2, 3, 7, 10, 33}) {
      if (sanitized && (n == 3 || n == 10)) continue;
      const std::vector<double> expected = reference(family, n);
      for_grids(family, [&](const ProcessGrid& grid) {
        for (const Index block : {1, 2, 8, 16, 32, 64}) {
          if (sanitized && (block == 2 || block == 16)) continue;
          if (block < n || block == 64) expect_right(grid, family, n, block, expected);
        }
      });
    }
  }
}

TEST(EighSweep, WhereTheQueryIsTooSmall) {
  const GridShape usual = nearest_square_shape(world().size());
  for (const test::Family& family : test::families()) {
    const bool random = family.name == "random";
    for (const Index n : {63, 64, 65, 100, 127, 128, 150, 200, 300}) {
      if (!random && n != 64 && n != 65 && n != 127) continue;
      if (sanitized && n > 100) continue;
      const std::vector<double> expected = reference(family, n);
      for_grids(family, [&](const ProcessGrid& grid) {
        for (const Index block : {8, 16, 32, 64}) {
          if (block == 64 || (random && grid.rows() == usual.rows)) expect_right(grid, family, n, block, expected);
        }
      });
    }
  }
}

}  // namespace
}  // namespace posgeom
