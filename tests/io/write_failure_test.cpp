#include <fcntl.h>
#include <sys/file.h>

#include "io/file_size_limit.hpp"
#include "io/known_files.hpp"
#include "io/partial_file.hpp"
#include "io/store_file.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

const Provenance provenance = known_provenance(1);

void write_some(const std::string& path) { write_geometry(world(), path, known_geometry(), nullptr, provenance); }

TEST(Folder, MissingNotAFolderOrNotOurs) {
  const Scratch scratch;
  put_bytes(scratch.path("file"), "text");
  expect_error([&] { write_some(scratch.path("none/g.h5")); }, {"none/g.h5", "No such file or directory", "folder exists"});
  expect_error([&] { write_some(scratch.path("file/g.h5")); }, {"file/g.h5", "Not a directory"});
  expect_error([&] { write_some("/proc/g.h5"); }, {"/proc/g.h5"});
  expect_error([&] { write_some(scratch.path(std::string(300, 'x'))); }, {"File name too long"});
  expect_error([&] { write_sweep_csv(world(), scratch.path("none/s.csv"), known_sweep()); }, {"none/s.csv", "No such file or directory"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"file"});
}

TEST(Folder, OfTheFilesOwnName) {
  const Scratch scratch;
  if (world().is_root()) std::filesystem::create_directory(scratch.path("g.h5"));
  barrier(world());
  expect_error([&] { write_some(scratch.path("g.h5")); }, {"g.h5", "Is a directory"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5"});
}

TEST(Existing, IsReplaced) {
  const Scratch scratch;
  put_bytes(scratch.path("g.h5"), "something else, longer or shorter");
  write_some(scratch.path("g.h5"));
  EXPECT_EQ(read_geometry(world(), scratch.path("g.h5")).position, known_geometry().position);
  write_sweep_csv(world(), scratch.path("g.h5"), known_sweep());
  EXPECT_TRUE(bytes_of(scratch.path("g.h5")).starts_with("length,dimension,encoding,raw"));
}

TEST(Stale, PartialAndLockOfAKilledRunAreTakenOver) {
  const Scratch scratch;
  put_bytes(scratch.path("g.h5.partial"), std::string(1 << 20, 'x'));
  put_bytes(scratch.path("g.h5.lock"), "process 1 on nowhere");
  write_some(scratch.path("g.h5"));
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5"});
  EXPECT_EQ(read_geometry(world(), scratch.path("g.h5")).position, known_geometry().position);
}

TEST(Stale, PartialThatIsAFolderIsRefused) {
  const Scratch scratch;
  if (world().is_root()) std::filesystem::create_directory(scratch.path("g.h5.partial"));
  barrier(world());
  expect_error([&] { write_some(scratch.path("g.h5")); }, {"g.h5.partial"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5.partial"});
}

TEST(Lock, SecondWriterIsRefusedAndTheFirstGoesOn) {
  const Scratch scratch;
  {
    std::optional<io::PartialFile> first;
    if (world().is_root()) {
      first.emplace(scratch.path("g.h5"));
      first->write(std::string("the first one's"));
    }
    barrier(world());
    expect_error([&] { write_some(scratch.path("g.h5")); }, {"g.h5", "is writing it now", "process ", "g.h5.lock", "--out"});
    expect_error([&] { write_sweep_csv(world(), scratch.path("g.h5"), known_sweep()); }, {"is writing it now"});
    if (world().is_root()) first->commit();
    barrier(world());
  }
  barrier(world());
  EXPECT_EQ(bytes_of(scratch.path("g.h5")), "the first one's");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5"});
}

TEST(OneRank, ThatHoldsAWrongTableEndsAll) {
  const Scratch scratch;
  write_stress(world(), scratch.path("s.h5"), known_stress(), known_encodings(), provenance);
  const std::string before = bytes_of(scratch.path("s.h5"));
  std::vector<StoredEncoding> encodings = known_encodings();
  if (world().rank() == world().size() - 1) encodings[2].values.resize(5);
  expect_error([&] { write_stress(world(), scratch.path("s.h5"), known_stress(), encodings, provenance); }, {"rows x columns values"});
  const auto expect_refused = [&](const std::function<void(CorpusCounts&)>& change, const std::string& part) {
    CountsFile file{share_of(known_whole(Sequences::packed, {60, 131}, true, true), world()), {}};
    if (world().rank() == world().size() - 1) change(file.counts);
    expect_error([&] { write_counts(world(), scratch.path("s.h5"), file, provenance); }, {part});
    expect_error([&] { write_count_checkpoint(world(), scratch.path("s.h5"), {file.counts, {}}, provenance); }, {part});
  };
  expect_refused([](CorpusCounts& c) { c.tables[1].all.count.push_back(1); }, "compressed sparse rows");
  expect_refused([](CorpusCounts& c) { c.tables[0].half_a.indptr.back() += 1; }, "compressed sparse rows");
  expect_refused([](CorpusCounts& c) { c.tables[3].all.indptr.push_back(c.tables[3].all.indptr.back()); }, "positions that it owns");
  expect_refused([](CorpusCounts& c) { c.tables[1].all.first += 1; }, "positions that it owns");
  expect_refused([](CorpusCounts& c) { c.tables[2].half_a = {}; }, "positions that it owns");
  if (world().size() == 1) {
    expect_refused([](CorpusCounts& c) { c.tables[1].length = 60; }, "a place of its own");
    expect_refused([](CorpusCounts& c) { c.split = false; }, "halves come with the option");
    expect_refused([](CorpusCounts& c) { c.sequences = Sequences::document; }, "a place of its own");
    expect_refused([](CorpusCounts& c) { c.sequences = Sequences::document, c.tables.erase(c.tables.begin(), c.tables.begin() + 2); },
                   "serves all lengths");
    expect_refused([](CorpusCounts& c) { c.tables[0].length = 0; }, "has positions");
  } else {
    expect_refused([](CorpusCounts& c) { c.tables.pop_back(); }, "the same tables");
    expect_refused([](CorpusCounts& c) { c.split = false; }, "the same tables");
    expect_refused([](CorpusCounts& c) { c.sequences = Sequences::chunk; }, "the same tables");
    expect_refused([](CorpusCounts& c) { c.tables[2].shuffled = false; }, "the same tables");
  }
  EXPECT_TRUE(bytes_of(scratch.path("s.h5")) == before);
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"s.h5"});
}

/// A geometry of m x 64 numbers.
GeometryFile large_geometry(Index m) {
  GeometryFile file = known_geometry();
  file.length = m;
  file.position.clear();
  for (Index i = 0; i < m; ++i) file.position.push_back(static_cast<std::int32_t>(i));
  file.spectrum.rank = 64;
  file.encoding = {m, 64, 64, std::vector<double>(static_cast<std::size_t>(64 * m), 1.0)};
  return file;
}

TEST(FullDisk, OnAnyRankTheEarlierFileSurvives) {
  const Scratch scratch;
  const std::string path = scratch.path("g.h5");
  write_some(path);
  const std::string before = bytes_of(path);
  const GeometryFile large = large_geometry(8192);  // 4 MB
  for (int limited = -1; limited < world().size(); ++limited) {
    std::string text;
    {
      // -1: all ranks. Which rank's writes reach the file is MPI-IO's choice: a limit on one of the others may not show.
      std::optional<FileSizeLimit> limit;
      if (limited < 0 || limited == world().rank()) limit.emplace(1 << 20);
      try {
        write_geometry(world(), path, large, nullptr, provenance);
      } catch (const CollectiveError& error) {
        text = error.what();
      }
    }
    std::string of_root = text;
    broadcast_resized(world(), of_root);
    EXPECT_EQ(text, of_root);
    EXPECT_TRUE(limited >= 0 || !text.empty()) << "a limit on all ranks went unnoticed";
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5"});
    if (text.empty()) {
      EXPECT_EQ(read_geometry(world(), path).encoding.values, large.encoding.values) << "limited rank " << limited;
      write_some(path);
    } else {
      EXPECT_NE(text.find("g.h5"), std::string::npos) << text;
      EXPECT_TRUE(bytes_of(path) == before) << "limited rank " << limited;
    }
    barrier(world());
  }
}

TEST(FullDisk, WhileTheLargeDatasetsAreWritten) {
  // Past the reservation of space: a write fails within MPI-IO, which may or may not tell. The limit lasts until the file is closed.
  const Scratch scratch;
  const std::string path = scratch.path("g.h5");
  write_some(path);
  const std::string before = bytes_of(path);
  const Index shape[]{8192, 64};
  const auto layout = [&](hid_t file) { hdf5::create_dataset(file, "/large", hdf5::file_type<double>(), shape); };
  std::optional<FileSizeLimit> limit;
  const auto fill = [&](io::SharedWriter& writer) {
    if (!limit) limit.emplace(1 << 20);
    writer.rows("/large", [](Index, Index, std::span<double> rows) { std::fill(rows.begin(), rows.end(), 1.0); });
  };
  expect_error([&] { io::write_store(world(), path, io::sweep_format, provenance, layout, fill); }, {"g.h5.partial:/large"});
  limit.reset();
  EXPECT_TRUE(bytes_of(path) == before);
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"g.h5"});
}

TEST(FullDisk, AtTheFirstBytes) {
  const Scratch scratch;
  {
    std::optional<FileSizeLimit> limit;
    if (world().is_root()) limit.emplace(100);
    expect_error([&] { write_some(scratch.path("g.h5")); }, {"g.h5.partial", "File too large", "ulimit -f"});
    expect_error([&] { write_sweep_csv(world(), scratch.path("s.csv"), known_sweep()); }, {"s.csv.partial", "File too large"});
  }
  EXPECT_TRUE(scratch.names().empty());
}

}  // namespace
}  // namespace posgeom
