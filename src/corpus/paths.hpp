#pragma once
#include <string>
#include <vector>

namespace posgeom {

/// The regular files that `paths` stand for, in the order given: a file is itself; a directory, its regular files whose names do not begin
/// with a dot (not those of directories in it); else a glob, the regular files that match. What a directory or glob gives is sorted by
/// bytes. Throws Error: no such file, nothing matches, not a regular file, a file named twice.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

}  // namespace posgeom
