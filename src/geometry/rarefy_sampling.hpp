#pragma once
#include "posgeom/philox.hpp"
#include "posgeom/types.hpp"

/// Exact random numbers of the two distributions that drawing tokens leads to, for numbers of any size.
namespace posgeom::sampling {

/// ln of the probability of x successes in n trials of probability p = 1 - q, right to about 1e-14 relative to the probability whatever the
/// size of n: the saddle-point form of Loader (2000), which never takes the difference of large factorials.
double log_binomial(Index x, Index n, double p, double q);

/// ln of the probability of x good ones among `draws` draws without replacement from good + bad.
double log_hypergeometric(Index x, Index good, Index bad, Index draws);

/// How many of n trials succeed. Small n: trial by trial; else from the mode outwards, or, where that would be long, by rejection from
/// Devroye's envelope of log-concave distributions (1987).
Index binomial(KeyedWords& words, Index n, double p);

/// How many good ones are among `draws` draws without replacement from good + bad >= draws; in the same ways.
Index hypergeometric(KeyedWords& words, Index good, Index bad, Index draws);

}  // namespace posgeom::sampling
