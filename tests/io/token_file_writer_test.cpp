#include <fcntl.h>

#include "io/megatron_index.hpp"
#include "io/token_files.hpp"

namespace posgeom {
namespace {

/// The bytes of `values`, each stored as a T.
template <class T, class Values>
std::string stored_as(const Values& values) {
  std::string bytes;
  for (const auto value : values) {
    const auto stored = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof(T));
  }
  return bytes;
}

std::string expected_index(const Documents& all, int width) {
  std::vector<std::int64_t> offsets, boundaries{0};
  std::int64_t byte = 0;
  for (const std::int32_t length : all.lengths) {
    offsets.push_back(byte);
    byte += std::int64_t{length} * width;
    boundaries.push_back(std::ssize(offsets));
  }
  const std::vector<std::uint64_t> sizes{all.lengths.size(), all.lengths.size() + 1};
  return std::string("MMIDIDX\0\0", 9) + stored_as<std::uint64_t>(std::vector<int>{1}) + std::string(1, width == 2 ? '\x08' : '\x04') +
         stored_as<std::uint64_t>(sizes) + stored_as<std::int32_t>(all.lengths) + stored_as<std::int64_t>(offsets) +
         stored_as<std::int64_t>(boundaries);
}

std::string expected_ids(const Documents& all, int width, Index separator) {
  std::vector<std::int64_t> ids;
  auto token = all.tokens.begin();
  for (const std::int32_t length : all.lengths) {
    ids.insert(ids.end(), token, token + length);
    if (separator >= 0) ids.push_back(separator);
    token += length;
  }
  return width == 2 ? stored_as<std::uint16_t>(ids) : stored_as<std::uint32_t>(ids);
}

TEST(Megatron, TheSameBytesHoweverTheyCame) {
  const Scratch scratch;
  for (const Index vocab_size : {Index{1}, Index{50257}, Index{65499}, Index{65500}, Index{70000}, Index{1} << 31}) {
    const int width = vocab_size < 65500 ? 2 : 4;
    for (const Index count : {0, 1, 2, 5, 97}) {
      const Documents all = known_documents(count, vocab_size);
      for (const int calls : {1, 2, 7}) {
        TokenFileWriter writer(world(), scratch.path("a"), TokenFileKind::megatron, vocab_size, -1, true);
        append_in_parts(writer, all, calls, static_cast<unsigned>(calls + world().size()));
        EXPECT_EQ(writer.width(), width);
        EXPECT_EQ(writer.document_count(), count);
        EXPECT_EQ(writer.token_count(), std::ssize(all.tokens));
        writer.finish();
        EXPECT_EQ(scratch.names(), (std::vector<std::string>{"a.bin", "a.idx"}));
        EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == expected_ids(all, width, -1)) << "V = " << vocab_size << ", calls " << calls;
        EXPECT_TRUE(bytes_of(scratch.path("a.idx")) == expected_index(all, width)) << "V = " << vocab_size << ", calls " << calls;
        barrier(world());
      }
    }
  }
}

TEST(Raw, TheSameBytesHoweverTheyCame) {
  const Scratch scratch;
  struct Case {
    Index vocab_size, separator;
    int width;
  };
  constexpr Index many = Index{1} << 31;
  for (const Case& c : {Case{50257, 50256, 2},
                        {65536, -1, 2},
                        {65536, 65535, 2},
                        {65537, -1, 4},
                        {100, 65536, 4},
                        {100, 0, 2},
                        {70000, 4294967295, 4},
                        {many, -1, 4},
                        {1, -1, 2}}) {
    for (const Index count : {0, 1, 5, 97}) {
      const Documents all = known_documents(count, c.vocab_size);
      for (const int calls : {1, 3}) {
        TokenFileWriter writer(world(), scratch.path("a"), TokenFileKind::raw, c.vocab_size, c.separator, true);
        append_in_parts(writer, all, calls, static_cast<unsigned>(calls + world().size()));
        EXPECT_EQ(writer.width(), c.width);
        EXPECT_EQ(writer.document_count(), count);
        EXPECT_EQ(writer.token_count(), std::ssize(all.tokens));
        writer.finish();
        EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.bin"});
        EXPECT_TRUE(bytes_of(scratch.path("a.bin")) == expected_ids(all, c.width, c.separator))
            << "V = " << c.vocab_size << ", separator " << c.separator << ", calls " << calls;
        barrier(world());
      }
    }
  }
}

