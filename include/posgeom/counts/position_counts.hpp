#pragma once
#include <functional>
#include <span>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// C[i][v]: how often token v stands at position i, as compressed sparse rows; the same on every rank.
struct PositionCounts {
  Index length = 0;                   ///< n positions
  Index vocab_size = 0;               ///< V
  Index document_count = 0;           ///< documents read, empty ones included
  Index empty_document_count = 0;     ///< of these, without a token
  Index token_count = 0;              ///< T: tokens read, those at positions >= n included
  Index longest_document = 0;         ///< tokens of the longest document
  std::vector<Count> position_total;  ///< [n] N_i
  std::vector<Index> indptr;          ///< [n+1]
  std::vector<Token> token;           ///< [nnz], ascending within each position
  std::vector<Count> count;           ///< [nnz], all > 0

  std::span<const Token> tokens_at(Index i) const {
    return std::span(token).subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(i)]), extent_at(i));
  }
  std::span<const Count> counts_at(Index i) const {
    return std::span(count).subspan(static_cast<std::size_t>(indptr[static_cast<std::size_t>(i)]), extent_at(i));
  }

 private:
  std::size_t extent_at(Index i) const {
    return static_cast<std::size_t>(indptr[static_cast<std::size_t>(i + 1)] - indptr[static_cast<std::size_t>(i)]);
  }
};

struct CountOptions {
  Index length = 0;              ///< n: the largest of --lengths
  Index memory_bytes = 0;        ///< what this rank may use for its table; 0: no limit. A table that needs more is refused before reading
  Index chunk = Index{1} << 22;  ///< elements of one reduction; also the size of its buffer
};

/// Called now and then while counting: bytes done and bytes in all on this rank, tokens so far on this rank. May throw to stop.
using CountProgress = std::function<void(Index bytes_done, Index bytes_total, Index tokens)>;

/// **Collective.** Counts every document of the corpus (mode `document`: position = index in the document, positions >= length are not
/// counted). Bit-equal for every rank count. Throws the same Error on every rank.
PositionCounts count_positions(const Communicator& comm, const Corpus& corpus, const CountOptions& options,
                               const CountProgress& progress = {});

/// **Collective.** The one place where the ranks' tables meet: sums the ranks' dense tables (length x vocab_size, row-major, destroyed)
/// panel by panel of at most `chunk` elements, and keeps each panel's nonzeros. Fills position_total, indptr, token, count.
void reduce_counts(const Communicator& comm, std::span<Count> local_table, Index chunk, PositionCounts& counts);

}  // namespace posgeom
