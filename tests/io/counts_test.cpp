// counts.h5 and checkpoints: what goes in comes out, whoever writes and whoever reads.
#include <set>

#include "hdf5/hdf5.hpp"
#include "io/known_files.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

const Provenance provenance = known_provenance(1);

/// Rows 0 .. length - 1 of `whole` are what was read.
void expect_rows(const PositionCounts& found, const PositionRows& whole, Index length) {
  const PositionRows rows = part_of(whole, 0, length);
  EXPECT_EQ(found.length, length);
  EXPECT_EQ(found.vocab_size, 7);
  EXPECT_EQ(found.document_count, 100);
  EXPECT_EQ(found.empty_document_count, 3);
  EXPECT_EQ(found.token_count, (Index{1} << 40) + 1000);
  EXPECT_EQ(found.longest_document, 9);
  EXPECT_EQ(found.indptr, rows.indptr);
  EXPECT_EQ(found.token, rows.token);
  EXPECT_EQ(found.count, rows.count);
  EXPECT_EQ(std::ssize(found.position_total), length);
  for (Index i = 0; i < std::ssize(found.position_total); ++i) {
    Count total = 0;
    for (Index k = rows.indptr[static_cast<std::size_t>(i)]; k < rows.indptr[static_cast<std::size_t>(i + 1)]; ++k) {
      total += rows.count[static_cast<std::size_t>(k)];
    }
    EXPECT_EQ(found.position_total[static_cast<std::size_t>(i)], total) << "position " << i;
  }
}

void expect_all_tables(const Communicator& comm, const std::string& path, const CorpusCounts& whole) {
  const CountsSummary summary = read_counts_summary(comm, path);
  std::vector<Index> lengths, shuffled;
  for (const CountTable& table : whole.tables) {
    (table.shuffled ? shuffled : lengths).push_back(table.length);
    std::set<Index> asked_for{table.length};
    // Documents of one table serve every shorter length.
    if (whole.sequences == Sequences::document && !table.shuffled) asked_for.insert({1, (table.length + 1) / 2});
    for (const Index n : asked_for) {
      const auto read = [&](CountsTable which) { return read_counts(comm, path, n, which); };
      expect_rows(read(table.shuffled ? CountsTable::shuffled : CountsTable::corpus), table.all, n);
      if (whole.split) expect_rows(read(table.shuffled ? CountsTable::shuffled_half_a : CountsTable::corpus_half_a), table.half_a, n);
    }
  }
  EXPECT_EQ(summary.sequences, whole.sequences);
  EXPECT_EQ(summary.split, whole.split);
  EXPECT_EQ(summary.shuffled, !shuffled.empty());
  EXPECT_EQ(summary.lengths, lengths);
  EXPECT_EQ(summary.shuffled_lengths, shuffled);
  EXPECT_EQ(summary.vocab_size, whole.vocab_size);
  EXPECT_EQ(summary.document_count, whole.document_count);
  EXPECT_EQ(summary.empty_document_count, whole.empty_document_count);
  EXPECT_EQ(summary.token_count, whole.token_count);
  EXPECT_EQ(summary.longest_document, whole.longest_document);
}

void expect_same_rows(const PositionRows& found, const PositionRows& expected) {
  EXPECT_TRUE(expected.rows() == 0 || found.first == expected.first);
  EXPECT_EQ(found.indptr, expected.indptr);
  EXPECT_EQ(found.token, expected.token);
  EXPECT_EQ(found.count, expected.count);
}

void expect_same(const CountCheckpoint& found, const CorpusCounts& share, const UnitSet& done) {
  EXPECT_EQ(found.done.to_triples(), done.to_triples());
  EXPECT_EQ(found.counts.sequences, share.sequences);
  EXPECT_EQ(found.counts.split, share.split);
  EXPECT_EQ(found.counts.vocab_size, share.vocab_size);
  EXPECT_EQ(found.counts.document_count, share.document_count);
  EXPECT_EQ(found.counts.empty_document_count, share.empty_document_count);
  EXPECT_EQ(found.counts.token_count, share.token_count);
  EXPECT_EQ(found.counts.longest_document, share.longest_document);
  EXPECT_EQ(found.counts.tables.size(), share.tables.size());
  for (std::size_t t = 0; t < std::min(found.counts.tables.size(), share.tables.size()); ++t) {
    EXPECT_EQ(found.counts.tables[t].length, share.tables[t].length);
    EXPECT_EQ(found.counts.tables[t].shuffled, share.tables[t].shuffled);
    expect_same_rows(found.counts.tables[t].all, share.tables[t].all);
    expect_same_rows(found.counts.tables[t].half_a, share.tables[t].half_a);
  }
}

/// The first ranks of the world, as a communicator of their own; the others get one too, and do as they are told with it.
Communicator first_ranks(int count) { return world().split(world().rank() < count ? 0 : 1); }

TEST(Counts, EveryModeAndLengthRoundTrips) {
  const Scratch scratch;
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    for (const std::vector<Index>& lengths : std::vector<std::vector<Index>>{{3}, {1, 4, 19}}) {
      for (const bool split : {false, true}) {
        for (const bool shuffle : {false, true}) {
          const CorpusCounts whole = known_whole(sequences, lengths, split, shuffle);
          write_counts(world(), scratch.path("counts.h5"), {share_of(whole, world()), {}}, provenance);
          expect_all_tables(world(), scratch.path("counts.h5"), whole);
        }
      }
    }
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"counts.h5"});
}

