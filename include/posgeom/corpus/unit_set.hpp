#pragma once
#include <map>
#include <span>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// A piece of a file that is read in one go; the same whatever the rank count.
struct UnitId {
  Index file = 0;
  Index unit = 0;
  friend bool operator==(const UnitId&, const UnitId&) = default;
};

/// Which units have been read.
class UnitSet {
 public:
  void add(UnitId id);
  bool contains(UnitId id) const;
  bool empty() const { return runs_.empty(); }
  /// Units in the set.
  Index size() const;
  void merge(const UnitSet& other);
  /// Triples file, first unit, last unit + 1: ascending, disjoint, not touching; and back. Throws Error where the triples are not that.
  std::vector<Index> to_triples() const;
  static UnitSet from_triples(std::span<const Index> triples);

 private:
  std::map<Index, std::map<Index, Index>> runs_;  ///< file -> (first -> end)
};

}  // namespace posgeom
