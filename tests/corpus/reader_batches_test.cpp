#include <gtest/gtest.h>

#include "corpus/unit_stream.hpp"
#include "reader_fixture.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

class ReaderBatches : public ReaderFixture {};

/// Long documents are cut into pieces, and what follows a unit is longer than a batch.
TEST_F(ReaderBatches, DocumentsAndOverlapsLongerThanABatch) {
  contents_ = {std::string(700'000, 'a') + "\n" + std::string(3, 'b') + "\n", std::string(1'300'001, 'c') + "\nd\n"};
  std::uint32_t state = 1;
  for (std::string& content : contents_) {
    for (char& c : content) {
      state = state * 1664525 + 1013904223;
      if (c != '\n') c = static_cast<char>('a' + (state >> 24) % 26);
    }
  }
  std::string stream = contents_[0] + contents_[1];
  std::erase(stream, '\n');
  for (const auto& packing : packings_) {
    Corpus corpus = open(packing, 100'000);
    const ReadOptions options{true, true, 600'000};
    index_corpus(world(), corpus, options);
    EXPECT_EQ(indexed_token_count(corpus), std::ssize(stream));
    EXPECT_EQ(indexed_document_count(corpus), 4);
    for (int ranks = testing_support::scaled(1, 2); ranks <= testing_support::scaled(3, 2); ++ranks) {
      const Units units = read_units(corpus, options, ranks, Sharing::runs);
      std::size_t begin = 0;
      for (const auto& [id, unit] : units) {
        const std::size_t end = begin + unit.own.size();
        EXPECT_TRUE(unit.own == stream.substr(begin, unit.own.size()));
        EXPECT_TRUE(unit.overlap == stream.substr(end, 600'000));
        for (std::size_t k = 0; k < unit.documents.size(); ++k) {
          const std::size_t at = begin + k;
          const std::size_t document = at < 700'000 ? 0 : at < 700'003 ? 1 : at < 2'000'004 ? 2 : 3;
          const std::size_t starts[] = {0, 700'000, 700'003, 2'000'004};
          if (unit.documents[k] != static_cast<Index>(document) || unit.positions[k] != static_cast<Index>(at - starts[document])) {
            FAIL() << "token " << at;
          }
        }
        begin = end;
      }
      EXPECT_EQ(begin, stream.size());
    }
  }
  Corpus corpus = open({}, 0);
  DocumentReader reader(corpus, {}, 0, 1);
  TokenBatch batch;
  int batches = 0;
  while (reader.next(batch)) {
    EXPECT_LE(batch.token_count(), Index{1} << 19);
    ++batches;
  }
  EXPECT_GE(batches, 12);
  EXPECT_EQ(read_documents(corpus, 2), (std::vector<std::string>{contents_[0].substr(0, 700'000), contents_[0].substr(700'001, 3),
                                                                 contents_[1].substr(0, 1'300'001), contents_[1].substr(1'300'002, 1)}));
}

/// Files of one corpus may store ids of 16 and of 32 bits.
TEST(AppendTokens, JoinsBothWidthsAndCutsPieces) {
  TokenBatch narrow, wide;
  narrow.narrow = {1, 2, 65535};
  narrow.pieces = {{0, 2, 7, 0, true}, {2, 2, 8, 0, true}, {2, 3, 9, 4, false}};
  narrow.unit = {3, 4};
  narrow.stream_position = 50;
  wide.wide = {70'000, 5};
  wide.pieces = {{0, 2, 10, 0, true, 11}};
  for (const bool narrow_first : {false, true}) {
    for (Index first = 1; first <= 4; ++first) {
      for (Index second = 1; second <= 4; ++second) {
        TokenBatch batch;
        const TokenBatch &a = narrow_first ? narrow : wide, &b = narrow_first ? wide : narrow;
        append_tokens(batch, a, first);
        EXPECT_EQ(batch.unit, a.unit);
        EXPECT_EQ(batch.stream_position, a.stream_position);
        append_tokens(batch, b, second);
        EXPECT_EQ(batch.stream_position, a.stream_position) << "the first token's place";
        std::vector<Token> expected = tokens_of(a);
        expected.resize(std::min(expected.size(), static_cast<std::size_t>(first)));
        const std::vector<Token> more = tokens_of(b);
        expected.insert(expected.end(), more.begin(), more.begin() + std::min(second, std::ssize(more)));
        EXPECT_EQ(tokens_of(batch), expected);
        Index covered = 0;
        for (const Piece& piece : batch.pieces) {
          EXPECT_EQ(piece.begin, covered);
          EXPECT_GT(piece.size(), 0) << "an empty document would look like the unit's own";
          covered = piece.end;
          EXPECT_EQ(piece.ends, piece.document != 9 && piece.size() == 2) << "not where it was cut";
          EXPECT_EQ(piece.group, piece.document == 10 ? 11U : 0U);
        }
        EXPECT_EQ(covered, batch.token_count());
      }
    }
  }
  TokenBatch same;
  append_tokens(same, narrow, 3);
  append_tokens(same, narrow, 2);
  EXPECT_EQ(same.narrow, (std::vector<std::uint16_t>{1, 2, 65535, 1, 2})) << "16 bits stay 16 bits";
}

}  // namespace
}  // namespace posgeom
