#pragma once
#include <string>
#include <vector>

#include "io/dimension_scales.hpp"
#include "posgeom/io/store.hpp"

/// The groups /series/<NAME> of a stress file: rows NAME.step<number> of its tables once more, by step.
namespace posgeom::io {

/// The rows of one series, steps ascending.
struct SeriesRows {
  std::string name;
  std::vector<std::int64_t> step;
  std::vector<Index> row;  ///< of the tables
};

/// The series among the names of encodings.
std::vector<SeriesRows> series_among(const std::vector<std::string>& encoding_names);

/// /series/<NAME>/{step, raw, scaled, violation_rate, min_separation}. On the root only.
void lay_out_series(hid_t h5, const StressTable& table, DimensionScales& scales);

}  // namespace posgeom::io
