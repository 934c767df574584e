#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/pipeline/config.hpp"

namespace posgeom {

/// An option that was given, other than by its default, and changes nothing beside the others.
struct IdleOption {
  std::string_view group;  ///< as in the table: commands that do not take it need not speak of it
  std::string text;        ///< "--smacof-weights tokens has no effect: smacof is not among --encodings"
};
/// They are no error, since one configuration serves several commands and runs; but nobody should believe that they did anything.
std::vector<IdleOption> idle_options(const Config& config);

}  // namespace posgeom
