#pragma once
// Reads all units of token files and checks what each says of itself.
#include <gtest/gtest.h>

#include "corpus/unit_source.hpp"
#include "token_files.hpp"

namespace posgeom::testing_support {

inline Ids ids_of(const TokenBatch& batch) {
  Ids ids(batch.narrow.begin(), batch.narrow.end());
  ids.insert(ids.end(), batch.wide.begin(), batch.wide.end());
  return ids;
}

/// Documents of one file, as its units give them, one after the other. `starts`: how many begin in each unit, and the tokens of each.
struct ReadBack {
  Documents documents;
  std::vector<UnitSize> units;
};

inline ReadBack read_units(const Corpus& corpus, Index file, const ReadOptions& options, bool keeps_separators = false) {
  ReadBack result;
  const auto source = open_token_units(corpus, file, options);
  bool open = false;  // the last document goes on
  for (Index unit = 0; unit < source->unit_count(); ++unit) {
    UnitSize size;
    EXPECT_TRUE(source->open(unit));
    EXPECT_LE(source->bytes_done(), source->unit_bytes(unit));
    TokenBatch batch;
    Index position_before = 0;
    while (source->next(batch)) {
      const Ids tokens = ids_of(batch);
      EXPECT_FALSE(batch.pieces.empty());
      Index end = 0;
      for (const Piece& piece : batch.pieces) {
        EXPECT_EQ(piece.begin, end);
        EXPECT_LE(piece.begin, piece.end);
        end = piece.end;
        const bool begins = piece.document == size.documents;
        if (begins) {
          EXPECT_FALSE(open) << "the document before it did not end";
          result.documents.emplace_back();
          ++size.documents;
          EXPECT_EQ(piece.position, 0);
        } else {
          EXPECT_EQ(piece.document, size.documents - 1);
          EXPECT_TRUE(open);
          EXPECT_GT(piece.size(), 0) << "only an empty document has an empty piece";
        }
        if (result.documents.empty()) {
          ADD_FAILURE() << "a piece of no document";
          return result;
        }
        Ids& document = result.documents.back();
        if (piece.document == -1 && keeps_separators) {
          EXPECT_EQ(piece.position, position_before);
          position_before += piece.size();
        } else {
          EXPECT_EQ(piece.position, std::ssize(document)) << "unit " << unit;
        }
        document.insert(document.end(), tokens.begin() + piece.begin, tokens.begin() + piece.end);
        open = !piece.ends;
      }
      EXPECT_EQ(end, std::ssize(tokens));
      size.tokens += std::ssize(tokens);
      EXPECT_LE(source->bytes_done(), source->unit_bytes(unit));
      batch.clear();
    }
    EXPECT_EQ(source->bytes_done(), source->unit_bytes(unit));
    EXPECT_FALSE(source->next(batch));
    EXPECT_EQ(batch.token_count(), 0);
    if (const auto known = source->known_size(unit)) {
      if (options.document_index) {
        EXPECT_EQ(known->documents, size.documents) << "unit " << unit;
      }
      if (options.stream) {
        EXPECT_EQ(known->tokens, size.tokens) << "unit " << unit;
      }
    }
    EXPECT_TRUE(source->open(unit));
    const UnitSize measured = source->measure(true);
    EXPECT_EQ(measured.documents, size.documents) << "unit " << unit;
    EXPECT_EQ(measured.tokens, size.tokens) << "unit " << unit;
    result.units.push_back(size);
  }
  EXPECT_FALSE(open) << "the file ends its last document";
  EXPECT_FALSE(source->open(source->unit_count()));
  return result;
}

/// Both ways of reading, with units of several sizes (in ids).
inline void expect_documents(CorpusOptions options, int width, const Documents& expected, const std::string& what,
                             const std::vector<Index>& unit_ids = {1, 2, 3, 7, 1000}) {
  SCOPED_TRACE(what);
  for (const Index ids : unit_ids) {
    options.unit_bytes = ids * width;
    const Corpus corpus = open_corpus(world(), options);
    for (const bool stream : {false, true}) {
      for (const bool document_index : {false, true}) {
        SCOPED_TRACE(std::to_string(ids) + " ids a unit" + (stream ? ", stream" : "") + (document_index ? ", document index" : ""));
        ReadOptions reading;
        reading.stream = stream;
        reading.document_index = document_index;
        Documents documents;
        for (Index file = 0; file < std::ssize(corpus.files); ++file) {
          const ReadBack part = read_units(corpus, file, reading, options.keep_separator);
          documents.insert(documents.end(), part.documents.begin(), part.documents.end());
        }
        EXPECT_EQ(documents, expected);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

inline CorpusOptions token_options(std::vector<std::string> paths, Index vocab_size, Format format = Format::automatic) {
  CorpusOptions options;
  options.paths = std::move(paths);
  options.vocab_size = vocab_size;
  options.format = format;
  return options;
}

inline Separator given_separator(Index id) { return {Separator::Choice::given, id}; }

}  // namespace posgeom::testing_support
