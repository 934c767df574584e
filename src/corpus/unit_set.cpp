#include "posgeom/corpus/unit_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// Adds [first, end) to disjoint, not touching runs.
void add_run(std::map<Index, Index>& runs, Index first, Index end) {
  auto next = runs.upper_bound(first);
  if (next != runs.begin()) {
    const auto before = std::prev(next);
    if (before->second >= first) {
      first = before->first;
      end = std::max(end, before->second);
      next = runs.erase(before);
    }
  }
  while (next != runs.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = runs.erase(next);
  }
  runs.emplace_hint(next, first, end);
}

}  // namespace

void UnitSet::add(UnitId id) {
  expects(id.file >= 0 && id.unit >= 0, "a unit's file and number from 0");
  add_run(runs_[id.file], id.unit, id.unit + 1);
}

bool UnitSet::contains(UnitId id) const {
  const auto file = runs_.find(id.file);
  if (file == runs_.end()) return false;
  const auto after = file->second.upper_bound(id.unit);
  return after != file->second.begin() && id.unit < std::prev(after)->second;
}

Index UnitSet::size() const {
  Index count = 0;
  for (const auto& [file, runs] : runs_) {
    for (const auto& [first, end] : runs) count += end - first;
  }
  return count;
}

void UnitSet::merge(const UnitSet& other) {
  if (this == &other) return;
  for (const auto& [file, runs] : other.runs_) {
    auto& mine = runs_[file];
    for (const auto& [first, end] : runs) add_run(mine, first, end);
  }
}

std::vector<Index> UnitSet::to_triples() const {
  std::vector<Index> triples;
  for (const auto& [file, runs] : runs_) {
    for (const auto& [first, end] : runs) triples.insert(triples.end(), {file, first, end});
  }
  return triples;
}

UnitSet UnitSet::from_triples(std::span<const Index> triples) {
  if (triples.size() % 3 != 0) {
    throw Error(
        fmt::format("the list of the units that were read holds {} numbers, not triples of file, first unit and last unit + 1: it is "
                    "damaged; remove it to count anew",
                    triples.size()));
  }
  UnitSet set;
  for (std::size_t k = 0; k < triples.size(); k += 3) {
    const Index file = triples[k], first = triples[k + 1], end = triples[k + 2];
    const bool follows = k == 0 || file > triples[k - 3] || (file == triples[k - 3] && first > triples[k - 1]);
    if (file < 0 || first < 0 || end <= first || !follows) {
      throw Error(
          fmt::format("the list of the units that were read is damaged: its entry {} is units {} to {} of file {}, but entries must "
                      "ascend without touching; remove it to count anew",
                      k / 3, first, end, file));
    }
    set.runs_[file].emplace(first, end);
  }
  return set;
}

}  // namespace posgeom
