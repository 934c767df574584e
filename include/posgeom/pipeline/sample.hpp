#pragma once
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/plan.hpp"

namespace posgeom {

/// **Collective.** Vocabulary size and token count from options, vocabulary file and a bounded sample of the corpus (the first 8 MiB of
/// tokens' worth). A vocabulary that would be built is extrapolated by Heaps' law, V ~ tokens^0.6; marked as estimated. Throws the same
/// Error on every rank.
CorpusEstimate estimate_corpus(const Communicator& comm, const Config& config);

}  // namespace posgeom
