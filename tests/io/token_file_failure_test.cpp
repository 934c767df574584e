#include <sys/stat.h>

#include <optional>

#include "io/file_size_limit.hpp"
#include "io/partial_file.hpp"
#include "io/token_files.hpp"

namespace posgeom {
namespace {

using Kind = TokenFileKind;

void write_known(const std::string& prefix, Kind kind, bool force, Index vocab_size = 50257) {
  TokenFileWriter writer(world(), prefix, kind, vocab_size, -1, force);
  append_in_parts(writer, known_documents(20, vocab_size), 2, 1);
  writer.finish();
}

/// Expects that `action` fails with `parts` in its text, as a usage error, on every rank.
void expect_usage_error(const std::function<void()>& action, const std::vector<std::string>& parts) {
  ErrorKind kind = ErrorKind::run;
  expect_error(
      [&] {
        try {
          action();
        } catch (const CollectiveError& error) {
          kind = error.kind();
          throw;
        }
      },
      parts);
  EXPECT_EQ(kind, ErrorKind::usage);
}

TEST(Options, ThatNoFormatTakes) {
  const Scratch scratch;
  const auto make = [&](Kind kind, Index vocab_size, Index separator) {
    return [=, &scratch] { TokenFileWriter(world(), scratch.path("a"), kind, vocab_size, separator, false); };
  };
  expect_usage_error(make(Kind::raw, 0, -1), {"vocabulary size is 0", "expected 1 to 2147483648"});
  expect_usage_error(make(Kind::megatron, (Index{1} << 31) + 1, -1), {"vocabulary size is 2147483649"});
  expect_usage_error(make(Kind::raw, 10, -2), {"separator is -2", "0 to 4294967295"});
  expect_usage_error(make(Kind::raw, 10, Index{1} << 32), {"separator is 4294967296"});
  expect_usage_error(make(Kind::megatron, 10, 3), {"megatron files have no separator"});
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Existing, IsRefusedUnlessForced) {
  const Scratch scratch;
  for (const char* name : {"a.bin", "a.idx"}) {
    for (const Kind kind : {Kind::megatron, Kind::raw}) {
      put_bytes(scratch.path(name), "old");
      expect_error([&] { write_known(scratch.path("a"), kind, false); }, {scratch.path(name), "exists already", "--force"});
      EXPECT_EQ(bytes_of(scratch.path(name)), "old");
      EXPECT_EQ(scratch.names(), std::vector<std::string>{name});
      write_known(scratch.path("a"), kind, true);
      // An index of an earlier file must not pass for that of a raw one.
      EXPECT_EQ(scratch.names(), kind == Kind::raw ? std::vector<std::string>{"a.bin"} : (std::vector<std::string>{"a.bin", "a.idx"}));
      EXPECT_NE(bytes_of(scratch.path("a.bin")), "old");
      barrier(world());
      if (world().is_root()) std::filesystem::remove(scratch.path("a.bin")), std::filesystem::remove(scratch.path("a.idx"));
      barrier(world());
    }
  }
}

TEST(Existing, ThatAppearsMeanwhileIsRefusedToo) {
  const Scratch scratch;
  TokenFileWriter writer(world(), scratch.path("a"), Kind::megatron, 10, -1, false);
  put_bytes(scratch.path("a.bin"), "another program's");
  expect_error([&] { writer.finish(); }, {scratch.path("a.bin"), "exists already"});
  EXPECT_EQ(bytes_of(scratch.path("a.bin")), "another program's");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.bin"});
}

TEST(Folder, MissingOrOfTheFilesName) {
  const Scratch scratch;
  expect_error([&] { write_known(scratch.path("none/a"), Kind::raw, false); },
               {"none/a.bin", "No such file or directory", "folder exists"});
  if (world().is_root()) std::filesystem::create_directory(scratch.path("a.idx"));
  barrier(world());
  expect_error([&] { write_known(scratch.path("a"), Kind::megatron, true); }, {"a.idx", "Is a directory"});
  expect_error([&] { write_known(scratch.path("a"), Kind::raw, true); }, {"a.idx", "Is a directory"});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.idx"});
}

TEST(Stale, PartialAndLockOfAKilledRunAreTakenOver) {
  const Scratch scratch;
  for (const char* name : {"a.bin.partial", "a.idx.partial"}) put_bytes(scratch.path(name), std::string(1 << 20, 'x'));
  for (const char* name : {"a.bin.lock", "a.idx.lock"}) put_bytes(scratch.path(name), "process 1 on nowhere");
  write_known(scratch.path("a"), Kind::megatron, false);
  write_known(scratch.path("b"), Kind::megatron, false);
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a.bin", "a.idx", "b.bin", "b.idx"}));
  EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == bytes_of(scratch.path("b.bin")));
  EXPECT_TRUE(bytes_of(scratch.path("a.idx")) == bytes_of(scratch.path("b.idx")));
}

TEST(Lock, SecondWriterIsRefusedAndTheFirstGoesOn) {
  const Scratch scratch;
  TokenFileWriter first(world(), scratch.path("a"), Kind::megatron, 50257, -1, false);
  append_in_parts(first, known_documents(20, 50257), 1, 1);
  for (const Kind kind : {Kind::megatron, Kind::raw}) {
    expect_error([&] { write_known(scratch.path("a"), kind, true); }, {"a.bin", "is writing it now", "process ", "a.bin.lock"});
  }
  first.finish();
  write_known(scratch.path("b"), Kind::megatron, false);
  EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == bytes_of(scratch.path("b.bin")));
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a.bin", "a.idx", "b.bin", "b.idx"}));
}