TEST(Large, DocumentsPassTheBuffer) {
  // Documents of three buffers, of a buffer's ids less one, exactly, and one more: all pieces' edges.
  const Scratch scratch;
  constexpr Index ids = io::OffsetWriter::buffer_bytes / 2;
  for (const Index vocab_size : {60000, 100000}) {
    Documents all;
    for (const Index length : {3 * ids, ids - 1, ids, ids + 1, ids / 2, Index{0}, Index{1}}) {
      all.lengths.push_back(static_cast<std::int32_t>(length));
      for (Index t = 0; t < length; ++t) all.tokens.push_back(static_cast<Token>((t * t + length) % vocab_size));
    }
    const int width = vocab_size < 65500 ? 2 : 4;
    TokenFileWriter megatron(world(), scratch.path("m"), TokenFileKind::megatron, vocab_size, -1, true);
    append_in_parts(megatron, all, 2, 1);
    megatron.finish();
    EXPECT_TRUE(bytes_of(scratch.path("m.bin")) == expected_ids(all, width, -1));
    EXPECT_TRUE(bytes_of(scratch.path("m.idx")) == expected_index(all, width));
    TokenFileWriter raw(world(), scratch.path("r"), TokenFileKind::raw, vocab_size, 7, true);
    append_in_parts(raw, all, 2, 1);
    raw.finish();
    EXPECT_TRUE(bytes_of(scratch.path("r.bin")) == expected_ids(all, width, 7));
    barrier(world());
  }
}

TEST(Large, ManyEmptyDocumentsPassTheIndexBuffer) {
  const Scratch scratch;
  Documents all;
  all.lengths.assign(400000, 0);
  TokenFileWriter writer(world(), scratch.path("m"), TokenFileKind::megatron, 10, -1, false);
  append_in_parts(writer, all, 3, 5);
  writer.finish();
  EXPECT_TRUE(bytes_of(scratch.path("m.idx")) == expected_index(all, 2));
  EXPECT_TRUE(bytes_of(scratch.path("m.bin")).empty());
}

TEST(Index, OffsetsBeyond32Bits) {
  // A .bin of 12 GB by its index: three documents of 10^9 tokens of four bytes, and one after them.
  const Scratch scratch;
  put_bytes(scratch.path("a.idx"), "");
  Documents all;
  all.lengths = {1000000000, 2147483647, 0, 1000000000, 5};
  io::MegatronIndex index;
  Index token = 0;
  for (std::size_t d = 0; d < all.lengths.size(); ++d) {
    if (static_cast<int>(d) % world().size() == world().rank())
      index.add(static_cast<Index>(d), token, std::span(all.lengths).subspan(d, 1));
    token += all.lengths[d];
  }
  const io::Descriptor file(::open(scratch.path("a.idx").c_str(), O_RDWR));
  std::vector<char> buffer;
  index.write(file, scratch.path("a.idx"), {5, 4, world().rank(), world().size()}, buffer);
  barrier(world());
  EXPECT_TRUE(bytes_of(scratch.path("a.idx")) == expected_index(all, 4));
}

// What check_token_files.py reads.
TEST(KnownTokenFiles, AreWritten) {
  const std::string folder = KNOWN_FILES_FOLDER + std::to_string(world().size());
  if (world().is_root()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  barrier(world());
  const auto write = [&](const std::string& name, TokenFileKind kind, Index vocab_size, Index separator) {
    TokenFileWriter writer(world(), folder + "/" + name, kind, vocab_size, separator, false);
    append_in_parts(writer, known_documents(50, vocab_size), 4, 3);
    writer.finish();
  };
  write("megatron16", TokenFileKind::megatron, 50257, -1);
  write("megatron32", TokenFileKind::megatron, 128256, -1);
  write("raw16", TokenFileKind::raw, 50257, 50256);
  write("raw32", TokenFileKind::raw, 128256, 128001);
  write("bare16", TokenFileKind::raw, 300, -1);
}

}  // namespace
}  // namespace posgeom
