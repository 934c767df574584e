#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept;
};

/// From a vocabulary's entries to their indices. Of equal entries the last one counts, as in Hugging Face's dictionary.
class TokenMap {
 public:
  /// Only the entries that begin with `prefix`, without it.
  explicit TokenMap(const std::vector<std::string>& vocabulary, std::string_view prefix = {});
  /// The id, or -1.
  Token find(std::string_view entry) const {
    if (entry.size() > longest_) return -1;
    const auto found = ids_.find(entry);
    return found == ids_.end() ? -1 : found->second;
  }
  /// Bytes of the longest entry.
  std::size_t longest() const { return longest_; }

 private:
  std::unordered_map<std::string, Token, TextHash, std::equal_to<>> ids_;
  std::size_t longest_ = 0;
};

}  // namespace posgeom
