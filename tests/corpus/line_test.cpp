#include <gtest/gtest.h>

#include "corpus/line_reader.hpp"
#include "corpus/record_reader.hpp"
#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

/// Gives its text in pieces of `piece` bytes.
class PiecewiseSource : public ByteSource {
 public:
  PiecewiseSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  Index read(std::span<char> bytes) override {
    const std::size_t count = std::min({piece_, bytes.size(), text_.size() - at_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), count, bytes.begin());
    at_ += count;
    return static_cast<Index>(count);
  }
  Index bytes_done() const override { return static_cast<Index>(at_); }

 private:
  std::string text_;
  std::size_t piece_, at_ = 0;
};

TEST(LineReader, LinesAndOffsetsWhateverTheBuffer) {
  const std::string text = "one\r\n\ntwo\u0085two\rthree\n\r\nlast line without end\r";
  const std::vector<std::string> lines{"one", "", "two\u0085two\rthree", "", "last line without end"};
  const std::vector<Index> offsets{0, 5, 6, 21, 23};
  for (const Index buffer : {1, 2, 3, 5, 8, 64, 1024}) {
    for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
      LineReader reader(std::make_unique<PiecewiseSource>(text, piece), 0, buffer);
      std::string_view line;
      for (std::size_t k = 0; k < lines.size(); ++k) {
        EXPECT_EQ(reader.offset(), offsets[k]);
        EXPECT_EQ(reader.peek(), static_cast<unsigned char>(text[static_cast<std::size_t>(offsets[k])]));
        ASSERT_TRUE(reader.next(line));
        EXPECT_EQ(line, lines[k]);
      }
      EXPECT_FALSE(reader.next(line));
      EXPECT_EQ(reader.peek(), -1);
      EXPECT_EQ(reader.offset(), static_cast<Index>(text.size()));
    }
  }
}

TEST(LineReader, SkipStopsAtTheLineEndOrTheLimit) {
  LineReader reader(std::make_unique<PiecewiseSource>("0123456789\nnext\n", 4), 0, 4);
  reader.skip(6);
  EXPECT_EQ(reader.offset(), 8) << "the block that holds byte 6 was dropped, and the line's end was not looked for";
  reader.skip(100);
  EXPECT_EQ(reader.offset(), 11);
  std::string_view line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "next");
}

TEST(LineReader, DropsAPrefix) {
  for (const Index buffer : {1, 2, 100}) {
    LineReader marked(std::make_unique<PiecewiseSource>("\xEF\xBB\xBFtext", 1), 0, buffer);
    EXPECT_TRUE(marked.drop_prefix("\xEF\xBB\xBF"));
    EXPECT_EQ(marked.offset(), 3);
    LineReader plain(std::make_unique<PiecewiseSource>("\xEF\xBB", 1), 0, buffer);
    EXPECT_FALSE(plain.drop_prefix("\xEF\xBB\xBF"));
    EXPECT_EQ(plain.peek(), 0xEF);
  }
}

TEST(Columns, AreCutAtTabs) {
  EXPECT_EQ(split_columns(""), std::vector<std::string_view>{""});
  EXPECT_EQ(split_columns("a\t\tb c\t"), (std::vector<std::string_view>{"a", "", "b c", ""}));
  EXPECT_EQ(column_of("a\t\tb c\t", 0), "a");
  EXPECT_EQ(column_of("a\t\tb c\t", 1), "");
  EXPECT_EQ(column_of("a\t\tb c\t", 2), "b c");
  EXPECT_EQ(column_of("a\t\tb c\t", 3), "");
  EXPECT_EQ(column_of("a\t\tb c\t", 4), std::nullopt);
}

TEST(Place, CountsLinesFromOne) {
  const TemporaryFolder folder;
  CorpusFile file{folder.write("text", "a\n\nccc\nd"), 8};
  EXPECT_EQ(place_of(file, 0), file.path + ", line 1");
  EXPECT_EQ(place_of(file, 2), file.path + ", line 2");
  EXPECT_EQ(place_of(file, 3), file.path + ", line 3");
  EXPECT_EQ(place_of(file, 7), file.path + ", line 4");
  file.path += ".gone";
  expect_contains(place_of(file, 7), {file.path, "byte 7"});
}

TEST(RecordReader, AGrowingFileIsReadAsItWasAndAShrinkingOneRefused) {
  const TemporaryFolder folder;
  CorpusOptions options;
  options.format = Format::text;
  CorpusFile file{folder.write("text", "a\nb\nc\n"), 4};
  RecordReader grown(options, file, {0, 4});
  Record record;
  EXPECT_TRUE(grown.next(record));
  EXPECT_TRUE(grown.next(record));
  EXPECT_EQ(record.text, "b");
  EXPECT_EQ(record.offset, 2);
  EXPECT_FALSE(grown.next(record));
  file.bytes = 100;
  const std::string text = error_of([&] {
    RecordReader shrunk(options, file, {0, 100});
    while (shrunk.next(record)) {
    }
  });
  expect_contains(text, {file.path, "100 bytes", "byte 6"});
}

}  // namespace
}  // namespace posgeom
