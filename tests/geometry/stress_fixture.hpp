#pragma once
#include <numeric>
#include <random>

#include "posgeom/geometry/stress.hpp"
#include "posgeom/mpi/collective.hpp"
#include "reference.hpp"
#include "synthetic.hpp"

namespace posgeom {

inline std::vector<StressColumns> sweep(const Communicator& comm, const SquareRootDistributions& s,
                                        const std::vector<StressRequest>& requests) {
  return stress_sweep(comm, s, summarize_hellinger(comm, s), requests);
}

/// m x columns numbers that differ in scale from column to column.
inline Coordinates random_coordinates(Index m, Index columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Coordinates x{.rows = m, .columns = columns, .stored = columns, .values = std::vector<double>(static_cast<std::size_t>(m * columns))};
  for (std::size_t k = 0; k < x.values.size(); ++k) x.values[k] = normal(generator) / (1 + static_cast<double>(k) / static_cast<double>(m));
  return x;
}

inline StressRequest request(std::string name, Coordinates x, std::vector<std::int32_t> dimensions) {
  return {{std::move(name), std::move(x)}, std::move(dimensions)};
}
inline StressRequest request(std::string name, LagKernel kernel, std::vector<std::int32_t> dimensions) {
  return {{std::move(name), std::move(kernel)}, std::move(dimensions)};
}

/// The d leading columns of `x`, one row a position.
inline reference::Matrix leading(const Coordinates& x, Index d) {
  reference::Matrix rows(static_cast<std::size_t>(x.rows));
  for (Index i = 0; i < x.rows; ++i) {
    for (Index k = 0; k < d; ++k)
      rows[static_cast<std::size_t>(i)].push_back(k < x.stored ? x.values[static_cast<std::size_t>(i + k * x.rows)] : 0.0);
  }
  return rows;
}

/// The kernel's coordinates at `positions`, one row a position.
inline reference::Matrix rows_of(const LagKernel& kernel, const std::vector<std::int32_t>& positions, Index d) {
  const std::vector<double> flat = kernel.coordinates(positions, d);
  reference::Matrix rows(positions.size());
  const std::size_t width = flat.size() / positions.size();
  for (std::size_t i = 0; i < positions.size(); ++i)
    rows[i].assign(flat.begin() + static_cast<std::ptrdiff_t>(i * width), flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  return rows;
}

}  // namespace posgeom
