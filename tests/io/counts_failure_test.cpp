// Counts that are not there, and counts files and checkpoints that contradict themselves.
#include "hdf5/hdf5.hpp"
#include "io/edit.hpp"
#include "io/known_files.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

const Provenance provenance = known_provenance(1);

template <class T>
std::vector<T> changed(std::vector<T> values, std::size_t place, Index value) {
  values[place] = static_cast<T>(value);
  return values;
}

/// Every way in which the rows of a table, in `group`, can be wrong: the reader names the file, the dataset and the place.
void expect_bad_rows_refused(const std::string& path, const std::string& group, const PositionRows& rows,
                             const std::function<void()>& read) {
  const std::string good = bytes_of(path);
  const Index n = rows.rows(), nonzeros = std::ssize(rows.token);
  const auto refused = [&](const std::string& name, const auto& values, const std::vector<std::string>& parts) {
    put_bytes(path, good);
    edit(path, [&](hid_t f) { replace(f, group + "/" + name, values, {std::ssize(values)}); });
    std::vector<std::string> all{path, group + "/" + name, "the file is damaged"};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_error(read, all);
  };
  const auto end = static_cast<std::size_t>(n);
  refused("indptr", changed(rows.indptr, 0, 1), {"from 1", "expected 0 to"});
  refused("indptr", changed(rows.indptr, end, nonzeros + 1), {std::to_string(nonzeros + 1), "expected 0 to"});
  refused("indptr", changed(rows.indptr, 2, nonzeros + 1), {"falls at position 1"});
  refused("indptr", changed(rows.indptr, 2, rows.indptr[1] - 1), {"falls at position 1"});
  refused("indptr", changed(rows.indptr, 1, -1), {"falls at position 0"});
  refused("token", changed(rows.token, 1, rows.token[0]), {"at position 0", "ascending ids below 7"});
  refused("token", changed(rows.token, 0, -1), {"at position 0", "has -1"});
  refused("token", changed(rows.token, static_cast<std::size_t>(rows.indptr[1]) - 1, 7), {"at position 0", "has 7", "below 7"});
  refused("count", changed(rows.count, 1, 0), {"at position 0", "has 0", "at least 1"});
  refused("count", changed(rows.count, 1, -3), {"at position 0", "has -3", "at least 1"});
  refused("count", changed(rows.count, 1, std::numeric_limits<Count>::max()), {"at position 0", "a sum of 64 bits"});
  refused("count", std::vector<Count>(rows.count.begin(), rows.count.end() - 1), {"shape"});
  put_bytes(path, good);
  read();
}

TEST(Rows, ThatContradictThemselves) {
  const Scratch scratch;
  const std::string path = scratch.path("counts.h5");
  const CorpusCounts whole = known_whole(Sequences::packed, {3, 8}, true, true);
  write_counts(world(), path, {share_of(whole, world()), {}}, provenance);
  const auto refused = [&](CountsTable which, const std::string& group, const PositionRows& rows) {
    expect_bad_rows_refused(path, group, rows, [&] { read_counts(world(), path, 8, which); });
  };
  refused(CountsTable::corpus, "/length_8/counts", whole.tables[1].all);
  refused(CountsTable::corpus_half_a, "/length_8/counts_half_a", whole.tables[1].half_a);
  refused(CountsTable::shuffled, "/length_8/counts_shuffled", whole.tables[3].all);
  refused(CountsTable::shuffled_half_a, "/length_8/counts_shuffled_half_a", whole.tables[3].half_a);
  const CorpusCounts documents = known_whole(Sequences::document, {8}, false, false);
  write_counts(world(), path, {share_of(documents, world()), {}}, provenance);
  expect_bad_rows_refused(path, "/counts", documents.tables[0].all, [&] { read_counts(world(), path, 4); });
  write_count_checkpoint(world(), path, {share_of(whole, world()), {}}, provenance);
  expect_bad_rows_refused(path, "/length_8/counts_shuffled_half_a", whole.tables[3].half_a, [&] { read_count_checkpoint(world(), path); });
}

