#include "geometry/row_products.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index anchors = RowProducts::anchors;
static_assert(anchors == panel_lanes);
/// Columns of the panel that are multiplied at a time: they stay in the first-level cache, and chains of roundings stay short.
constexpr std::int32_t depth = 64;
/// A column is frequent where at least one distinct row in so many holds it: below, lists of the few anchors cost less than whole vectors.
constexpr Index rarity = 48;

}  // namespace

RowProducts::RowProducts(const SquareRootDistributions& s) : s_(&s), rare_columns_(0, s.column_count) {
  const auto rows = static_cast<std::size_t>(s.row_count());
  std::vector<Index> holders(static_cast<std::size_t>(s.column_count), 0);
  std::vector<std::size_t> first_of;  // the first row of each distinct one
  std::unordered_map<Index, Index> by_storage;
  for (std::size_t i = 0; i < rows; ++i) {
    const bool empty = s.row_begin[i] == s.row_end[i];
    const auto [found, is_new] = by_storage.try_emplace(empty ? Index{-1} : s.row_begin[i], std::ssize(first_of));
    distinct_.push_back(found->second);
    if (!is_new) continue;
    first_of.push_back(i);
    for (Index e = s.row_begin[i]; e < s.row_end[i]; ++e) ++holders[static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)])];
  }
  std::vector<std::int32_t> number(holders.size(), -1);
  for (std::size_t c = 0; c < holders.size(); ++c) {
    if (holders[c] * rarity >= std::ssize(first_of)) number[c] = static_cast<std::int32_t>(frequent_count_++);
  }
  for (const std::size_t i : first_of) {
    frequent_.begin.push_back(std::ssize(frequent_.value));
    rare_.begin.push_back(std::ssize(rare_.value));
    for (auto e = static_cast<std::size_t>(s.row_begin[i]); e < static_cast<std::size_t>(s.row_end[i]); ++e) {
      const std::int32_t column = s.column[e];
      const std::int32_t renumbered = number[static_cast<std::size_t>(column)];
      Part& part = renumbered >= 0 ? frequent_ : rare_;
      part.column.push_back(renumbered >= 0 ? renumbered : column);
      part.value.push_back(s.value[e]);
    }
  }
  frequent_.begin.push_back(std::ssize(frequent_.value));
  rare_.begin.push_back(std::ssize(rare_.value));
  panel_.assign(static_cast<std::size_t>(frequent_count_ * anchors), 0.0);
}

void RowProducts::set_anchors(Index first, Index count) {
  expects(count <= anchors && first + count <= s_->row_count(), "a block of rows");
  if (first == first_anchor_ && count == anchor_count_) return;
  first_anchor_ = first;
  anchor_count_ = count;
  lane_.clear();
  lane_row_.clear();
  for (Index r = 0; r < count; ++r) {
    const Index row = distinct_[static_cast<std::size_t>(first + r)];
    const Index lane = std::ranges::find(lane_row_, row) - lane_row_.begin();
    if (lane == std::ssize(lane_row_)) lane_row_.push_back(row);
    lane_.push_back(lane);
  }
  std::ranges::fill(panel_, 0.0);
  std::array<RareColumns::Row, anchors> rare;
  for (std::size_t lane = 0; lane < lane_row_.size(); ++lane) {
    const auto row = static_cast<std::size_t>(lane_row_[lane]);
    for (auto e = static_cast<std::size_t>(frequent_.begin[row]); e < static_cast<std::size_t>(frequent_.begin[row + 1]); ++e) {
      panel_[static_cast<std::size_t>(frequent_.column[e] * anchors) + lane] = frequent_.value[e];
    }
    rare[lane] = rare_part(lane_row_[lane]);
  }
  rare_columns_.set_anchors(std::span(rare).first(lane_row_.size()));
}

RareColumns::Row RowProducts::rare_part(Index distinct) const {
  const auto row = static_cast<std::size_t>(distinct);
  return {rare_.column.data() + rare_.begin[row], rare_.value.data() + rare_.begin[row], rare_.begin[row + 1] - rare_.begin[row]};
}

void RowProducts::multiply(Index first, Index count) {
  row_place_.clear();
  place_row_.clear();
  for (Index j = first; j < first + count; ++j) {
    const Index row = distinct_[static_cast<std::size_t>(j)];
    // Rows that share storage mostly stand side by side.
    if (place_row_.empty() || place_row_.back() != row) place_row_.push_back(row);
    row_place_.push_back(std::ssize(place_row_) - 1);
  }
  const Index places = std::ssize(place_row_);
  products_.assign(static_cast<std::size_t>(places * anchors), 0.0);
  add_frequent(places);
  for (Index place = 0; place < places; ++place)
    rare_columns_.add_products(rare_part(place_row_[static_cast<std::size_t>(place)]), products_.data() + place * anchors);
}

void RowProducts::add_frequent(Index places) {
  cursor_.clear();
  for (const Index row : place_row_) cursor_.push_back(frequent_.begin[static_cast<std::size_t>(row)]);
  for (const Index row : place_row_) cursor_.push_back(frequent_.begin[static_cast<std::size_t>(row) + 1]);
  for (std::int32_t limit = depth; limit - depth < frequent_count_; limit += depth) {
    multiply_panel(panel_.data(), frequent_.column.data(), frequent_.value.data(), limit, cursor_.data() + places, places, cursor_.data(),
                   products_.data());
  }
}

}  // namespace posgeom
