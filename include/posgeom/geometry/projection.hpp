#pragma once
#include <span>

#include "posgeom/geometry/encodings.hpp"

namespace posgeom {

/// A weight matrix [out, in], row-major, as torch.nn.Linear has it: y = x W'.
struct ProjectionWeight {
  Index out = 0, in = 0;
  std::span<const double> values;
};

/// An encoding as a layer of a model sees it: p W_Q', or with `key` p W_Q' W_K, whose distances are those between positions in the scores
/// of attention, where a query from position i meets W_K x. (Weights are [out, in]; in the notation of row vectors these are p W_Q and p
/// W_Q W_K'.) Biases are left out: that of the query moves all rows alike. `p` is rows x query.in, row-major; the result has query.out or
/// key->in columns, all of which count at every d. A head's part of a weight is a run of its rows. On this rank alone.
Coordinates projected_encoding(std::span<const double> p, Index rows, const ProjectionWeight& query, const ProjectionWeight* key);

/// Rows of head `head` of `heads`, which divides weight.out.
ProjectionWeight head_of(const ProjectionWeight& weight, Index head, Index heads);

}  // namespace posgeom
