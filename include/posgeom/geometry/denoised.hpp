#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// The rows of `positions` (ascending, each one of s.position).
SquareRootDistributions kept_rows(const SquareRootDistributions& s, std::span<const std::int32_t> positions);
/// The same of coordinates whose rows are those of the positions `from`.
Coordinates kept_rows(const Coordinates& x, std::span<const std::int32_t> from, std::span<const std::int32_t> positions);

/// Raw and scaled stress of one request, in the order of its dimensions; NaN where the encoding is undefined.
struct DenoisedColumns {
  std::vector<double> raw, scaled;
};
struct DenoisedScores {
  std::vector<DenoisedColumns> columns;  ///< of each request
  double constant_baseline = 0;          ///< 1 - (sum h)^2 / (pairs sum h^2); NaN where sum h^2 = 0
};

/// **Collective.** Stress of every request against the distances h_ij = sqrt(max(0, D^2_ij)) of denoised_squared_distances(), whose rows
/// are `positions`; coordinates must have these rows. D^2_ij is unbiased and may be negative where the truth is near zero. Undefined cases
/// as in StressTable. Each rank takes the pairs of its part of the matrix: O(m^2 d / ranks). The same to rounding for every rank count.
DenoisedScores denoised_stress(const DistributedMatrix& squared, std::span<const std::int32_t> positions,
                               const std::vector<StressRequest>& requests);

}  // namespace posgeom
