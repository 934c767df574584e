#pragma once
#include "io/dimension_scales.hpp"
#include "io/store_file.hpp"
#include "posgeom/geometry/noise.hpp"

/// The group /noise of a geometry file.
namespace posgeom::io {

/// Puts the analysis into the file: datasets of the parts that it has, every number as an attribute of the group (NaN, ranks -1, where it
/// cannot be said). On the root only.
void lay_out_noise(hid_t h5, const NoiseAnalysis& noise, DimensionScales& scales);

/// What lay_out_noise() stored; `length` and `reached` apart, these are the numbers of the file. The group must be there. On the root only.
NoiseAnalysis read_noise(const StoreReader& reader);

/// **Collective.** The root's analysis on every rank.
void broadcast_noise(const Communicator& comm, NoiseAnalysis& noise);

}  // namespace posgeom::io