TEST(Totals, ThatTheRowsDoNotSumTo) {
  const Scratch scratch;
  const std::string path = scratch.path("counts.h5");
  const CorpusCounts whole = known_whole(Sequences::document, {3, 5}, true, true);
  write_counts(world(), path, {share_of(whole, world()), {}}, provenance);
  const std::string good = bytes_of(path);
  const std::vector<Count> totals = read_counts(world(), path, 5).position_total;
  const auto with_total = [&](std::size_t place, Count value) {
    put_bytes(path, good);
    edit(path, [&](hid_t f) { replace(f, "/position_total", changed(totals, place, value), {5}); });
  };
  with_total(2, 97);
  expect_error([&] { read_counts(world(), path, 5); }, {path, "/position_total is 97 at position 2", "/counts sum to 96"});
  expect_error([&] { read_counts(world(), path, 3, CountsTable::shuffled); },
               {path, "/position_total is 97 at position 2", "/length_3/counts_shuffled sum to 96"});
  read_counts(world(), path, 2);
  read_counts(world(), path, 5, CountsTable::corpus_half_a);
  with_total(1, 13);
  expect_error([&] { read_counts(world(), path, 4, CountsTable::corpus_half_a); },
               {path, "/position_total is 13 at position 1", "/counts_half_a sum to 14", "half a is a part of all"});
  expect_error([&] { read_counts(world(), path, 3, CountsTable::shuffled_half_a); },
               {path, "/position_total is 13 at position 1", "/length_3/counts_shuffled_half_a sum to 14", "half a is a part of all"});
}

TEST(NotThere, LengthsHalvesAndShuffledCounts) {
  const Scratch scratch;
  const std::string path = scratch.path("counts.h5");
  write_counts(world(), path, known_counts(world()), provenance);
  expect_error([&] { read_counts(world(), path, 6); }, {path, "5 positions, not 6", "posgeom count", "--lengths 6"});
  expect_error([&] { read_counts(world(), path, 5, CountsTable::corpus_half_a); }, {path, "halves", "--noise split"});
  expect_error([&] { read_counts(world(), path, 5, CountsTable::shuffled); }, {path, "shuffled", "--noise shuffle"});
  expect_error([&] { read_counts(world(), path, 0); }, {"counts have positions"});
  write_counts(world(), path, {share_of(known_whole(Sequences::document, {3, 5}, false, true), world()), {}}, provenance);
  expect_error([&] { read_counts(world(), path, 4, CountsTable::shuffled); },
               {path, "no shuffled counts of length 4", "3, 5", "posgeom count", "--lengths 4"});
  expect_error([&] { read_counts(world(), path, 3, CountsTable::shuffled_half_a); }, {path, "halves"});
  write_counts(world(), path, {share_of(known_whole(Sequences::chunk, {2, 3, 11}, false, false), world()), {}}, provenance);
  for (const Index n : {1, 4, 10, 12}) {
    expect_error([&] { read_counts(world(), path, n); },
                 {path, "no counts of length " + std::to_string(n), "2, 3, 11", "posgeom count", "--lengths " + std::to_string(n)});
  }
}

