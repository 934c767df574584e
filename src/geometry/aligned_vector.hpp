#pragma once
#include <boost/align/aligned_allocator.hpp>
#include <vector>

namespace posgeom {

/// For what inner loops read by whole vectors: begins at a cache line. malloc's large blocks begin 16 bytes after one, and then every
/// vector of AVX-512 lies across two lines, at half the speed.
template <class T>
using AlignedVector = std::vector<T, boost::alignment::aligned_allocator<T, 64>>;

}  // namespace posgeom
