#include "corpus/unit_walk.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "corpus/corpus_index.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// floor(total * part / parts) without overflow.
Index cut(Index total, Index part, Index parts) { return total / parts * part + total % parts * part / parts; }

/// The rank of each file: the largest first, to the rank that has least so far.
std::vector<int> assign_whole_files(const std::vector<Index>& bytes, int ranks) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::vector<Index> load(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owner(bytes.size());
  for (const std::size_t k : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bytes[k];
    owner[k] = static_cast<int>(least - load.begin());
  }
  return owner;
}

}  // namespace

std::vector<FileShare> share_units(const std::vector<FileRest>& files, int rank, int ranks, bool whole_files,
                                   const std::function<Index(UnitId)>& weight) {
  Index known_bytes = 0;
  std::vector<Index> streamed_bytes;
  for (const FileRest& file : files) {
    if (!file.streamed) known_bytes += file.bytes;
    if (file.streamed && file.bytes > 0) streamed_bytes.push_back(file.bytes);
  }
  const Index begin = cut(known_bytes, rank, ranks), end = cut(known_bytes, rank + 1, ranks);
  const bool in_turn = !whole_files && std::ssize(streamed_bytes) < ranks;
  const std::vector<int> owner = in_turn ? std::vector<int>() : assign_whole_files(streamed_bytes, ranks);

  std::vector<FileShare> shares;
  Index passed = 0;
  std::size_t streamed = 0;
  for (Index file = 0; file < std::ssize(files); ++file) {
    const FileRest& rest = files[static_cast<std::size_t>(file)];
    if (rest.bytes == 0) continue;
    if (rest.streamed) {
      if (in_turn || owner[streamed] == rank) shares.push_back({file, 0, rest.unit_count, true, in_turn, rest.bytes});
      ++streamed;
      continue;
    }
    const Index file_end = passed + rest.bytes;
    FileShare share{file, 0, 0};
    // A unit belongs to the rank in whose part of the bytes its middle lies.
    for (Index unit = 0; begin < file_end && passed < end && unit < rest.unit_count; ++unit) {
      const Index bytes = weight({file, unit}), middle = passed + bytes / 2;
      passed += bytes;
      if (bytes == 0 || middle < begin || middle >= end) continue;
      if (share.end == 0) share.first = unit;
      share.end = unit + 1;
      share.bytes += bytes;
    }
    if (share.end > 0) shares.push_back(share);
    passed = file_end;
  }
  return shares;
}

UnitWalk::UnitWalk(const Corpus& corpus, const ReadOptions& options, int rank, int ranks, Sharing sharing, UnitSet done, bool whole_files)
    : corpus_(&corpus), options_(options), rank_(rank), ranks_(ranks), by_turns_(sharing == Sharing::in_turn), done_(std::move(done)) {
  expects(0 <= rank && rank < ranks, "0 <= rank < ranks");
  std::vector<FileRest> rests;
  for (Index file = 0; file < std::ssize(corpus.files); ++file) rests.push_back(rest_of(file));
  if (by_turns_) {
    for (Index file = 0; file < std::ssize(rests); ++file) {
      const FileRest& rest = rests[static_cast<std::size_t>(file)];
      shares_.push_back({file, 0, rest.unit_count, rest.streamed, true, rest.bytes});
    }
  } else {
    shares_ = share_units(rests, rank, ranks, whole_files, [this](UnitId id) { return weight_of(id); });
  }
  for (const FileShare& share : shares_) bytes_total_ += share.bytes;
}

FileRest UnitWalk::rest_of(Index file) {
  FileRest rest;
  rest.unit_count = unit_count(file);
  rest.streamed = rest.unit_count < 0;
  if (rest.streamed && corpus_->index && corpus_->index->serves(options_)) rest.unit_count = corpus_->index->unit_count(file);
  bool left = rest.unit_count < 0;
  for (Index unit = 0; unit < rest.unit_count; ++unit) {
    if (!rest.streamed) rest.bytes += weight_of({file, unit});
    left = left || !done_.contains({file, unit});
  }
  if (rest.streamed && left) rest.bytes = std::max(planned(file).unit_bytes(0), Index{1});
  return rest;
}

/// Bytes of a unit that is left, at least 1, so that even those without any are shared out; 0 where it is done.
Index UnitWalk::weight_of(UnitId id) { return done_.contains(id) ? 0 : std::max(planned(id.file).unit_bytes(id.unit), Index{1}); }

UnitSource& UnitWalk::planned(Index file) {
  if (planned_file_ != file) {
    planned_ = open_units(*corpus_, file, options_);
    planned_file_ = file;
  }
  return *planned_;
}

bool UnitWalk::open(UnitId id) {
  if (opened_ == id && fresh_) return true;
  if (!opened_ || opened_->file != id.file) {
    source_.reset();  // before the next is there
    source_ = open_units(*corpus_, id.file, options_);
  }
  opened_ = id;
  fresh_ = source_->open(id.unit);
  return fresh_;
}

UnitSource& UnitWalk::reading() {
  expects(opened_.has_value(), "an open unit");
  fresh_ = false;
  return *source_;
}

std::optional<UnitId> UnitWalk::next() {
  for (; share_ < shares_.size(); ++share_) {
    const FileShare& share = shares_[share_];
    while (true) {
      bytes_passed_ += std::exchange(weight_, 0);
      unit_ = UnitId{share.file, unit_ ? unit_->unit + 1 : share.first};
      if (share.end >= 0 && unit_->unit >= share.end) break;
      if (share.streamed) {
        if (!open(*unit_)) break;
      } else {
        weight_ = weight_of(*unit_);
      }
      if (takes(share, *unit_)) return unit_;
    }
    unit_.reset();
    if (share.streamed) bytes_passed_ += share.bytes;
  }
  return std::nullopt;
}

bool UnitWalk::takes(const FileShare& share, UnitId id) {
  const bool is_done = done_.contains(id);
  if (!share.in_turn) return !is_done;
  // In turn by the corpus's order, every unit counts; among what is left of some files, only what is left.
  if (is_done && !by_turns_) return false;
  return turn_++ % ranks_ == rank_ && !is_done;
}

Index UnitWalk::bytes_done() const {
  if (!unit_) return bytes_passed_;
  const FileShare& share = shares_[share_];
  if (share.streamed) return bytes_passed_ + std::min(source_->bytes_done(), share.bytes);
  if (opened_ == unit_) return bytes_passed_ + std::clamp(source_->bytes_done(), Index{0}, weight_);
  const bool read_ahead = opened_ && std::pair(opened_->file, opened_->unit) > std::pair(unit_->file, unit_->unit);
  return bytes_passed_ + (read_ahead ? weight_ : 0);
}

}  // namespace posgeom
