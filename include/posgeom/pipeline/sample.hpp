#pragma once
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/plan.hpp"

namespace posgeom {

/// **Collective.** Vocabulary size and token count from options, vocabulary file and a bounded sample of the corpus (the first 8 MiB of
/// tokens' worth). Of compressed text the share of the compressed bytes that the sample took gives the token count. A vocabulary of words
/// that would be built is extrapolated by Heaps' law, V ~ tokens^0.6, one of letters is a lower bound; all marked as such. Throws the same
/// Error on every rank.
CorpusEstimate estimate_corpus(const Communicator& comm, const Config& config);

}  // namespace posgeom
