#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/broadcast.hpp"
#include "io/count_tables.hpp"
#include "io/shared_writer.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

/// Throws where the file has no such table, with what it has and how to get the other.
void expect_table(const std::string& path, const CountsSummary& s, Index length, CountsTable table) {
  const bool shuffled = table == CountsTable::shuffled || table == CountsTable::shuffled_half_a;
  const bool half = table == CountsTable::corpus_half_a || table == CountsTable::shuffled_half_a;
  const auto expect = [&](bool condition, const std::string& found, const std::string& option) {
    if (!condition) throw Error(fmt::format("reading {}: {}; run `posgeom count` with {}", path, found, option));
  };
  expect(!half || s.split, "the counts were not split into halves", "--noise split or all");
  expect(!shuffled || s.shuffled, "it has no counts of the shuffled corpus", "--noise shuffle or all");
  if (s.sequences == Sequences::document && !shuffled) {
    expect(length <= s.lengths.front(), fmt::format("its counts have {} positions, not {}", s.lengths.front(), length),
           fmt::format("--lengths {}", length));
    return;
  }
  const std::vector<Index>& there = shuffled ? s.shuffled_lengths : s.lengths;
  expect(std::binary_search(there.begin(), there.end(), length),
         fmt::format("it has no {}counts of length {}, only of {}", shuffled ? "shuffled " : "", length, fmt::join(there, ", ")),
         fmt::format("--lengths {}", length));
}

PositionCounts read_on_root(const std::string& path, Index length, CountsTable table) {
  expects(length >= 1, "counts have positions");
  const StoreReader reader(path, io::counts_format);
  const CountsSummary s = io::summary_of(reader);
  expect_table(path, s, length, table);
  const bool whole = s.sequences != Sequences::document || table == CountsTable::shuffled || table == CountsTable::shuffled_half_a;
  io::CheckedRows read = io::read_count_rows(reader, s, {table, whole ? length : s.lengths.front(), 0, length});
  PositionCounts c;
  c.length = length;
  c.vocab_size = s.vocab_size;
  c.document_count = s.document_count;
  c.empty_document_count = s.empty_document_count;
  c.token_count = s.token_count;
  c.longest_document = s.longest_document;
  c.position_total = std::move(read.total);
  c.indptr = std::move(read.rows.indptr);
  c.token = std::move(read.rows.token);
  c.count = std::move(read.rows.count);
  return c;
}

}  // namespace

void write_counts(const Communicator& comm, const std::string& path, const CountsFile& file, const Provenance& provenance) {
  const io::CountTables tables(comm, file.counts);
  io::write_store(
      comm, path, io::counts_format, provenance,
      [&](hid_t h5) {
        io::DimensionScales scales;
        tables.lay_out(h5, scales);
        if (!file.vocabulary.empty()) {
          hdf5::write_texts(h5, "/vocabulary", file.vocabulary);
          scales.add("/vocabulary");
        }
        scales.write(h5);
      },
      [&](io::SharedWriter& writer) { tables.fill(writer); });
}

Index writing_bytes(Index elements) { return std::min(elements, io::SharedWriter::default_piece) * static_cast<Index>(sizeof(double)); }

PositionCounts read_counts(const Communicator& comm, const std::string& path, Index length, CountsTable table) {
  PositionCounts c =
      collective(comm, "reading " + path, [&] { return comm.is_root() ? read_on_root(path, length, table) : PositionCounts{}; });
  io::broadcast_all(comm, c.length, c.vocab_size, c.document_count, c.empty_document_count, c.token_count, c.longest_document,
                    c.position_total, c.indptr);
  // The cells go to one rank a node, which shares them with the others.
  const Communicator node = comm.split_by_node();
  const Communicator leaders = comm.split(node.is_root() ? 0 : 1);
  if (node.is_root()) {
    broadcast_resized(leaders, c.token.own());
    broadcast_resized(leaders, c.count.own());
  }
  c.token = share_on_node(node, std::move(c.token));
  c.count = share_on_node(node, std::move(c.count));
  return c;
}

CountsSummary read_counts_summary(const Communicator& comm, const std::string& path) {
  CountsSummary s = collective(comm, "reading " + path,
                               [&] { return comm.is_root() ? io::summary_of(StoreReader(path, io::counts_format)) : CountsSummary{}; });
  io::broadcast_all(comm, s.sequences, s.split, s.shuffled, s.lengths, s.shuffled_lengths, s.vocab_size, s.document_count,
                    s.empty_document_count, s.token_count, s.longest_document);
  return s;
}

}  // namespace posgeom
