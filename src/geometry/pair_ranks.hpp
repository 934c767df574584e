#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Exact sums of squared and of multiplied ranks: 2^33 pairs have ranks of 34 bits, doubled, and sums of 101.
__extension__ using WideCount = __int128;

struct RankOptions {
  /// Values that one rank sorts at a time, up to 1/16 more; 64 bytes each.
  Index window_pairs = Index{1} << 22;
};

/// A value's place among the buckets into which all ranks' values are cut.
struct RankBoundary {
  std::uint64_t key = 0;  ///< posgeom::key_of a value
  Count less = 0;         ///< values below it, over all ranks
  Count equal = 0;        ///< values equal to it where they stand apart from the buckets on both sides; 0: they open the next bucket
};

/// The ranks of numbers that are spread over the ranks of a communicator, exact whatever their number and ties: average ranks, doubled to
/// be integers, 2 (numbers below) + (numbers equal) + 1. Nothing is gathered: histograms of the numbers' bits, refined where they are
/// dense, cut the numbers into buckets of nearly equal size, each of which one rank sorts. A number that fills a bucket alone is not sent
/// at all.
class PairRanks {
 public:
  /// This rank's numbers in pieces; a piece's span may be overwritten by the next call. Called several times for each piece: the same
  /// numbers.
  using Source = std::function<std::span<const double>(Index piece)>;
  struct Sums {
    double variation = 0;    ///< sum (2 R - mean)^2; 0 exactly where all numbers are equal
    double covariation = 0;  ///< sum (2 R - mean) (2 R_other - mean)
  };

  /// **Collective.** `local`: numbers of this rank, in `pieces` pieces.
  PairRanks(const Communicator& comm, Index local, Index pieces, const RankOptions& options);
  /// **Collective.** The doubled ranks of all this rank's numbers, in the order of the pieces; covariation stays 0.
  Sums rank(const Source& source, std::span<Count> doubled_ranks) const;
  /// **Collective.** Against the doubled ranks of other numbers of the same pairs.
  Sums correlate(const Source& source, std::span<const Count> doubled_ranks) const;
  /// Over all ranks.
  Count total() const { return total_; }
  /// The sum of products of doubled ranks about their mean.
  double centred(WideCount products) const;

 private:
  struct Keyed {
    std::uint64_t key = 0;
    std::uint64_t payload = 0;  ///< a doubled rank of the other numbers, or the place among those received
  };
  struct Buckets;
  template <class Visit>
  void for_each_key(const Source& source, Visit visit) const;
  std::vector<RankBoundary> boundaries(const Source& source) const;
  Buckets buckets(const Source& source) const;
  template <class Payload, class Group, class Replies>
  void for_each_window(const Source& source, const Buckets& cut, Payload payload, Group group, Replies& replies) const;
  WideCount sum_over_ranks(WideCount value) const;

  const Communicator* comm_;
  Index local_;
  Index pieces_;
  Count total_;
  Index bucket_count_;
};

/// The correlation of two sets of ranks; NaN where either is constant.
double rank_correlation(const PairRanks::Sums& sums, double other_variation);

}  // namespace posgeom
