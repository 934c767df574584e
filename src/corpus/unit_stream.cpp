#include "corpus/unit_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "corpus/corpus_index.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index least_tokens = Index{1} << 16, most_pieces = Index{1} << 16;

void widen(TokenBatch& batch) {
  batch.wide.insert(batch.wide.end(), batch.narrow.begin(), batch.narrow.end());
  batch.narrow.clear();
}

}  // namespace

void UnitStream::seek(UnitId unit) {
  unit_ = unit;
  opened_ = false;
  ended_ = false;
  given_ = {};
}

bool UnitStream::next(TokenBatch& batch) {
  batch.clear();
  if (ended_ && !advance()) return false;
  if (!opened_) expects(walk_->open(unit_), "a unit that is there");
  opened_ = true;
  batch.unit = unit_;
  UnitSource& source = walk_->reading();
  while (batch.token_count() < least_tokens && std::ssize(batch.pieces) < most_pieces) {
    if (source.next(batch)) continue;
    ended_ = true;
    break;
  }
  batch.unit_ends = ended_;
  batch.own_tokens = batch.token_count();
  place(batch);
  if (ended_) check_size();
  return true;
}

/// To the first batch of the next unit that there is.
bool UnitStream::advance() {
  UnitId next{unit_.file, unit_.unit + 1};
  while (next.file < std::ssize(corpus_->files)) {
    const Index count = walk_->unit_count(next.file);
    expects(count >= 0, "files that know their number of units");
    if (next.unit < count) {
      seek(next);
      return true;
    }
    next = {next.file + 1, 0};
  }
  return false;
}

/// From numbers within the unit to those in the corpus.
void UnitStream::place(TokenBatch& batch) {
  const UnitSize before = corpus_->index ? corpus_->index->before(unit_) : UnitSize{-1, -1};
  if (options_.stream) batch.stream_position = before.tokens + given_.tokens;
  given_.tokens += batch.token_count();
  for (Piece& piece : batch.pieces) {
    given_.documents = std::max(given_.documents, piece.document + 1);
    piece.document = options_.document_index ? before.documents + piece.document : -1;
  }
}

/// What comes later would have the wrong numbers.
void UnitStream::check_size() const {
  if (!corpus_->index) return;
  const UnitSize expected = corpus_->index->size_of(unit_);
  const bool documents_differ = options_.document_index && given_.documents != expected.documents,
             tokens_differ = options_.stream && given_.tokens != expected.tokens;
  if (!documents_differ && !tokens_differ) return;
  throw Error(fmt::format(
      "reading {}: unit {} held {} {} when the corpus was opened and holds {} now; do not change a corpus that is being "
      "read",
      corpus_->files.at(static_cast<std::size_t>(unit_.file)).path, unit_.unit, tokens_differ ? expected.tokens : expected.documents,
      tokens_differ ? "tokens" : "documents", tokens_differ ? given_.tokens : given_.documents));
}

void append_tokens(TokenBatch& batch, const TokenBatch& from, Index limit) {
  const Index before = batch.token_count(), count = std::min(limit, from.token_count());
  if (batch.pieces.empty() && batch.token_count() == 0) {
    batch.unit = from.unit;
    batch.stream_position = from.stream_position;
  }
  if (from.wide.empty() && batch.wide.empty()) {
    batch.narrow.insert(batch.narrow.end(), from.narrow.begin(), from.narrow.begin() + count);
  } else {
    widen(batch);
    if (from.wide.empty()) {
      batch.wide.insert(batch.wide.end(), from.narrow.begin(), from.narrow.begin() + count);
    } else {
      batch.wide.insert(batch.wide.end(), from.wide.begin(), from.wide.begin() + count);
    }
  }
  for (Piece piece : from.pieces) {
    if (piece.begin >= count) break;
    if (piece.size() == 0) continue;  // it would look like a document of the batch's own unit
    if (piece.end > count) {
      piece.end = count;
      piece.ends = false;
    }
    piece.begin += before;
    piece.end += before;
    batch.pieces.push_back(piece);
  }
}

}  // namespace posgeom
