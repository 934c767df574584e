#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include "corpus/token_walk.hpp"
#include "posgeom/corpus/document_reader.hpp"

namespace posgeom {

/// Tokens and pieces of one document after the other, into batches: checks ids, leaves out those that are ignored, cuts documents.
template <class Id>
class PieceBuilder {
 public:
  /// `refuse`: throws for the id at that place of the file. `rule` outlives it.
  PieceBuilder(const SplitRule& rule, std::function<void(Index)> refuse)
      : rule_(&rule), refuse_(std::move(refuse)), holds_back_(rule.separator >= 0 || !rule.ignored.empty()) {}

  /// Forgets all; the next document has the number 0.
  void reset();
  /// What follows goes to this batch, until pause().
  void resume(TokenBatch& batch);
  /// Makes the batch complete for now. `range_ends`: nothing more will come, `document_ends` says of the open document.
  void pause(bool range_ends, bool document_ends);

  void begin_document();
  /// The document that began before the range, from a position on.
  void continue_document(Index position);
  void end_document();
  bool is_open() const { return open_; }
  /// Of the document that is open, or else of the one that would begin next.
  Piece here() const { return {0, 0, open_ ? document_ : document_ + 1, open_ ? kept_ : 0, false}; }

  /// Ids of the open document that begin at `index` of the file. They stay where they are until pause().
  void append(std::span<const Id> ids, Index index);

 private:
  /// What tokens are stored as: of the same size as ids.
  using Stored = std::conditional_t<std::is_same_v<Id, std::uint16_t>, std::uint16_t, Token>;
  std::vector<Stored>& out() {
    if constexpr (std::is_same_v<Id, std::uint16_t>) {
      return batch_->narrow;
    } else {
      return batch_->wide;
    }
  }
  Index count() const { return out_count_ + std::ssize(pending_); }
  void copy(std::span<const Id> ids);
  void check(std::span<const Id> ids, Index index) const;
  void append_filtered(std::span<const Id> ids, Index index);
  void flush();
  void emit(bool ends);

  const SplitRule* rule_;
  std::function<void(Index)> refuse_;
  bool holds_back_;  ///< only the ids that follow say whether a document ends
  // The document
  bool open_ = false;
  bool cut_ = false;    ///< it has max_tokens, and ended there
  bool given_ = false;  ///< pieces of it were given
  Index document_ = -1;
  Index kept_ = 0;  ///< tokens of it
  // The output
  TokenBatch* batch_ = nullptr;
  Index out_count_ = 0;          ///< tokens in the batch
  std::span<const Id> pending_;  ///< tokens that follow them, not copied yet: one copy and one check for all that lie together
  Index pending_index_ = 0;
  Index piece_begin_ = 0;
  Stored held_ = 0;
  bool has_held_ = false;
};

}  // namespace posgeom
