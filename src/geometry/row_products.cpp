#include "geometry/row_products.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "geometry/rows.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index anchors = RowProducts::anchors;
static_assert(anchors == panel_lanes);
/// Columns of the panel that are multiplied at a time: they stay in the first-level cache, and chains of roundings stay short.
constexpr std::int32_t depth = 64;

}  // namespace

RowProducts::RowProducts(const SquareRootDistributions& s) : s_(&s), rare_columns_(0, s.column_count) {
  const auto rows = static_cast<std::size_t>(s.row_count());
  std::vector<Index> holders(static_cast<std::size_t>(s.column_count), 0);
  std::unordered_map<Index, Index> by_storage;
  for (std::size_t i = 0; i < rows; ++i) {
    const bool empty = s.row_begin[i] == s.row_end[i];
    const auto [found, is_new] = by_storage.try_emplace(empty ? Index{-1} : s.row_begin[i], std::ssize(row_));
    distinct_.push_back(found->second);
    if (!is_new) continue;
    row_.push_back({s.row_begin[i], s.row_begin[i], s.row_end[i]});
    for (Index e = s.row_begin[i]; e < s.row_end[i]; ++e) ++holders[static_cast<std::size_t>(s.column[static_cast<std::size_t>(e)])];
  }
  std::vector<std::int32_t> number(holders.size(), -1);
  for (std::size_t c = 0; c < holders.size(); ++c) {
    if (is_frequent(holders[c], std::ssize(row_))) number[c] = static_cast<std::int32_t>(frequent_count_++);
  }
  column_ = s.column.data();
  value_ = s.value.data();
  const bool frequent_first = frequent_count_ == 0 || number[static_cast<std::size_t>(frequent_count_ - 1)] == frequent_count_ - 1;
  if (!frequent_first) copy_apart(number);
  for (Row& row : row_) {
    const auto* const end = column_ + row.end;
    if (frequent_first) row.rare = std::lower_bound(column_ + row.begin, end, frequent_count_) - column_;
  }
  panel_.assign(static_cast<std::size_t>(frequent_count_ * anchors), 0.0);
}

void RowProducts::copy_apart(const std::vector<std::int32_t>& number) {
  for (Row& row : row_) {
    const Index begin = std::ssize(own_value_);
    for (const bool frequent : {true, false}) {
      if (!frequent) row.rare = std::ssize(own_value_) - begin + row.begin;
      for (Index e = row.begin; e < row.end; ++e) {
        const std::int32_t column = column_[e];
        const std::int32_t renumbered = number[static_cast<std::size_t>(column)];
        if ((renumbered >= 0) != frequent) continue;
        own_column_.push_back(frequent ? renumbered : column);
        own_value_.push_back(value_[e]);
      }
    }
    row = {begin, begin + row.rare - row.begin, std::ssize(own_value_)};
  }
  column_ = own_column_.data();
  value_ = own_value_.data();
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
    const Row& row = row_[static_cast<std::size_t>(lane_row_[lane])];
    for (Index e = row.begin; e < row.rare; ++e) panel_[static_cast<std::size_t>(column_[e] * anchors) + lane] = value_[e];
    rare[lane] = rare_part(lane_row_[lane]);
  }
  rare_columns_.set_anchors(std::span(rare).first(lane_row_.size()));
}

RareColumns::Row RowProducts::rare_part(Index distinct) const {
  const Row& row = row_[static_cast<std::size_t>(distinct)];
  return {column_ + row.rare, value_ + row.rare, row.end - row.rare};
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
  for (const Index row : place_row_) cursor_.push_back(row_[static_cast<std::size_t>(row)].begin);
  for (const Index row : place_row_) cursor_.push_back(row_[static_cast<std::size_t>(row)].rare);
  for (std::int32_t limit = depth; limit - depth < frequent_count_; limit += depth) {
    multiply_panel(panel_.data(), column_, value_, limit, cursor_.data() + places, places, cursor_.data(), products_.data());
  }
}

}  // namespace posgeom
