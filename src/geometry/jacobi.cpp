#include "geometry/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Makes x and y orthogonal by the smaller of the two rotations that do.
void rotate(std::span<double> x, std::span<double> y) {
  const double xy = dot(x, y);
  if (xy == 0) return;
  const double zeta = (dot(y, y) - dot(x, x)) / (2 * xy);
  const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, tangent);
  const double sine = cosine * tangent;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double before = x[i];
    x[i] = cosine * before - sine * y[i];
    y[i] = sine * before + cosine * y[i];
  }
}

}  // namespace

DistributedMatrix inner_products(const ProcessGrid& grid, std::span<const double> matrix, Index rows, Index columns) {
  DistributedMatrix products(grid, columns, columns, default_block_size);
  if (columns == 0) return products;
  constexpr Index width = 256;
  std::vector<double> panel(static_cast<std::size_t>(columns * width));
  for (Index first = 0; first < rows; first += width) {
    const Index count = std::min(width, rows - first);
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < count; ++i)
        panel[static_cast<std::size_t>(j + i * columns)] = matrix[static_cast<std::size_t>(first + i + j * rows)];
    }
    const auto filled = std::span<const double>(panel).first(static_cast<std::size_t>(columns * count));
    rank_k_update(products, filled, filled, count);
  }
  return products;
}

void orthogonalise_columns(const ProcessGrid& grid, std::span<double> matrix, Index rows, Index columns) {
  // Frobenius norms over all pairs stay near 10 rows eps; a few eps are what the inner products themselves carry.
  const double tolerance = std::numeric_limits<double>::epsilon() * 10 *
                           std::max(1.0, static_cast<double>(rows) / static_cast<double>(std::max<Index>(1, columns)));
  const auto column = [&](Index j) { return matrix.subspan(static_cast<std::size_t>(j * rows), static_cast<std::size_t>(rows)); };
  constexpr int most_sweeps = 12;  // two or three suffice; what is left after so many is measured and refused by the caller
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    const DistributedMatrix products = inner_products(grid, matrix, rows, columns);
    bool rotated = false;
    for (Index j = 1; j < columns; ++j) {
      for (Index i = 0; i < j; ++i) {
        if (std::abs(products.local(i, j)) <= tolerance * std::sqrt(products.local(i, i) * products.local(j, j))) continue;
        rotate(column(i), column(j));
        rotated = true;
      }
    }
    if (!rotated) return;
  }
}

}  // namespace posgeom
