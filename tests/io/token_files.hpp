#pragma once
// Documents that follow a rule, so that check_token_files.py can say what must be in the files.
#include <cstdint>
#include <vector>

#include "io/support.hpp"
#include "posgeom/io/token_file_writer.hpp"

namespace posgeom {

/// Documents one after the other.
struct Documents {
  std::vector<Token> tokens;
  std::vector<std::int32_t> lengths;

  Documents part(std::size_t first, std::size_t end) const {
    Documents part;
    auto token = tokens.begin();
    for (std::size_t d = 0; d < end; ++d) {
      if (d >= first) {
        part.tokens.insert(part.tokens.end(), token, token + lengths[d]);
        part.lengths.push_back(lengths[d]);
      }
      token += lengths[d];
    }
    return part;
  }
};

/// Document d has d * 7 % 11 tokens, none at its first and last; token t of it is (1000003 d + 101 t) % V.
inline Documents known_documents(Index count, Index vocab_size) {
  Documents all;
  for (Index d = 0; d < count; ++d) {
    const Index length = d == count - 1 ? 0 : d * 7 % 11;
    all.lengths.push_back(static_cast<std::int32_t>(length));
    for (Index t = 0; t < length; ++t) all.tokens.push_back(static_cast<Token>((1000003 * d + 101 * t) % vocab_size));
  }
  return all;
}

/// **Collective.** Appends `all` in `calls` calls, each shared by the ranks in consecutive parts; `seed` chooses how unequal they are.
inline void append_in_parts(TokenFileWriter& writer, const Documents& all, int calls, unsigned seed) {
  const int ranks = world().size();
  std::vector<std::size_t> cuts{0, all.lengths.size()};
  for (int k = 1; k < calls * ranks; ++k) {
    seed = seed * 1664525U + 1013904223U;
    cuts.push_back((seed >> 8) % (all.lengths.size() + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  for (int call = 0; call < calls; ++call) {
    const auto k = static_cast<std::size_t>(call * ranks + world().rank());
    const Documents mine = all.part(cuts[k], cuts[k + 1]);
    writer.append(mine.tokens, mine.lengths);
  }
}

}  // namespace posgeom
