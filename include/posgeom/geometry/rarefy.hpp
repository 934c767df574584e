#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "posgeom/counts/position_counts.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// The tables that are rarefied; each has random numbers of its own.
enum class RarefiedTable : std::uint64_t { half_a = 0, half_b = 1, shuffled_half_a = 2, shuffled_half_b = 3, corpus = 4, shuffled = 5 };

/// The first `length` positions of the table of half b: corpus minus half a. Throws Error where half a is not a part of the corpus (it
/// holds a token at a position more often than the corpus does); `what` names the tables, "the corpus" or "the shuffled corpus". Of the
/// numbers of documents and tokens the corpus's are taken over. Not collective.
PositionCounts second_half(const PositionCounts& corpus, const PositionCounts& half_a, Index length, std::string_view what);

/// **Collective.** Rarefaction (Sanders 1968; Hurlbert 1971): of each of `positions` (ascending, each with at least `total` tokens) `total`
/// tokens, drawn without replacement, exactly multivariate hypergeometric; the positions that are not listed are left without tokens. Row i
/// is a function of its counts, total, seed, table and i alone, whatever the rank count; rows are dealt to the ranks, O(types) operations a
/// row, whatever the number of tokens. The first `length` positions, the same on every rank.
PositionCounts rarefied(const Communicator& comm, const PositionCounts& counts, Index length, std::span<const std::int32_t> positions,
                        Count total, std::uint64_t seed, RarefiedTable table);

}  // namespace posgeom
