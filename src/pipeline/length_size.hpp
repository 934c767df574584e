#pragma once
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/plan.hpp"

namespace posgeom {

/// What one length is, as far as is known; where it is not, the most that it can be.
struct LengthSize {
  Index rows = 0;
  Index types = 0;    ///< V_eff at most; 0: not known
  Index rank = 0;     ///< at most
  RowsSize whole;     ///< S of all counts
  RowsSize half;      ///< and of one half's
  RowsSize rarefied;  ///< and of one half's, as the noise analysis brings its positions to as many tokens each
  double tokens = 0;  ///< at all positions together; 0: not known
};

/// Dense columns of rows of which so few are distinct, and stored, as whole columns of as much memory.
Index stored_dense(Index dense, Index distinct, Index rows);

/// Of the corpus, at one length; also for a sample that stands for it.
LengthSize size_of(const Config& config, const CorpusEstimate& corpus, Index length);
/// Of what is counted: the corpus's own rows, and halves that have at most as many frequent columns.
LengthSize size_of(const LengthNeeds& counted);

}  // namespace posgeom
