#pragma once
// Everything that readers give, unit by unit, and a corpus of small files to compare it with.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "corpus_files.hpp"

namespace posgeom::testing_support {

using Unit = std::pair<Index, Index>;  ///< file, unit

/// What a unit gave, over all its batches: one entry a token, of its own and of what follows it.
struct UnitText {
  std::string own, overlap;
  std::vector<Index> documents, positions;  ///< of each token
  std::set<Index> all_documents;            ///< of the own pieces, empty ones too
  Index stream_position = -1;
  int rank = -1;
  int batches = 0;
};
using Units = std::map<Unit, UnitText>;

inline void add_batch(const TokenBatch& batch, int rank, const ReadOptions& options, UnitText& unit) {
  const std::vector<Token> tokens = tokens_of(batch);
  const Index size = std::ssize(unit.own + unit.overlap);
  if (unit.batches++ == 0) unit.stream_position = batch.stream_position;
  EXPECT_EQ(batch.stream_position, options.stream ? unit.stream_position + size : -1);
  EXPECT_TRUE(unit.rank == -1 || unit.rank == rank);
  unit.rank = rank;
  EXPECT_TRUE(unit.overlap.empty() || batch.own_tokens == 0) << "own tokens come first";
  Index covered = 0;
  for (const Piece& piece : batch.pieces) {
    EXPECT_EQ(piece.begin, covered);
    covered = piece.end;
    if (options.document_index && piece.begin <= batch.own_tokens && piece.end <= batch.own_tokens)
      unit.all_documents.insert(piece.document);
    for (Index k = piece.begin; k < piece.end; ++k) {
      (k < batch.own_tokens ? unit.own : unit.overlap) += static_cast<char>(tokens[static_cast<std::size_t>(k)]);
      unit.documents.push_back(piece.document);
      unit.positions.push_back(piece.position + k - piece.begin);
    }
  }
  EXPECT_EQ(covered, batch.token_count());
}

/// Everything that `ranks` readers give.
inline Units read_units(const Corpus& corpus, const ReadOptions& options, int ranks, Sharing sharing, const UnitSet& done = {},
                        int only = -1) {
  Units units;
  for (int rank = 0; rank < ranks; ++rank) {
    if (only >= 0 && rank != only) continue;
    DocumentReader reader(corpus, options, rank, ranks, sharing, done);
    TokenBatch batch;
    Unit last{-1, -1};
    bool ended = true;
    while (reader.next(batch)) {
      const Unit id{batch.unit.file, batch.unit.unit};
      EXPECT_FALSE(done.contains(batch.unit));
      if (ended) {
        EXPECT_LT(last, id) << "units in the order of the corpus, each once";
        EXPECT_FALSE(units.contains(id)) << "of one rank alone";
      } else {
        EXPECT_EQ(last, id);
      }
      add_batch(batch, rank, options, units[id]);
      last = id;
      ended = batch.unit_ends;
    }
    EXPECT_TRUE(ended);
    EXPECT_EQ(reader.bytes_done(), reader.bytes_total());
  }
  return units;
}

inline UnitSet set_of(const Units& units) {
  UnitSet set;
  for (const auto& [id, unit] : units) set.add({id.first, id.second});
  return set;
}

class ReaderFixture : public testing::Test {
 protected:
  ReaderFixture() {
    contents_ = {"first\nsecond\n\nfourth",
                 "",
                 std::string(150, 'x') + "\n\n\n",
                 "alpha\nbeta\n" + std::string(40, 'y') + "\ngamma\n",
                 "a\nb",
                 "\n",
                 "end"};
    for (std::size_t k = 0; k < contents_.size(); ++k) {
      std::string rest = contents_[k];
      while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        documents_.push_back(rest.substr(0, end));
        rest.erase(0, end == std::string::npos ? end : end + 1);
      }
    }
    for (std::size_t k = 0; k < documents_.size(); ++k) {
      for (std::size_t at = 0; at < documents_[k].size(); ++at) {
        document_of_.push_back(static_cast<Index>(k));
        position_of_.push_back(static_cast<Index>(at));
      }
      stream_ += documents_[k];
    }
  }

  /// `compressed`: the files with these numbers.
  Corpus open(const std::set<std::size_t>& compressed, Index unit_bytes) {
    Corpus corpus;
    corpus.options.format = Format::text;
    corpus.options.unit_bytes = unit_bytes;
    for (std::size_t k = 0; k < contents_.size(); ++k) {
      const bool packed = compressed.contains(k);
      const std::string bytes = packed ? compress(contents_[k], "gz") : contents_[k];
      corpus.files.push_back({folder_.write(std::to_string(k) + (packed ? ".gz" : ".txt"), bytes), std::ssize(bytes), packed});
    }
    corpus.tokenizer = bytes_tokenizer();
    corpus.vocab_size = 256;
    return corpus;
  }

  void expect_whole(const Units& units, const ReadOptions& options) {
    std::string stream;
    std::set<Index> documents;
    Index document_count = 0;
    for (const auto& [id, unit] : units) {
      const auto begin = stream.size();
      stream += unit.own;
      EXPECT_EQ(unit.overlap, stream_.substr(std::min(stream.size(), stream_.size()), static_cast<std::size_t>(options.overlap)));
      EXPECT_EQ(unit.stream_position, options.stream ? static_cast<Index>(begin) : -1);
      for (std::size_t k = 0; k < unit.documents.size(); ++k) {
        EXPECT_EQ(unit.positions[k], position_of_.at(begin + k));
        EXPECT_EQ(unit.documents[k], options.document_index ? document_of_.at(begin + k) : -1);
      }
      document_count += std::ssize(unit.all_documents);
      documents.insert(unit.all_documents.begin(), unit.all_documents.end());
    }
    EXPECT_EQ(stream, stream_);
    if (!options.document_index) return;
    EXPECT_EQ(std::ssize(documents), std::ssize(documents_));
    EXPECT_EQ(document_count, std::ssize(documents_)) << "each in one unit, empty ones too";
    EXPECT_EQ(*documents.rbegin(), std::ssize(documents_) - 1);
  }

  const std::vector<std::set<std::size_t>> packings_{{}, {3}, {0, 1, 2, 3, 4, 5, 6}, {1, 2, 6}};
  std::vector<std::string> contents_, documents_;
  std::string stream_;
  std::vector<Index> document_of_, position_of_;
  TemporaryFolder folder_;
};

}  // namespace posgeom::testing_support
