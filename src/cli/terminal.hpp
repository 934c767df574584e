#pragma once

namespace posgeom::cli {

/// Whether a person may be watching standard output. Open MPI's mpirun gives its ranks a pseudo-terminal whatever its own output goes to,
/// so its own is asked instead where it is the parent.
bool watched();

}  // namespace posgeom::cli
