#include "corpus/token_map.hpp"

#include <xxhash.h>

#include <algorithm>

#include "posgeom/error.hpp"

namespace posgeom {

std::size_t TextHash::operator()(std::string_view text) const noexcept { return XXH3_64bits(text.data(), text.size()); }

TokenMap::TokenMap(const std::vector<std::string>& vocabulary, std::string_view prefix) {
  narrow_to_int(std::ssize(vocabulary), "the number of vocabulary entries");
  ids_.reserve(vocabulary.size());
  for (std::size_t k = 0; k < vocabulary.size(); ++k) {
    if (!vocabulary[k].starts_with(prefix)) continue;
    const std::string_view entry = std::string_view(vocabulary[k]).substr(prefix.size());
    ids_.insert_or_assign(std::string(entry), static_cast<Token>(k));
    longest_ = std::max(longest_, entry.size());
  }
}

}  // namespace posgeom