TEST(Unfinished, LeavesNothing) {
  const Scratch scratch;
  put_bytes(scratch.path("a.bin"), "old");
  put_bytes(scratch.path("a.idx"), "old too");
  {
    TokenFileWriter writer(world(), scratch.path("a"), Kind::megatron, 50257, -1, true);
    append_in_parts(writer, known_documents(20, 50257), 2, 1);
    EXPECT_EQ(bytes_of(scratch.path("a.bin")), "old");
    barrier(world());
  }
  barrier(world());
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a.bin", "a.idx"}));
  EXPECT_EQ(bytes_of(scratch.path("a.bin")), "old");
  EXPECT_EQ(bytes_of(scratch.path("a.idx")), "old too");
}

TEST(Ids, OutOfTheVocabularyAreNamedByDocumentAndPosition) {
  const Scratch scratch;
  const int ranks = world().size();
  for (int bad_rank = 0; bad_rank < ranks; ++bad_rank) {
    for (const Token bad : {100, 65536, -1}) {
      TokenFileWriter writer(world(), scratch.path("a"), Kind::raw, 100, -1, false);
      writer.append(std::vector<Token>{1, 2}, std::vector<std::int32_t>{0, 2});  // two documents a rank
      std::vector<Token> ids{5, 99, 0, 6};
      if (world().rank() == bad_rank) ids[3] = bad;
      // The empty ones before and after the third token are passed over.
      const std::string document = std::to_string(2 * ranks + 5 * bad_rank + 3);
      expect_error(
          [&] {
            writer.append(ids, std::vector<std::int32_t>{2, 0, 0, 2, 0});
          },
          {scratch.path("a.bin"), "document " + document + ", position 1", "id " + std::to_string(bad), "expected 0 to 99"});
      EXPECT_TRUE(scratch.names().empty());
      EXPECT_THROW(writer.append({}, {}), std::logic_error);
      EXPECT_THROW(writer.finish(), std::logic_error);
    }
  }
}

TEST(Lengths, NegativeOrNotThoseOfTheTokens) {
  const Scratch scratch;
  const bool last = world().rank() == world().size() - 1;
  const auto append = [&](const std::vector<Token>& ids, const std::vector<std::int32_t>& lengths) {
    TokenFileWriter writer(world(), scratch.path("a"), Kind::megatron, 10, -1, false);
    writer.append(last ? ids : std::vector<Token>{}, last ? lengths : std::vector<std::int32_t>{});
  };
  expect_error([&] { append({1}, {2, -1}); }, {"a.bin", "document 1 has -1 tokens", "0 to 2147483647"});
  expect_error([&] { append({1}, {2}); }, {"lengths add up"});
  expect_error([&] { append({1, 2, 3}, {2}); }, {"lengths add up"});
  EXPECT_TRUE(scratch.names().empty());
}

TEST(FullDisk, OnAnyRankEndsAllAndTheEarlierFilesSurvive) {
  const Scratch scratch;
  for (const Kind kind : {Kind::megatron, Kind::raw}) {
    write_known(scratch.path("a"), kind, true);
    const std::string bin = bytes_of(scratch.path("a.bin"));
    const std::vector<std::string> names = scratch.names();
    const std::vector<Token> ids(200000, 3);
    const std::vector<std::int32_t> lengths{200000};
    for (int limited = 0; limited < world().size(); ++limited) {
      const auto write = [&] {
        TokenFileWriter writer(world(), scratch.path("a"), kind, 10, -1, true);
        // Each rank's part ends beyond the limit; the files are open by then.
        std::optional<FileSizeLimit> limit;
        if (world().rank() == limited) limit.emplace(300000);
        writer.append(ids, lengths);
        writer.finish();
      };
      expect_error(write, {"a.bin.partial", "File too large", "ulimit -f"});
      EXPECT_EQ(scratch.names(), names);
      EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == bin);
      barrier(world());
    }
  }
}

TEST(FullDisk, WhileTheIndexIsWritten) {
  const Scratch scratch;
  write_known(scratch.path("a"), Kind::megatron, true);
  const std::string bin = bytes_of(scratch.path("a.bin")), idx = bytes_of(scratch.path("a.idx"));
  for (int limited = 0; limited < world().size(); ++limited) {
    const auto write = [&] {
      TokenFileWriter writer(world(), scratch.path("a"), Kind::megatron, 10, -1, true);
      writer.append({}, std::vector<std::int32_t>(10000, 0));
      std::optional<FileSizeLimit> limit;
      if (world().rank() == limited) limit.emplace(1000);
      writer.finish();
    };
    expect_error(write, {"a.idx.partial", "File too large"});
    EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a.bin", "a.idx"}));
    EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == bin && bytes_of(scratch.path("a.idx")) == idx);
    barrier(world());
  }
}

TEST(Tampered, PartialFileIsNotGivenItsName) {
  const Scratch scratch;
  TokenFileWriter writer(world(), scratch.path("a"), Kind::raw, 10, -1, false);
  writer.append(std::vector<Token>{1, 2, 3}, std::vector<std::int32_t>{3});
  barrier(world());
  if (world().is_root()) std::filesystem::resize_file(scratch.path("a.bin.partial"), 2);
  barrier(world());
  expect_error([&] { writer.finish(); }, {"a.bin.partial", "2 bytes", "expected " + std::to_string(6 * world().size())});
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Finish, IsTheEnd) {
  const Scratch scratch;
  TokenFileWriter writer(world(), scratch.path("a"), Kind::raw, 10, -1, false);
  writer.finish();
  EXPECT_THROW(writer.finish(), std::logic_error);
  EXPECT_THROW(writer.append({}, {}), std::logic_error);
  EXPECT_EQ(bytes_of(scratch.path("a.bin")), "");
}

}  // namespace
}  // namespace posgeom
