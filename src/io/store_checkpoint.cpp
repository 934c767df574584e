#include <fmt/format.h>

#include "io/count_tables.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

/// This rank's positions of one table, and of its half where there are halves.
CountTable read_own(const StoreReader& reader, const CountsSummary& s, Index length, bool shuffled, bool unfinished,
                    const Communicator& comm) {
  const OwnedPositions owned = owned_positions(length, comm.rank(), comm.size());
  CountTable table;
  table.length = length;
  table.shuffled = shuffled;
  const auto rows_of = [&](CountsTable which) {
    return io::read_count_rows(reader, s, {which, length, owned.first, owned.rows, unfinished}).rows;
  };
  table.all = rows_of(shuffled ? CountsTable::shuffled : CountsTable::corpus);
  if (s.split) table.half_a = rows_of(shuffled ? CountsTable::shuffled_half_a : CountsTable::corpus_half_a);
  return table;
}

UnitSet read_units(const StoreReader& reader) {
  const auto triples = reader.values<Index>("/units_done", {-1, 3});
  try {
    return UnitSet::from_triples(triples);
  } catch (const Error& error) {
    reader.refuse(fmt::format("/units_done: {}", error.what()));
  }
}

CorpusCounts read_own_tables(const Communicator& comm, const StoreReader& reader, bool unfinished) {
  const CountsSummary s = io::summary_of(reader);
  CorpusCounts counts;
  counts.sequences = s.sequences;
  counts.split = s.split;
  counts.vocab_size = s.vocab_size;
  counts.document_count = s.document_count;
  counts.empty_document_count = s.empty_document_count;
  counts.token_count = s.token_count;
  counts.longest_document = s.longest_document;
  for (const Index length : s.lengths) counts.tables.push_back(read_own(reader, s, length, false, unfinished, comm));
  for (const Index length : s.shuffled_lengths) counts.tables.push_back(read_own(reader, s, length, true, unfinished, comm));
  return counts;
}

}  // namespace

void write_count_checkpoint(const Communicator& comm, const std::string& path, const CountCheckpoint& checkpoint,
                            const Provenance& provenance) {
  const io::CountTables tables(comm, checkpoint.counts);
  io::write_store(
      comm, path, io::checkpoint_format, provenance,
      [&](hid_t h5) {
        io::DimensionScales scales;
        tables.lay_out(h5, scales);
        scales.write(h5);
        const std::vector<Index> triples = checkpoint.done.to_triples();
        const Index shape[]{std::ssize(triples) / 3, 3};
        hdf5::write_vector(h5, "/units_done", std::span<const Index>(triples), shape);
      },
      [&](io::SharedWriter& writer) { tables.fill(writer); });
}

CountCheckpoint read_count_checkpoint(const Communicator& comm, const std::string& path) {
  // Each rank opens the file by itself: what it needs lies together, and no rank has to hold what the others need.
  return collective(comm, "reading " + path, [&] {
    const StoreReader reader(path, io::checkpoint_format);
    return CountCheckpoint{read_own_tables(comm, reader, true), read_units(reader)};
  });
}

CorpusCounts read_count_tables(const Communicator& comm, const std::string& path) {
  return collective(comm, "reading " + path, [&] { return read_own_tables(comm, StoreReader(path, io::counts_format), false); });
}

}  // namespace posgeom
