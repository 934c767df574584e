#include <algorithm>

#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

OwnedPositions owned_positions(Index length, int rank, int ranks) {
  expects(0 <= rank && rank < ranks && length >= 0, "0 <= rank < ranks");
  const Index block = (length + ranks - 1) / ranks;
  const Index first = std::min(length, rank * block);
  return {first, std::min(block, length - first)};
}

}  // namespace posgeom
