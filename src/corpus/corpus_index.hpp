#pragma once
#include <optional>
#include <vector>

#include "corpus/unit_source.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// Where the documents and the tokens of each unit begin in the corpus.
struct CorpusIndex {
  /// One entry a unit, and the file's end; empty where it was not asked for.
  struct File {
    std::vector<Index> first_document, first_token;
  };
  std::vector<File> files;
  Index document_count = -1, token_count = -1;  ///< of the corpus; -1: not asked for
  bool stream = false, overlap = false;         ///< the options that the units depend on

  /// Whether it says what a reader with `options` needs.
  bool serves(const ReadOptions& options) const;
  /// Units of a file; -1: not known.
  Index unit_count(Index file) const;
  /// What comes before a unit, and what it holds; -1 for what was not asked for.
  UnitSize before(UnitId id) const;
  UnitSize size_of(UnitId id) const;
};

std::unique_ptr<UnitSource> open_units(const Corpus& corpus, Index file, const ReadOptions& options);

}  // namespace posgeom
