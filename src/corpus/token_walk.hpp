#pragma once
#include <memory>
#include <vector>

#include "corpus/token_boundaries.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// How the ids of a file become documents.
struct SplitRule {
  Index separator = -1;        ///< splits the documents of the index further; -1: nothing does
  bool begins = false;         ///< it begins a document; else it ends one
  bool keep = false;           ///< it is a token
  bool lead = false;           ///< each document of the index begins with an id of all ones, which is no token (infini-gram)
  std::vector<Index> ignored;  ///< ascending
  Index max_tokens = 0;
  Index limit = 0;  ///< ids must be below it

  /// Whether tokens can be fewer than the file's ids.
  bool removes() const { return (separator >= 0 && !keep) || lead || !ignored.empty() || max_tokens > 0; }
};
/// The rule for one file; separators and ignored ids that its width cannot hold are left out.
SplitRule split_rule(const Corpus& corpus, const CorpusFile& file);

/// What is read of a file: the documents that begin in ids [begin, end), or those ids themselves. The last range of a file ends one after
/// its ids, so that documents without ids at the file's very end are in it.
struct WalkRange {
  Index begin = 0, end = 0;
  bool whole_documents = true;
};

/// The documents of a range of ids, piece by piece.
class TokenWalk {
 public:
  virtual ~TokenWalk() = default;
  /// Where ids are read without whole documents, the one that began before the range has the number -1; its position counts from the
  /// range's begin where only the ids before could tell it (a kept separator).
  virtual void open(const WalkRange& range) = 0;
  /// As UnitSource::next.
  virtual bool next(TokenBatch& batch) = 0;
  /// The next id to be read.
  virtual Index at() const = 0;
  /// The number of the document that this id belongs to, and its position in it. After the last next().
  virtual Piece here() const = 0;
};

/// `chunk_ids`: ids to be read at a time. `ids` and `boundaries` outlive it.
std::unique_ptr<TokenWalk> make_token_walk(Format format, const CorpusFile& file, const IdSource& ids, Boundaries& boundaries,
                                           SplitRule rule, Index chunk_ids, Index vocab_size);

/// Throws Error for id number `index` of the file, which is not below V or negative: names its document, its place in it and the likely
/// cause.
[[noreturn]] void refuse_id(Format format, const CorpusFile& file, const IdSource& ids, const SplitRule& rule, Index index,
                            Index vocab_size);

}  // namespace posgeom
