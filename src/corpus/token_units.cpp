// Token files by units: runs of ids, or the documents that begin in them.
#include <algorithm>

#include "corpus/token_boundaries.hpp"
#include "corpus/token_source.hpp"
#include "corpus/token_walk.hpp"
#include "corpus/unit_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index chunk_bytes = Index{1} << 20, most_chunk_ids = Index{1} << 19;
constexpr Index least_unit_bytes = Index{32} << 20, most_units = Index{1} << 16;

class TokenUnits : public UnitSource {
 public:
  TokenUnits(const Corpus& corpus, const CorpusFile& file, const ReadOptions& options)
      : file_(file),
        options_(options),
        rule_(split_rule(corpus, file)),
        ids_(open_ids(file)),
        boundaries_(open_boundaries(corpus.options.format, file)) {
    const Index asked = corpus.options.unit_bytes;
    unit_ids_ = std::max((asked > 0 ? asked : std::max(least_unit_bytes, file.bytes / most_units)) / file.width, Index{1});
    // Small units are for tests, which then see what happens between chunks too.
    const Index chunk = asked > 0 ? std::min(asked, chunk_bytes) : chunk_bytes;
    walk_ = make_token_walk(corpus.options.format, file, *ids_, *boundaries_, rule_,
                            std::clamp(chunk / file.width, Index{1}, most_chunk_ids), corpus.vocab_size);
    runs_ = options.stream && !rule_.removes();
  }

  Index unit_count() const override { return std::max((file_.token_count + unit_ids_ - 1) / unit_ids_, Index{1}); }

  bool open(Index unit) override {
    if (unit >= unit_count()) return false;
    unit_ = unit;
    ended_ = false;
    walk_->open({begin_of(unit), end_of(unit), !runs_});
    return true;
  }

  bool next(TokenBatch& batch) override {
    ended_ = !walk_->next(batch);
    return !ended_;
  }

  std::optional<UnitSize> known_size(Index unit) const override {
    UnitSize size;  // what nobody asks for stays 0
    const bool by_index = rule_.separator < 0;
    if (options_.document_index && !by_index) return std::nullopt;
    const Index first = by_index ? boundaries_->first_from(begin_of(unit)) : 0;
    const Index end = by_index ? boundaries_->first_from(end_of(unit)) : 0;
    size.documents = end - first;
    if (!options_.stream) return size;
    if (runs_) {
      size.tokens = std::min(end_of(unit), file_.token_count) - begin_of(unit);
      return size;
    }
    if (!by_index || !rule_.ignored.empty() || rule_.max_tokens > 0) return std::nullopt;
    size.tokens = boundaries_->begin_of(end) - boundaries_->begin_of(first) - (rule_.lead ? size.documents : 0);
    return size;
  }

  UnitSize measure(bool) override {
    UnitSize size;
    TokenBatch batch;
    while (next(batch)) {
      size.documents = std::max(size.documents, batch.pieces.back().document + 1);
      size.tokens += batch.token_count();
      batch.clear();
    }
    return size;
  }

  Index bytes_done() const override {
    if (ended_) return unit_bytes(unit_);
    return std::clamp((walk_->at() - begin_of(unit_)) * file_.width, Index{0}, unit_bytes(unit_));
  }
  Index unit_bytes(Index unit) const override { return (std::min(end_of(unit), file_.token_count) - begin_of(unit)) * file_.width; }

 private:
  Index begin_of(Index unit) const { return unit * unit_ids_; }
  /// Documents without ids at the end of the file are the last unit's.
  Index end_of(Index unit) const { return unit + 1 < unit_count() ? begin_of(unit + 1) : file_.token_count + 1; }

  CorpusFile file_;
  ReadOptions options_;
  SplitRule rule_;
  std::unique_ptr<IdSource> ids_;
  std::unique_ptr<Boundaries> boundaries_;
  std::unique_ptr<TokenWalk> walk_;
  Index unit_ids_ = 1;
  bool runs_ = false;  ///< units are runs of ids, which documents may enter and leave
  Index unit_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<UnitSource> open_token_units(const Corpus& corpus, Index file, const ReadOptions& options) {
  return std::make_unique<TokenUnits>(corpus, corpus.files.at(static_cast<std::size_t>(file)), options);
}

}  // namespace posgeom
