#include <gtest/gtest.h>

#include <algorithm>

#include "corpus/gzip_trailers.hpp"
#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

const std::vector<std::string> kinds{"gz", "xz", "zst", "bz2"};

class Compression : public testing::Test {
 protected:
  Corpus open(const std::string& name, const std::string& bytes) {
    Corpus corpus;
    corpus.options.format = Format::text;
    corpus.files = {{folder_.write(name, bytes), static_cast<Index>(bytes.size()), true}};
    corpus.tokenizer = bytes_tokenizer();
    return corpus;
  }
  std::vector<std::string> read(const std::string& name, const std::string& bytes, int ranks = 1) {
    return read_documents(open(name, bytes), ranks);
  }
  TemporaryFolder folder_;
};

std::string some_text(int lines) {
  std::string text;
  std::uint32_t state = 1;
  for (int k = 0; k < lines; ++k) {
    state = state * 1664525 + 1013904223;
    text += std::to_string(k) + " " + std::to_string(state) + "\n";
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(Compression, GivesTheSameDocuments) {
  const std::string text = some_text(20'000);
  for (const std::string& kind : kinds) {
    EXPECT_EQ(read("text." + kind, compress(text, kind)), lines_of(text)) << kind;
    EXPECT_EQ(read("nothing." + kind, compress("", kind)), std::vector<std::string>()) << kind;
    EXPECT_EQ(read("open_end." + kind, compress("a\nb", kind)), (std::vector<std::string>{"a", "b"})) << kind;
  }
}

TEST_F(Compression, RanksTakeTheUnitsInTurn) {
  const std::string text = some_text(101);
  for (const std::string& kind : kinds) {
    Corpus corpus = open("text." + kind, compress(text, kind));
    corpus.options.unit_bytes = 64;
    for (int ranks = 2; ranks <= 5; ++ranks) {
      std::vector<std::vector<std::string>> units;
      for (int rank = 0; rank < ranks; ++rank) {
        DocumentReader reader(corpus, {}, rank, ranks);
        TokenBatch batch;
        while (reader.next(batch)) {
          EXPECT_TRUE(batch.unit_ends);
          EXPECT_EQ(batch.unit.unit % ranks, rank);
          units.resize(std::max(units.size(), static_cast<std::size_t>(batch.unit.unit + 1)));
          for (const Piece& piece : batch.pieces)
            units[static_cast<std::size_t>(batch.unit.unit)].emplace_back(batch.wide.begin() + piece.begin, batch.wide.begin() + piece.end);
        }
        EXPECT_EQ(reader.bytes_done(), reader.bytes_total());
      }
      std::vector<std::string> documents;
      std::size_t offset = 0;
      for (std::size_t unit = 0; unit < units.size(); ++unit) {
        for (const std::string& document : units[unit]) {
          EXPECT_EQ(offset / 64, unit) << "a unit is what begins in 64 bytes of the text";
          offset += document.size() + 1;
          documents.push_back(document);
        }
      }
      EXPECT_EQ(documents, lines_of(text)) << kind << ' ' << ranks;
    }
  }
}

TEST_F(Compression, StreamsOneAfterTheOtherAreOneText) {
  for (const std::string& kind : kinds) {
    std::string bytes, text;
    for (const int lines : {3, 0, 4000, 1, 0}) {
      text += some_text(lines);
      bytes += compress(some_text(lines), kind);
    }
    EXPECT_EQ(read("joined." + kind, bytes), lines_of(text)) << kind;
  }
}

TEST_F(Compression, EveryTruncationIsRefused) {
  for (const std::string& kind : kinds) {
    const std::string bytes = compress(some_text(12), kind);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string name = "cut." + kind;
      expect_contains(error_of([&] { read(name, bytes.substr(0, size)); }), {name, "truncated or corrupt"});
      if (HasFailure()) FAIL() << kind << " cut at " << size;
    }
    // Beyond libarchive's first block the documents before the cut were given out already; the end must still be refused.
    const std::string large = compress(some_text(20'000), kind);
    expect_contains(error_of([&] { read("cut." + kind, large.substr(0, large.size() - 5)); }), {"cut." + kind});
    expect_contains(error_of([&] { read("cut." + kind, large + large.substr(0, 50)); }), {"cut." + kind});
  }
}

TEST_F(Compression, WhatFollowsTheLastStreamIsRefused) {
  for (const std::string& kind : kinds)
    expect_contains(error_of([&] { read("more." + kind, compress("text\n", kind) + "garbage"); }), {"more." + kind, "corrupt"});
}

TEST_F(Compression, EveryChangedByteIsRefusedOrHarmless) {
  const std::string text = some_text(40);
  for (const std::string kind : {"gz", "xz", "bz2"}) {  // zst as libarchive writes it has no checksum
    const std::string bytes = compress(text, kind);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      std::string changed = bytes;
      changed[k] = static_cast<char>(changed[k] ^ 0x10);
      try {
        EXPECT_EQ(read("changed." + kind, changed), lines_of(text)) << kind << " byte " << k;
      } catch (const Error&) {
      }
    }
  }
}

TEST_F(Compression, ChecksumOfEachGzipMember) {
  const std::string first = compress(some_text(10), "gz"), second = compress(some_text(3), "gz");
  for (const std::size_t k : {first.size() - 8, first.size() - 1, first.size() + second.size() - 7}) {
    std::string bytes = first + second;
    bytes[k] = static_cast<char>(bytes[k] ^ 1);
    expect_contains(error_of([&] { read("wrong.gz", bytes); }), {"wrong.gz", "checksum"});
  }
}

TEST_F(Compression, CompressedTwiceIsRefused) {
  expect_contains(error_of([&] { read("twice.gz", compress(compress(some_text(9), "xz"), "gz")); }), {"twice.gz", "compressed twice"});
}

TEST(Crc32, KnownValueAndCombination) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32(0, text), 0xCBF43926U) << "the check value of CRC-32/ISO-HDLC";
  const std::string longer = some_text(30);
  for (std::size_t cut = 0; cut < 40; ++cut) {
    const std::uint32_t first = crc32(0, std::span(longer).first(cut)), second = crc32(0, std::span(longer).subspan(cut));
    EXPECT_EQ(crc32(first, std::span(longer).subspan(cut)), crc32(0, longer));
    EXPECT_EQ(crc32_combine(first, second, std::ssize(longer) - static_cast<Index>(cut)), crc32(0, longer));
  }
}

TEST(GzipTrailers, HeadersAreFoundAcrossBlocks) {
  const std::string text = some_text(25), bytes = compress(text, "gz") + compress(text, "gz") + compress("", "gz");
  for (std::size_t block = 1; block < 40; ++block) {
    GzipTrailers trailers;
    for (std::size_t k = 0; k < bytes.size(); k += block)
      trailers.compressed(std::span(bytes).subspan(k, std::min(block, bytes.size() - k)));
    trailers.decompressed(text);
    trailers.decompressed(std::span(text).first(text.size() - 1));
    EXPECT_FALSE(trailers.consistent());
    trailers.decompressed(std::span(text).last(1));
    EXPECT_TRUE(trailers.consistent()) << block;
  }
}

TEST(GzipTrailers, BytesThatLookLikeAHeaderByChanceDoNoHarm) {
  const std::string text = some_text(25), other = compress(text, "gz");
  const std::string decoy = std::string("8bytes!!", 8) + std::string("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  GzipTrailers trailers;
  trailers.compressed(std::string(20, 'h') + decoy + std::string(30, 'd') + other.substr(other.size() - 8) + other);
  trailers.decompressed(text);
  trailers.decompressed(text);
  EXPECT_TRUE(trailers.consistent());
}

}  // namespace
}  // namespace posgeom
