#pragma once
#include <memory>
#include <span>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Where the documents of a token file begin, by its index or shape. Looked up in windows: an index may be larger than memory.
class Boundaries {
 public:
  virtual ~Boundaries() = default;
  Boundaries(Index count, Index tokens, std::string path) : count_(count), tokens_(tokens), path_(std::move(path)) {}
  Boundaries(const Boundaries&) = delete;
  Boundaries& operator=(const Boundaries&) = delete;

  Index count() const { return count_; }
  /// The first token of document k; that of document count() is the end of the file. Throws Error where the index has changed since it was
  /// checked.
  Index begin_of(Index k);
  /// The first document that begins at or after `token`; count() where there is none.
  Index first_from(Index token);

 protected:
  /// begins.size() of them, from document `first`.
  virtual void load(Index first, std::span<Index> begins) = 0;

 private:
  Index looked_up(Index k);

  Index count_, tokens_;
  std::string path_;
  Index window_begin_ = 0;
  std::vector<Index> window_;
};

/// By the file's index; else by its rows; else one document where it has tokens at all.
std::unique_ptr<Boundaries> open_boundaries(Format format, const CorpusFile& file);

/// Megatron's: token_megatron.cpp.
std::unique_ptr<Boundaries> open_megatron_boundaries(const CorpusFile& file);

}  // namespace posgeom
