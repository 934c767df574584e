#pragma once
#include <span>
#include <vector>

#include "posgeom/mpi/node_array.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// C[i][v]: how often token v stands at position i, as compressed sparse rows; the same on every rank. Read from a file, its cells are once
/// in a node's memory.
struct PositionCounts {
  Index length = 0;                   ///< n positions
  Index vocab_size = 0;               ///< V
  Index document_count = 0;           ///< documents read, empty ones included
  Index empty_document_count = 0;     ///< of these, without a token
  Index token_count = 0;              ///< T: tokens read, those at positions >= n included
  Index longest_document = 0;         ///< tokens of the longest document
  std::vector<Count> position_total;  ///< [n] N_i
  std::vector<Index> indptr;          ///< [n+1]
  NodeArray<Token> token;             ///< [nnz], ascending within each position
  NodeArray<Count> count;             ///< [nnz], all > 0

  std::span<const Token> tokens_at(Index i) const {
    return std::span<const Token>(token).subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(i)]), extent_at(i));
  }
  std::span<const Count> counts_at(Index i) const {
    return std::span<const Count>(count).subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(i)]), extent_at(i));
  }

 private:
  std::size_t extent_at(Index i) const {
    return static_cast<std::size_t>(indptr[static_cast<std::size_t>(i + 1)] - indptr[static_cast<std::size_t>(i)]);
  }
};

}  // namespace posgeom
