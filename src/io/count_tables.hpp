#pragma once
#include <string>
#include <vector>

#include "io/dimension_scales.hpp"
#include "io/store_file.hpp"
#include "posgeom/counts/count_corpus.hpp"

/// The tables of counts as counts.h5 and the checkpoint of a count hold them.
namespace posgeom::io {

/// The group that holds a table of `length`, and that of its positions ("" or "/length_<n>"). In document mode one table serves all
/// lengths, at the root.
std::string positions_group(Sequences sequences, CountsTable table, Index length);
std::string counts_group(Sequences sequences, CountsTable table, Index length);

/// What is to be written of a corpus's counts, of which each rank has its own positions. Refers to `counts`.
class CountTables {
 public:
  /// **Collective.** Finds the ranks' places in the file. Throws the same Error on every rank where the ranks' tables do not fit together.
  CountTables(const Communicator& comm, const CorpusCounts& counts);
  /// Attributes, groups and datasets; those that take much space are created empty. On the root only.
  void lay_out(hid_t h5, DimensionScales& scales) const;
  /// **Collective.** Fills the datasets, each rank its own part.
  void fill(SharedWriter& writer) const;

 private:
  struct Part {
    CountsTable table = CountsTable::corpus;
    Index length = 0;
    const PositionRows* rows = nullptr;
    Index first = 0;     ///< this rank's first position
    Index offset = 0;    ///< nonzeros of the ranks before
    Index nonzeros = 0;  ///< of all ranks
  };
  void expect_own_positions(const Communicator& comm) const;

  const CorpusCounts& counts_;
  bool root_;
  std::vector<Part> parts_;
};

/// Attributes and lengths of a counts file or checkpoint.
CountsSummary summary_of(const StoreReader& reader);

/// Which rows of which table of a file.
struct RowRange {
  CountsTable table = CountsTable::corpus;
  Index length = 0;  ///< positions of the table in the file
  Index first = 0;
  Index count = 0;
  /// Of a count that is not finished: the null may be ahead of the corpus by blocks that reach into units that are still to be counted.
  bool unfinished = false;
};
/// Rows and their sums. Everything that the geometry relies on is checked; where it is not so, the reader refuses the file and says where.
struct CheckedRows {
  PositionRows rows;
  std::vector<Count> total;  ///< [count]
};
CheckedRows read_count_rows(const StoreReader& reader, const CountsSummary& summary, const RowRange& range);

}  // namespace posgeom::io
