#include "io/count_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "io/broadcast.hpp"

namespace posgeom::io {
namespace {

bool is_shuffled(CountsTable table) { return table == CountsTable::shuffled || table == CountsTable::shuffled_half_a; }
bool is_half(CountsTable table) { return table == CountsTable::corpus_half_a || table == CountsTable::shuffled_half_a; }

/// What all ranks must have alike, or their collective calls would not match.
std::vector<Index> outline_of(const CorpusCounts& counts) {
  std::vector<Index> outline{static_cast<Index>(counts.sequences), counts.split ? 1 : 0};
  for (const CountTable& table : counts.tables) {
    outline.push_back(table.length);
    outline.push_back(table.shuffled ? 1 : 0);
  }
  return outline;
}

/// One table a place in the file, and in document mode the one that serves all lengths.
void expect_distinct(const CorpusCounts& counts) {
  std::vector<std::string> groups;
  for (const CountTable& table : counts.tables) {
    expects(table.length > 0, "a table has positions");
    groups.push_back(counts_group(counts.sequences, table.shuffled ? CountsTable::shuffled : CountsTable::corpus, table.length));
  }
  std::sort(groups.begin(), groups.end());
  expects(std::adjacent_find(groups.begin(), groups.end()) == groups.end(), "each table has a place of its own in the file");
  expects(counts.sequences != Sequences::document || std::binary_search(groups.begin(), groups.end(), "/counts"),
          "documents have a table that serves all lengths");
}

std::vector<Count> totals_of(const PositionRows& rows) {
  std::vector<Count> total(static_cast<std::size_t>(rows.rows()));
  for (std::size_t i = 0; i < total.size(); ++i) {
    const auto begin = rows.count.begin() + rows.indptr[i];
    total[i] = std::accumulate(begin, rows.count.begin() + rows.indptr[i + 1], Count{0});
  }
  return total;
}

}  // namespace

std::string positions_group(Sequences sequences, CountsTable table, Index length) {
  return sequences == Sequences::document && !is_shuffled(table) ? std::string() : fmt::format("/length_{}", length);
}

std::string counts_group(Sequences sequences, CountsTable table, Index length) {
  return fmt::format("{}/counts{}{}", positions_group(sequences, table, length), is_shuffled(table) ? "_shuffled" : "",
                     is_half(table) ? "_half_a" : "");
}

CountTables::CountTables(const Communicator& comm, const CorpusCounts& counts) : counts_(counts), root_(comm.is_root()) {
  std::vector<Index> outline = outline_of(counts);
  broadcast_value(comm, outline);
  collective(comm, "preparing to write counts", [&] {
    expects(outline == outline_of(counts), "every rank has the same tables");
    expect_distinct(counts);
    for (const CountTable& t : counts.tables) {
      const Index first = owned_positions(t.length, comm.rank(), comm.size()).first;
      parts_.push_back({t.shuffled ? CountsTable::shuffled : CountsTable::corpus, t.length, &t.all, first});
      if (!counts.split) {
        expects(t.half_a.rows() == 0, "halves come with the option to split");
        continue;
      }
      parts_.push_back({t.shuffled ? CountsTable::shuffled_half_a : CountsTable::corpus_half_a, t.length, &t.half_a, first});
    }
    expect_own_positions(comm);
  });
  for (Part& part : parts_) {
    const Index mine = std::ssize(part.rows->token);
    part.offset = exclusive_sum(comm, mine);
    part.nonzeros = all_reduce(comm, mine);
  }
}

void CountTables::expect_own_positions(const Communicator& comm) const {
  for (const Part& part : parts_) {
    const PositionRows& rows = *part.rows;
    const OwnedPositions owned = owned_positions(part.length, comm.rank(), comm.size());
    expects(rows.rows() == owned.rows && (owned.rows == 0 || rows.first == owned.first), "a rank has the positions that it owns");
    expects(rows.indptr.front() == 0 && rows.indptr.back() == std::ssize(rows.token) && rows.token.size() == rows.count.size() &&
                std::is_sorted(rows.indptr.begin(), rows.indptr.end()),
            "counts are compressed sparse rows");
  }
}

void CountTables::lay_out(hid_t h5, DimensionScales& scales) const {
  for (const Part& part : parts_) {
    if (counts_.sequences == Sequences::document && part.table == CountsTable::corpus) hdf5::write_attribute(h5, "length", part.length);
  }
  hdf5::write_attribute(h5, "vocab_size", counts_.vocab_size);
  hdf5::write_attribute(h5, "document_count", counts_.document_count);
  hdf5::write_attribute(h5, "empty_document_count", counts_.empty_document_count);
  hdf5::write_attribute(h5, "token_count", counts_.token_count);
  hdf5::write_attribute(h5, "longest_document", counts_.longest_document);
  hdf5::write_attribute(h5, "sequences", std::string(name_of(counts_.sequences)));
  hdf5::write_attribute(h5, "split", std::int64_t{counts_.split ? 1 : 0});
  for (const Part& part : parts_) {
    const Index rows[]{part.length};
    const Index bounds[]{part.length + 1};
    const Index nonzeros[]{part.nonzeros};
    if (part.table == CountsTable::corpus) {
      const std::string place = positions_group(counts_.sequences, part.table, part.length);
      std::vector<std::int32_t> position(static_cast<std::size_t>(part.length));
      std::iota(position.begin(), position.end(), 0);
      hdf5::write_vector(h5, place + "/position", std::span<const std::int32_t>(position), rows);
      hdf5::create_dataset(h5, place + "/position_total", hdf5::file_type<Count>(), rows);
      scales.add(place + "/position");
      scales.attach(place + "/position_total", {place + "/position"});
    }
    const std::string group = counts_group(counts_.sequences, part.table, part.length);
    hdf5::create_dataset(h5, group + "/indptr", hdf5::file_type<Index>(), bounds);
    hdf5::create_dataset(h5, group + "/token", hdf5::file_type<Token>(), nonzeros);
    hdf5::create_dataset(h5, group + "/count", hdf5::file_type<Count>(), nonzeros);
    scales.add(group + "/indptr");
    scales.add(group + "/token");
    scales.attach(group + "/count", {group + "/token"});
  }
}

void CountTables::fill(SharedWriter& writer) const {
  for (const Part& part : parts_) {
    const PositionRows& rows = *part.rows;
    if (part.table == CountsTable::corpus) {
      const std::vector<Count> total = totals_of(rows);
      writer.run(positions_group(counts_.sequences, part.table, part.length) + "/position_total", part.first, std::span(total));
    }
    const std::string group = counts_group(counts_.sequences, part.table, part.length);
    // Every rank writes where its rows end; the root, where the first one begins, too.
    std::vector<Index> bounds(rows.indptr.begin() + (root_ ? 0 : 1), rows.indptr.end());
    for (Index& bound : bounds) bound += part.offset;
    writer.run(group + "/indptr", part.first + (root_ ? 0 : 1), std::span<const Index>(bounds));
    writer.run(group + "/token", part.offset, std::span<const Token>(rows.token));
    writer.run(group + "/count", part.offset, std::span<const Count>(rows.count));
  }
}

}  // namespace posgeom::io
