#pragma once
#include "io/dimension_scales.hpp"
#include "io/store_file.hpp"
#include "posgeom/io/store.hpp"

/// The groups /bootstrap of geometry and stress files.
namespace posgeom::io {

/// /bootstrap/{rank, trace, violation_rate} [R], and the ends of their intervals as attributes. On the root only.
void lay_out_bootstrap(hid_t h5, const GeometryFile& file, DimensionScales& scales);
/// /bootstrap/replicates/{raw, scaled, violation_rate} [R, E, D]; <measure>_low, _high, _basic_low and _basic_high [E, D]; best and
/// modal_rank [E, D], modal_share [D]. On the root only.
void lay_out_bootstrap(hid_t h5, const StressFile& file, DimensionScales& scales);

/// What lay_out_bootstrap() stored of the replicates; the group must be there. On the root only.
GeometryBootstrap read_geometry_bootstrap(const StoreReader& reader);
StressBootstrap read_stress_bootstrap(const StoreReader& reader, Index encodings, Index dimensions);

/// **Collective.** The root's replicates on every rank.
void broadcast_bootstrap(const Communicator& comm, std::optional<GeometryBootstrap>& bootstrap);
void broadcast_bootstrap(const Communicator& comm, std::optional<StressBootstrap>& bootstrap);

}  // namespace posgeom::io
