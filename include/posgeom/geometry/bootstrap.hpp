#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

struct Interval {
  double low = 0, high = 0;
};

/// The percentile interval of R replicates (Efron 1979): the k-th smallest and the k-th largest, k = floor((R + 1) alpha / 2), at least 1.
/// Replicates that are NaN (undefined) are left out; NaN where none is left.
Interval percentile_interval(std::span<const double> replicates, double alpha);

/// The basic interval, 2 `estimate` - high .. 2 `estimate` - low of the percentile interval: what resampling adds to the estimate, above
/// all a second helping of sampling noise, is taken off it once. Of a sum of squared distances, which noise inflates, the percentile
/// interval lies above the estimate, and the estimate above the truth. This one is about the truth where every token type is frequent; of
/// rare types resampling adds less noise than they had, and the interval stays too high: the noise analysis (noise.hpp) is for these.
Interval basic_interval(double estimate, const Interval& percentile);

/// How replicates rank the encodings at each dimension, by least value first. Encodings that are undefined in a replicate are not ranked
/// there; of equal values the earlier encoding is the better.
struct Rankings {
  std::vector<double> best;              ///< [E][D] share of the replicates in which the encoding is first
  std::vector<std::int32_t> modal_rank;  ///< [E][D] its place in the most frequent ranking, from 1; 0: not ranked
  std::vector<double> modal_share;       ///< [D] share of the replicates that have this ranking
};
/// `values`: [replicates][encodings][dimensions].
Rankings rank_encodings(std::span<const double> values, Index replicates, Index encodings, Index dimensions);

}  // namespace posgeom
