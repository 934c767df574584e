#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// H over all pairs i < j, in one number each.
struct HellingerSummary {
  Index pair_count = 0;
  double sum = 0;          ///< sum H
  double sum_squared = 0;  ///< sum H^2
  double mean = 0;         ///< NaN without pairs
  double largest = 0;
  double corpus_violation_rate = 0;  ///< of H itself; NaN without triples
  double constant_baseline = 0;      ///< 1 - mean(H)^2 / mean(H^2); NaN where sum H^2 = 0
};

/// **Collective.** H by tiles, anchors dealt to the ranks in blocks; sums compensated, so that the rank count does not show.
HellingerSummary summarize_hellinger(const Communicator& comm, const SquareRootDistributions& s);

/// Stress of E encodings at D dimensions; tables are [E][D], row-major. Undefined cases:
/// sum H^2 = 0: raw is 0 if all D = 0, else +inf. A zero denominator: NaN. No pairs, no triples: separation, violation rate NaN. An
/// encoding that is undefined at d: all NaN.
struct StressTable {
  std::vector<std::int32_t> dimensions;     ///< [D] ascending
  std::vector<std::string> encoding_names;  ///< [E]
  std::vector<double> raw;                  ///< sum (D-H)^2 / sum H^2
  std::vector<double> scaled;               ///< 1 - (sum DH)^2 / (sum D^2 sum H^2)
  std::vector<double> scale;                ///< alpha* = sum DH / sum D^2
  std::vector<double> violation_rate;
  std::vector<double> min_separation;
  std::vector<double> pearson;
  std::vector<double> spearman;          ///< the correlation of the ranks of D and H; ties (to a billionth of the largest) share their mean
  std::vector<std::uint8_t> not_unique;  ///< [D] of the MDS
  double constant_baseline = 0;
  double corpus_violation_rate = 0;

  Index index(Index encoding, Index dimension) const { return encoding * std::ssize(dimensions) + dimension; }
};

/// One encoding and the dimensions it is wanted at.
struct StressRequest {
  NamedEncoding encoding;
  std::vector<std::int32_t> dimensions;  ///< ascending, distinct
};

/// The cells of one request, in the order of its dimensions.
struct StressColumns {
  std::vector<double> raw, scaled, scale, violation_rate, min_separation, pearson, spearman;
};

/// The measures that StressTable, StressColumns and Sweep hold, by the names that files and tables give them.
inline constexpr std::array<std::string_view, 7> measure_names = {"raw",     "scaled",  "scale", "violation_rate", "min_separation",
                                                                  "pearson", "spearman"};
/// Pointers to a table's columns, in the order of measure_names.
template <class Table>
auto measures_of(Table& table) {
  return std::array{&table.raw, &table.scaled, &table.scale, &table.violation_rate, &table.min_separation, &table.pearson, &table.spearman};
}

/// Called now and then with blocks done and blocks in all on this rank. May throw to stop only if it throws on every rank at the same call.
using StressProgress = std::function<void(Index done, Index total)>;

/// What costs more than the sums over pairs: sorts, for each encoding with coordinates and each dimension.
struct StressSweepOptions {
  bool violation_rate = true;  ///< off: NaN
  bool spearman = true;        ///< off: NaN
};

/// **Collective.** Every request's stress against H, the same numbers for every rank count. Tiles of pairs are dealt to the ranks; each
/// pair's squared distance is carried from one d to the next, so that a sweep over d costs one pass over the pairs and columns; another
/// one gives the violations, whose tie needs the largest distance. Lag kernels cost O(m^2) once, then O(m log m) for each d.
/// Memory on each rank: megabytes for the sums, and for Spearman 16 bytes for each pair of this rank's share of m (m - 1) / 2 and
/// RankOptions::window_pairs x 64 bytes (src/geometry/pair_ranks.hpp).
std::vector<StressColumns> stress_sweep(const Communicator& comm, const SquareRootDistributions& s, const HellingerSummary& summary,
                                        const std::vector<StressRequest>& requests, const StressProgress& progress = {},
                                        const StressSweepOptions& options = {});

/// Bytes that stress_sweep() with Spearman's correlations takes on the fullest of `ranks` ranks, S and the encodings excepted.
Index stress_bytes(Index rows, Index ranks);

}  // namespace posgeom