TEST(Summary, ThatContradictsItself) {
  const Scratch scratch;
  const std::string path = scratch.path("counts.h5");
  const auto refused = [&](const std::function<void(hid_t)>& change, const std::vector<std::string>& parts) {
    const std::string good = bytes_of(path);
    barrier(world());
    edit(path, change);
    expect_error([&] { read_counts_summary(world(), path); }, parts);
    expect_error([&] { read_counts(world(), path, 3); }, parts);
    expect_error([&] { inspect_file(world(), path); }, parts);
    put_bytes(path, good);
  };
  const auto set = [](const std::string& name, auto value) {
    return [=](hid_t f) {
      H5Adelete(f, name.c_str());
      hdf5::write_attribute(f, name, value);
    };
  };
  const auto remove_group = [](const std::string& name) { return [=](hid_t f) { H5Ldelete(f, name.c_str(), H5P_DEFAULT); }; };
  write_counts(world(), path, {share_of(known_whole(Sequences::document, {3, 5}, true, true), world()), known_vocabulary()}, provenance);
  for (const Index length : {Index{0}, Index{-7}, Index{1} << 31, std::numeric_limits<Index>::max()}) {
    refused(set("length", length), {path, "attribute length is " + std::to_string(length), "expected 1 to"});
  }
  refused(set("length", Index{4}), {path, "/length_5/counts_shuffled is there", "own counts are not"});
  refused(set("sequences", std::string("windows")), {path, "sequences is `windows`", "document, chunk or packed"});
  refused(set("split", std::string("yes")), {path, "split is text", "an integer"});
  for (const char* name : {"vocab_size", "document_count", "empty_document_count", "token_count", "longest_document", "sequences"}) {
    refused([&](hid_t f) { H5Adelete(f, name); }, {path, name, "missing", "posgeom count"});
  }
  refused(
      [&](hid_t f) {
        H5Ldelete(f, "/vocabulary", H5P_DEFAULT);
        hdf5::write_texts(f, "/vocabulary", {"one", "two"});
      },
      {path, "/vocabulary has 2", "vocab_size = 7"});
  write_counts(world(), path, {share_of(known_whole(Sequences::packed, {3}, true, true), world()), {}}, provenance);
  refused(remove_group("/length_3"), {path, "/length_<n>/counts"});
  write_counts(world(), path, {share_of(known_whole(Sequences::packed, {3, 5}, true, true), world()), {}}, provenance);
  refused(remove_group("/length_5/counts"), {path, "/length_5/counts_shuffled is there", "own counts are not"});
}

TEST(Groups, OfOtherNamesAreNotLengths) {
  const Scratch scratch;
  const std::string path = scratch.path("counts.h5");
  write_counts(world(), path, {share_of(known_whole(Sequences::packed, {3, 5}, false, false), world()), {}}, provenance);
  edit(path, [](hid_t f) {
    const std::vector<Index> one{1};
    for (const char* name :
         {"length_", "length_07", "length_-2", "length_4x", "length_9999999999", "length_99999999999999999999", "len_8"}) {
      hdf5::create_dataset(f, "/" + std::string(name) + "/counts/token", hdf5::file_type<Token>(), one);
    }
  });
  EXPECT_EQ(read_counts_summary(world(), path).lengths, (std::vector<Index>{3, 5}));
}

TEST(Checkpoint, UnitsThatAreNotOnes) {
  const Scratch scratch;
  const std::string path = scratch.path("check.h5");
  write_count_checkpoint(world(), path, known_checkpoint(world()), provenance);
  edit(path, [](hid_t f) { replace<Index>(f, "/units_done", {0, 4, 4}, {1, 3}); });
  expect_error([&] { read_count_checkpoint(world(), path); },
               {path, "/units_done", "remove it", "`posgeom count` or `posgeom run` starts anew"});
  edit(path, [](hid_t f) { replace<Index>(f, "/units_done", {0, 4, 5, 7}, {2, 2}); });
  expect_error([&] { read_count_checkpoint(world(), path); }, {path, "/units_done has shape [2, 2]", "[any, 3]"});
  edit(path, [](hid_t f) { replace<std::int32_t>(f, "/units_done", {0, 4, 5}, {1, 3}); });
  expect_error([&] { read_count_checkpoint(world(), path); }, {path, "/units_done holds int32", "int64"});
}

TEST(Checkpoint, IsNotACountsFileNorTheOtherWayRound) {
  const Scratch scratch;
  write_count_checkpoint(world(), scratch.path("check.h5"), known_checkpoint(world()), provenance);
  write_counts(world(), scratch.path("counts.h5"), known_counts(world()), provenance);
  expect_error([&] { read_counts(world(), scratch.path("check.h5"), 3); }, {"check.h5", "posgeom count checkpoint", "posgeom-counts"});
  expect_error([&] { read_counts_summary(world(), scratch.path("check.h5")); }, {"check.h5", "posgeom count checkpoint"});
  expect_error([&] { read_count_checkpoint(world(), scratch.path("counts.h5")); }, {"counts.h5", "posgeom count checkpoint"});
}

}  // namespace
}  // namespace posgeom
