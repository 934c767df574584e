#pragma once
#include "io/store_file.hpp"

namespace posgeom::io {

/// The tables of a stress file, with the groups beside them. On the root only.
StressFile read_stress_table(const StoreReader& reader);

}  // namespace posgeom::io