TEST(Counts, WrittenBySomeReadByOthers) {
  const Scratch scratch;
  const CorpusCounts whole = known_whole(Sequences::packed, {3, 10}, true, true);
  const CorpusCounts documents = known_whole(Sequences::document, {3, 10}, true, true);
  for (int writers = 1; writers <= world().size(); ++writers) {
    const Communicator some = first_ranks(writers);
    if (world().rank() < writers) {
      write_counts(some, scratch.path("packed.h5"), {share_of(whole, some), {}}, provenance);
      write_counts(some, scratch.path("documents.h5"), {share_of(documents, some), {}}, provenance);
    }
    barrier(world());
    expect_all_tables(world(), scratch.path("packed.h5"), whole);
    expect_all_tables(world(), scratch.path("documents.h5"), documents);
    barrier(world());
  }
}

TEST(Counts, SameBytesForEveryRankCount) {
  const Scratch scratch;
  for (const Sequences sequences : {Sequences::document, Sequences::chunk}) {
    const CorpusCounts whole = known_whole(sequences, {1, 3, 10}, true, true);
    write_counts(world(), scratch.path("all.h5"), {share_of(whole, world()), known_vocabulary()}, provenance);
    if (world().is_root()) {
      write_counts(Communicator::self(), scratch.path("one.h5"), {whole, known_vocabulary()}, provenance);
      EXPECT_TRUE(bytes_of(scratch.path("all.h5")) == bytes_of(scratch.path("one.h5")));
    }
  }
}

TEST(Counts, WithoutANonzero) {
  const Scratch scratch;
  for (const Sequences sequences : {Sequences::document, Sequences::packed}) {
    CorpusCounts whole = known_whole(sequences, {2, 5}, true, true);
    for (CountTable& table : whole.tables) {
      table.all = {0, std::vector<Index>(static_cast<std::size_t>(table.length) + 1, 0), {}, {}};
      table.half_a = table.all;
    }
    write_counts(world(), scratch.path("counts.h5"), {share_of(whole, world()), {}}, provenance);
    expect_all_tables(world(), scratch.path("counts.h5"), whole);
    write_count_checkpoint(world(), scratch.path("check.h5"), {share_of(whole, world()), {}}, provenance);
    expect_same(read_count_checkpoint(world(), scratch.path("check.h5")), share_of(whole, world()), {});
  }
}

TEST(Counts, AllNonzerosOnOneRank) {
  const Scratch scratch;
  for (Index full = 0; full < 7; ++full) {
    CorpusCounts whole = known_whole(Sequences::packed, {7}, false, false);
    PositionRows& rows = whole.tables[0].all;
    rows = {};
    for (Index i = 0; i < 7; ++i) {
      for (Token v = 0; i == full && v < 7; ++v) rows.token.push_back(v), rows.count.push_back(v + 1);
      rows.indptr.push_back(std::ssize(rows.token));
    }
    write_counts(world(), scratch.path("counts.h5"), {share_of(whole, world()), {}}, provenance);
    expect_all_tables(world(), scratch.path("counts.h5"), whole);
  }
}

TEST(Counts, LongWordInALargeVocabulary) {
  // Padded to the longest, these texts would take 2000 times a million bytes.
  const Scratch scratch;
  CountsFile file = known_counts(world());
  file.counts.vocab_size = 2000;
  file.vocabulary.assign(2000, "word");
  file.vocabulary[7] = std::string(1000000, 'w');
  write_counts(world(), scratch.path("counts.h5"), file, provenance);
  EXPECT_EQ(read_counts(world(), scratch.path("counts.h5"), 5).vocab_size, 2000);
  EXPECT_LT(std::filesystem::file_size(scratch.path("counts.h5")), 2000000U);
  if (world().is_root()) {
    const hdf5::Handle h5 = hdf5::open_to_read(scratch.path("counts.h5"));
    EXPECT_EQ(hdf5::read_texts(hdf5::open_dataset(h5, "/vocabulary")), file.vocabulary);
  }
}

TEST(Counts, OfTheFirstVersionAreRead) {
  // One table of documents and nothing of halves.
  const Scratch scratch;
  write_counts(world(), scratch.path("counts.h5"), known_counts(world()), provenance);
  if (world().is_root()) {
    const hdf5::Handle h5(H5Fopen(scratch.path("counts.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    EXPECT_GE(H5Adelete(h5, "split"), 0);
  }
  barrier(world());
  expect_all_tables(world(), scratch.path("counts.h5"), known_whole(Sequences::document, {5}, false, false));
}

TEST(Checkpoint, WrittenBySomeReadByOthers) {
  const Scratch scratch;
  const UnitSet done = known_checkpoint(Communicator::self()).done;
  for (const Sequences sequences : {Sequences::document, Sequences::chunk, Sequences::packed}) {
    for (const bool noise : {false, true}) {
      const CorpusCounts whole = known_whole(sequences, {3, 10}, noise, noise);
      const std::string path = scratch.path("check.h5");
      for (int count = 1; count <= world().size(); ++count) {
        const Communicator some = first_ranks(count);
        if (world().rank() < count) write_count_checkpoint(some, path, {share_of(whole, some), done}, provenance);
        barrier(world());
        expect_same(read_count_checkpoint(world(), path), share_of(whole, world()), done);
        expect_same(read_count_checkpoint(some, path), share_of(whole, some), done);
        barrier(world());
      }
      write_count_checkpoint(world(), path, {share_of(whole, world()), done}, provenance);
      for (int count = 1; count <= world().size(); ++count) {
        const Communicator some = first_ranks(count);
        expect_same(read_count_checkpoint(some, path), share_of(whole, some), done);
      }
      barrier(world());
    }
  }
}

}  // namespace
}  // namespace posgeom
