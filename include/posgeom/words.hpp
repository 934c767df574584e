#pragma once
#include <string>
#include <string_view>

#include "posgeom/types.hpp"

namespace posgeom {

/// "1 rank", "2 ranks", "0 ranks"; `plural` where it is not the singular with an s.
inline std::string number_of(Index count, std::string_view singular, std::string_view plural = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1 || plural.empty()) {
    text += singular;
    if (count != 1) text += "s";
  } else {
    text += plural;
  }
  return text;
}

}  // namespace posgeom
