#include "corpus/token_pieces.hpp"

#include <algorithm>
#include <utility>

#include "corpus/id_check.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

template <class Id>
void PieceBuilder<Id>::reset() {
  open_ = cut_ = given_ = has_held_ = false;
  document_ = -1;
  kept_ = 0;
}

template <class Id>
void PieceBuilder<Id>::resume(TokenBatch& batch) {
  expects(std::is_same_v<Id, std::uint16_t> ? batch.wide.empty() : batch.narrow.empty(), "a batch of ids of the same width");
  batch_ = &batch;
  out_count_ = piece_begin_ = batch.token_count();
  if (!std::exchange(has_held_, false)) return;
  out().push_back(held_);
  ++out_count_;
}

/// A token is held back where the document may end before its next one, so that a piece that ends a document is empty only where the
/// document is.
template <class Id>
void PieceBuilder<Id>::pause(bool range_ends, bool document_ends) {
  flush();
  if (open_ && !cut_ && out_count_ > piece_begin_) {
    const bool hold = holds_back_ && !range_ends;
    if (hold) {
      held_ = out().back();
      has_held_ = true;
      out().pop_back();
      --out_count_;
      --kept_;
    }
    if (out_count_ > piece_begin_) emit(range_ends && document_ends);
    if (hold) ++kept_;
  }
  batch_ = nullptr;
}

template <class Id>
void PieceBuilder<Id>::begin_document() {
  open_ = true;
  cut_ = given_ = false;
  ++document_;
  kept_ = 0;
  piece_begin_ = count();
}

template <class Id>
void PieceBuilder<Id>::continue_document(Index position) {
  open_ = given_ = true;
  kept_ = position;
}

template <class Id>
void PieceBuilder<Id>::end_document() {
  if (!cut_ && (count() > piece_begin_ || !given_)) emit(true);
  open_ = false;
}

template <class Id>
void PieceBuilder<Id>::append(std::span<const Id> ids, Index index) {
  if (ids.empty()) return;
  if (!rule_->ignored.empty() || rule_->max_tokens > 0) return append_filtered(ids, index);
  if (pending_.data() + pending_.size() != ids.data()) flush();
  if (pending_.empty()) pending_index_ = index;
  pending_ = {pending_.empty() ? ids.data() : pending_.data(), pending_.size() + ids.size()};
  kept_ += std::ssize(ids);
}

template <class Id>
void PieceBuilder<Id>::append_filtered(std::span<const Id> ids, Index index) {
  check(ids, index);
  if (cut_) return;
  std::vector<Stored>& tokens = out();
  const std::size_t before = tokens.size();
  if (rule_->ignored.empty()) {
    copy(ids);
  } else {
    for (const Id id : ids) {
      const bool ignored = std::find(rule_->ignored.begin(), rule_->ignored.end(), Index{id}) != rule_->ignored.end();
      if (!ignored) tokens.push_back(static_cast<Stored>(id));
    }
  }
  Index added = static_cast<Index>(tokens.size() - before);
  const Index excess = rule_->max_tokens > 0 ? std::clamp(kept_ + added - rule_->max_tokens, Index{0}, added) : 0;
  tokens.resize(tokens.size() - static_cast<std::size_t>(excess));
  added -= excess;
  kept_ += added;
  out_count_ += added;
  if (rule_->max_tokens == 0 || kept_ < rule_->max_tokens) return;
  emit(true);
  cut_ = true;
}

template <class Id>
void PieceBuilder<Id>::copy(std::span<const Id> ids) {
  const auto* begin = reinterpret_cast<const Stored*>(ids.data());  // the same bytes, since they are below V
  out().insert(out().end(), begin, begin + ids.size());
}

template <class Id>
void PieceBuilder<Id>::check(std::span<const Id> ids, Index index) const {
  if (Index{largest(ids)} < rule_->limit) return;
  for (const Id id : ids) {
    if (Index{id} >= rule_->limit && !std::binary_search(rule_->ignored.begin(), rule_->ignored.end(), Index{id})) refuse_(index);
    ++index;
  }
}

template <class Id>
void PieceBuilder<Id>::flush() {
  if (pending_.empty()) return;
  const std::span<const Id> ids = std::exchange(pending_, {});
  check(ids, pending_index_);
  copy(ids);
  out_count_ += std::ssize(ids);
}

template <class Id>
void PieceBuilder<Id>::emit(bool ends) {
  const Index end = count();
  batch_->pieces.push_back({piece_begin_, end, document_, kept_ - (end - piece_begin_), ends});
  piece_begin_ = end;
  given_ = true;
}

template class PieceBuilder<std::uint16_t>;
template class PieceBuilder<std::uint32_t>;

}  // namespace posgeom
