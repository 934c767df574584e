#pragma once
#include <string>
#include <vector>

#include "posgeom/io/store.hpp"
#include "posgeom/pipeline/config.hpp"

namespace posgeom {

/// The lengths of the configuration that counts.h5 lacks a table for: the corpus's, its halves' or the null's.
std::vector<Index> missing_lengths(const Config& config, const CountsSummary& there);

/// The lengths to count, where those are missing: chunk and packed tables are added one by one. Document mode has one table for all
/// lengths, and halves that were not counted are wanted of every table: everything anew then, with the lengths that were there.
std::vector<Index> lengths_to_count(const Config& config, const CountsSummary& there);

/// Halves and null that were counted before stay when everything is counted anew. `there` may be null.
NoiseOptions noise_to_count(const Config& config, const CountsSummary* there);

/// Adds to `counts` the tables of `before` that it does not have. Both hold the same ranks' positions.
void keep_other_tables(CorpusCounts before, CorpusCounts& counts);

std::string comma_separated(const std::vector<Index>& numbers);
/// The counts in one line.
std::string describe(const CountsSummary& summary);

}  // namespace posgeom
