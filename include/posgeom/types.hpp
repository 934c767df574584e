#pragma once
#include <cstdint>

namespace posgeom {

/// Extents, offsets and indices, everywhere above the 32-bit interfaces of BLAS, ScaLAPACK and MPI.
using Index = std::int64_t;
/// A token id, 0 .. V-1.
using Token = std::int32_t;
/// How often something was seen; never a float, so that sums do not depend on the rank count.
using Count = std::int64_t;

}  // namespace posgeom
