#include "corpus/token_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "corpus/id_check.hpp"
#include "corpus/separator_places.hpp"
#include "corpus/token_chunk.hpp"
#include "corpus/token_pieces.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::size_t most_pieces = std::size_t{1} << 16;  ///< of one next(): an index may list any number of empty documents

template <class Id>
class Walk : public TokenWalk {
 public:
  Walk(Format format, const CorpusFile& file, const IdSource& ids, Boundaries& boundaries, SplitRule rule, Index chunk_ids,
       Index vocab_size)
      : file_(file),
        ids_(&ids),
        boundaries_(&boundaries),
        rule_(std::move(rule)),
        chunk_(file_, ids, rule_, chunk_ids),
        pieces_(rule_, [this, format, vocab_size](Index index) { refuse_id(format, file_, *ids_, rule_, index, vocab_size); }) {}
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void open(const WalkRange& range) override;
  bool next(TokenBatch& batch) override;
  Index at() const override { return chunk_.at(); }
  Piece here() const override { return pieces_.here(); }

 private:
  static constexpr Id ones = std::numeric_limits<Id>::max();

  bool splits() const { return rule_.separator >= 0; }
  bool is_separator(Id id) const { return Index{id} == rule_.separator; }
  void enter(const WalkRange& range);
  void load();
  Index ids_before_separator();
  bool step();
  void open_segment();
  void begin_document();
  void end_document();
  void take_run();
  void take(Index count);
  bool ends_at_range() const;
  [[noreturn]] void refuse_lead(Index index) const;
  [[noreturn]] void refuse_change(std::string_view what) const;

  CorpusFile file_;
  const IdSource* ids_;
  Boundaries* boundaries_;
  SplitRule rule_;
  IdChunk<Id> chunk_;
  std::vector<std::uint32_t> separators_;  ///< their places in the chunk
  std::size_t next_separator_ = 0;         ///< of these, the first that may be left
  Index chunk_begin_ = 0;
  PieceBuilder<Id> pieces_;
  WalkRange range_;
  bool finished_ = true;
  // A segment is a document of the index.
  Index segment_ = 0;  ///< the next one
  Index segment_begin_ = 0, segment_end_ = 0;
  bool segment_open_ = false;
  bool foreign_ = false;  ///< within a document that began before the range and belongs to another
};

template <class Id>
void Walk<Id>::open(const WalkRange& range) {
  range_ = range;
  finished_ = segment_open_ = foreign_ = false;
  pieces_.reset();
  segment_ = boundaries_->first_from(range.begin);
  const Index tokens = file_.token_count;
  if (!range.whole_documents) {
    chunk_.seek(range.begin, range.end, std::min(range.end, tokens));
    enter(range);
  } else if (splits()) {
    chunk_.seek(range.begin, range.end, tokens);
    enter(range);
  } else {
    // The index alone says where the first document begins and the last one ends.
    const Index begin = boundaries_->begin_of(segment_), end = boundaries_->begin_of(boundaries_->first_from(range.end));
    finished_ = begin >= range.end;
    chunk_.seek(begin, range.end, std::max(begin, end));
  }
}

/// Into the segment that the range begins in, where it began before.
template <class Id>
void Walk<Id>::enter(const WalkRange& range) {
  if (boundaries_->begin_of(segment_) == range.begin) return;
  segment_begin_ = boundaries_->begin_of(segment_ - 1);
  segment_end_ = boundaries_->begin_of(segment_);
  segment_open_ = true;
  // A separator just before the range ends the document there. The first id of an infini-gram document is none.
  const bool looks_back = splits() && !rule_.begins && !(rule_.lead && range.begin - 1 == segment_begin_);
  const bool fresh = looks_back && is_separator(chunk_[range.begin - 1]);
  if (fresh) return;
  if (range.whole_documents) {
    foreign_ = true;
  } else {
    pieces_.continue_document(splits() ? 0 : range.begin - segment_begin_);
  }
}

template <class Id>
bool Walk<Id>::next(TokenBatch& batch) {
  const std::size_t before = batch.pieces.size();
  while (!finished_ && batch.pieces.size() == before) {
    if (chunk_.empty()) load();
    const bool at_stop = chunk_.empty();
    pieces_.resume(batch);
    bool goes_on = true;
    while (goes_on && !finished_ && batch.pieces.size() < before + most_pieces) goes_on = step();
    pieces_.pause(finished_, finished_ && ends_at_range());
    if (at_stop && !goes_on) refuse_change("its documents end elsewhere now");
  }
  return batch.pieces.size() > before;
}

template <class Id>
void Walk<Id>::load() {
  chunk_.load();
  if (!splits()) return;
  chunk_begin_ = chunk_.at();
  next_separator_ = 0;
  list_places(chunk_.left(), static_cast<std::uint32_t>(rule_.separator), separators_);
}

