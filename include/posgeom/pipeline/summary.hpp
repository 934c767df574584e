#pragma once
#include "posgeom/io/store.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

/// Tells the report what a length's numbers are and, in words, what they say and do not say.
void report_length(StageReport& report, const GeometryFile& geometry, const StressFile& stress);

}  // namespace posgeom
