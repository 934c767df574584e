#pragma once
#include "posgeom/linalg/distributed_matrix.hpp"

namespace posgeom {

/// **Collective.** Copies the elements below the diagonal of a square matrix to their places above it: each rank sends each other one what
/// that one lacks, a message a pair.
void mirror_lower_triangle(DistributedMatrix& a);

}  // namespace posgeom