/// Up to the next separator, or the end of the chunk.
template <class Id>
Index Walk<Id>::ids_before_separator() {
  const Index taken = chunk_.at() - chunk_begin_;
  while (next_separator_ < separators_.size() && separators_[next_separator_] < taken) ++next_separator_;
  return (next_separator_ < separators_.size() ? Index{separators_[next_separator_]} : taken + std::ssize(chunk_.left())) - taken;
}

/// One step of the walk; false where it needs more ids.
template <class Id>
bool Walk<Id>::step() {
  const Index at = chunk_.at();
  if (segment_open_ && at == segment_end_) {
    end_document();
    segment_open_ = false;
  }
  const bool inside = foreign_ || pieces_.is_open();
  if (!segment_open_) {
    open_segment();
  } else if (at >= range_.end && (foreign_ || !inside || !range_.whole_documents)) {
    finished_ = true;
  } else if (chunk_.empty()) {
    return false;
  } else if (inside) {
    take_run();
  } else {
    begin_document();
  }
  return true;
}

template <class Id>
void Walk<Id>::open_segment() {
  const Index at = chunk_.at();
  if (segment_ == boundaries_->count() || at >= range_.end) {
    finished_ = true;
    return;
  }
  segment_begin_ = at;
  segment_end_ = boundaries_->begin_of(++segment_);
  if (segment_end_ < at) {
    refuse_change(
        fmt::format("its index says now that document {} ends at token {}, before it begins at {}", segment_ - 1, segment_end_, at));
  }
  segment_open_ = segment_end_ > at;
  if (segment_open_) return;
  pieces_.begin_document();
  pieces_.end_document();
}

/// At an id that is there.
template <class Id>
void Walk<Id>::begin_document() {
  pieces_.begin_document();
  const Id first = chunk_.left().front();
  if (rule_.lead && chunk_.at() == segment_begin_) {
    if (first != ones) refuse_lead(chunk_.at());
    chunk_.take(1);
  } else if (rule_.begins && is_separator(first)) {
    if (rule_.keep) {
      take(1);
    } else {
      chunk_.take(1);
    }
  }
}

template <class Id>
void Walk<Id>::end_document() {
  if (pieces_.is_open()) pieces_.end_document();
  foreign_ = false;
}

/// Up to the next separator, the segment's end, or that of the chunk.
template <class Id>
void Walk<Id>::take_run() {
  Index length = std::min(std::ssize(chunk_.left()), segment_end_ - chunk_.at());
  if (foreign_) length = std::min(length, range_.end - chunk_.at());
  const auto ids = chunk_.left().first(static_cast<std::size_t>(length));
  const Index run = splits() ? std::min(ids_before_separator(), length) : length;
  if (rule_.lead) {
    if (const Index found = find_id(ids, ones); found < length) refuse_lead(chunk_.at() + found);
  }
  if (foreign_) {
    chunk_.take(run);
  } else {
    take(run);
  }
  if (run == length) return;
  if (!rule_.begins) {
    if (rule_.keep && !foreign_) {
      take(1);
    } else {
      chunk_.take(1);
    }
  }
  end_document();
}

/// Ids that are tokens of the open document.
template <class Id>
void Walk<Id>::take(Index count) {
  pieces_.append(chunk_.left().first(static_cast<std::size_t>(count)), chunk_.at());
  chunk_.take(count);
}

/// Whether the document that is open at the range's end ends there: only where the next one begins with a separator, since all else has
/// ended it before.
template <class Id>
bool Walk<Id>::ends_at_range() const {
  return pieces_.is_open() && rule_.begins && splits() && is_separator(chunk_[chunk_.at()]);
}

template <class Id>
void Walk<Id>::refuse_lead(Index index) const {
  const Index document = boundaries_->first_from(index + 1) - 1;
  throw Error(
      fmt::format("reading {}: the id at token {} (byte {}) is {}, where document {} {} by {}; expected a separator, {}, before each "
                  "document and nowhere else: the two are no pair, copy both again",
                  file_.path, index, index * file_.width, stored_id(*ids_, file_, index), document,
                  index == segment_begin_ ? "begins" : "goes on", file_.index_path, ones));
}

template <class Id>
void Walk<Id>::refuse_change(std::string_view what) const {
  throw Error(fmt::format("reading {}: {}; do not change a corpus that is being read", name_in_errors(file_), what));
}

}  // namespace

std::unique_ptr<TokenWalk> make_token_walk(Format format, const CorpusFile& file, const IdSource& ids, Boundaries& boundaries,
                                           SplitRule rule, Index chunk_ids, Index vocab_size) {
  if (file.width == 2) return std::make_unique<Walk<std::uint16_t>>(format, file, ids, boundaries, std::move(rule), chunk_ids, vocab_size);
  return std::make_unique<Walk<std::uint32_t>>(format, file, ids, boundaries, std::move(rule), chunk_ids, vocab_size);
}

}  // namespace posgeom
