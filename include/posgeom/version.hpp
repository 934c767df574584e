#pragma once
#include <string_view>

namespace posgeom {

/// Release, "major.minor.patch".
std::string_view version();
/// `git describe --always --dirty` of the sources that were built, or "unknown".
std::string_view git_revision();

}  // namespace posgeom
