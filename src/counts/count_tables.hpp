#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "counts/position_table.hpp"
#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// Which tables are kept for `options`, in the order of CorpusCounts::tables.
struct TableKind {
  Index length = 0;
  bool shuffled = false;
  Index replicate = -1;  ///< of a bootstrap
};
std::vector<TableKind> table_kinds(const CountOptions& options);

/// How a rank's memory is divided before anything is counted.
struct MemoryShares {
  Index memory = 0;                 ///< what there is; 0: no limit
  Index columns = 0;                ///< column buffers of all tables together
  Index message = 0;                ///< elements of 8 bytes of one message; one goes out while another comes in. 0: one rank, no messages
  std::vector<Index> buffer_bytes;  ///< of one PositionTable of each kind
};
/// The fewest elements that a message can do with.
inline constexpr Index least_message = 7;
/// `tokens`: of the corpus, where that is known; packed sequences then tell how many ids a column gets.
MemoryShares memory_shares(const CountOptions& options, int ranks, Index tokens);

/// The tables that a rank counts into: of each kind one table, or one a half. Between two hand_over() they hold positions of all owners.
class CountTables {
 public:
  struct Entry {
    TableKind kind;
    std::vector<PositionTable> halves;  ///< without split half a alone, which is everything
  };

  CountTables(const CountOptions& options, Index vocab_size, const MemoryShares& shares, int rank, int ranks);

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  OwnedPositions owned(const Entry& entry, int rank) const { return owned_positions(entry.kind.length, rank, ranks_); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool split() const { return split_; }

  void flush();
  /// The same, and gives the columns' memory back until something is counted again.
  void release_columns();
  /// Bytes held.
  Index bytes() const;
  /// Bytes that collect() will give.
  Index collected_bytes();

  /// This rank's positions as compressed rows; empties them here. What others own has been handed over before. `last`: nothing is counted
  /// afterwards, so that each table goes once it is collected.
  std::vector<CountTable> collect(bool last);
  /// Adds what collect() gave, by this or another run, to this rank's positions.
  void add(const std::vector<CountTable>& tables);
  /// The same, and frees `tables` while it does, so that the counts are never held twice.
  void take_back(std::vector<CountTable>&& tables);

 private:
  CountTable collect(Entry& entry);
  void add_row(Entry& entry, const CountTable& table, Index k);
  void check(const std::vector<CountTable>& tables) const;

  std::vector<Entry> entries_;
  int rank_, ranks_;
  bool split_;
};

/// **Collective.** Every rank's counts of positions that others own go to their owners, and are gone here. In messages of at most
/// `message` elements (8 bytes each), two at a time. Throws the same CollectiveError on every rank where one cannot (memory).
void hand_over(const Communicator& comm, CountTables& tables, Index message);

}  // namespace posgeom
