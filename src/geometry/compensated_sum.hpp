#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "posgeom/mpi/collective.hpp"

namespace posgeom {

/// A sum that also keeps the rounding errors of its additions (Knuth's two-sum; Ogita, Rump and Oishi 2005): its error is that of twice the
/// digits, so that the order of the additions, and with it the rank count, does not show in value().
struct CompensatedSum {
  double high = 0;
  double low = 0;

  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.high);
    low += other.low;
  }
  double value() const { return high + low; }
};

/// **Collective.** Element-wise sum over the ranks, added in rank order on every rank, in pieces that bound the memory.
inline void combine(const Communicator& comm, std::span<CompensatedSum> sums) {
  if (comm.size() == 1) return;
  const Index chunk = std::max<Index>(64, (Index{1} << 20) / comm.size());
  for (Index begin = 0; begin < std::ssize(sums); begin += chunk) {
    const auto mine = sums.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(chunk, std::ssize(sums) - begin)));
    const std::vector<CompensatedSum> all = all_gather(comm, std::span<const CompensatedSum>(mine));
    for (std::size_t k = 0; k < mine.size(); ++k) {
      CompensatedSum total;
      for (std::size_t from = k; from < all.size(); from += mine.size()) total.add(all[from]);
      mine[k] = total;
    }
  }
}

}  // namespace posgeom
