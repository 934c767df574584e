#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// What the pairs of positions weigh: all the same, or by their tokens (token_weights()).
enum class SmacofWeights { none, tokens };
std::string_view name_of(SmacofWeights weights);
/// Throws Error (usage) that lists the names, where `name` is none of them.
SmacofWeights smacof_weights_named(std::string_view name);

/// [m] w_i proportional to sqrt(N_i), of mean 1; `total`: N_i. Where H_ij is well above the noise its sampling variance is, by the delta
/// method,
///   (1 + BC_ij) / 8 (1/N_i + 1/N_j),
/// and w_ij should be the inverse: N_i N_j / (N_i + N_j), but for a factor in [1, 2]. That is homogeneous of degree one in the totals, and
/// of the products of equal powers sqrt(N_i N_j) alone is: exact where N_i = N_j, elsewhere larger by the ratio of their arithmetic to
/// their geometric mean. w_i = N_i would go with the square of the bias of H^2_ij, (K - 1)/4 (1/N_i + 1/N_j); but no weight takes a bias
/// away (as many tokens at every position do), and little but the fullest positions would count. All pairs of a position share its error:
/// weights keep it from bending the others, and do not place the position itself any better. A row without tokens of its own (N_i = 0,
/// filled) weighs like one of a single token: it is no observation, but has coordinates.
std::vector<double> token_weights(std::span<const Count> total);

struct SmacofOptions {
  Index iterations = 1000;    ///< at most so many passes over the pairs for each d, refused steps among them; one more joins equal rows
  double tolerance = 1e-7;    ///< stop where ten steps together lower the stress by less than this share of it
  Index history = 4;          ///< steps that the acceleration remembers; 0: Guttman transforms alone
  std::uint64_t seed = 1;     ///< of the perturbation of tied coordinates
  Index hellinger_bytes = 0;  ///< of H that a rank keeps; the rows beyond are computed anew in each pass. 0: all of its rows are kept
  /// [m] w_i > 0, the pair (i, j) then weighs w_i w_j; empty: every pair weighs 1. A pair between two noisy rows then counts least. For
  /// weights of this form the Guttman transform needs no linear solver: V = (sum w) diag(w) - w w', so that V^+ B X = diag(w)^-1 B X / sum
  /// w for weighted-centred X. General w_ij are not offered.
  std::vector<double> row_weights{};
};

/// Why the iteration ended: an exact fit (raw stress below 1e-20), the relative decrease, no step that lowers the stress any more (its
/// rounding errors are reached), or the cap.
enum class SmacofStop { exact, tolerance, no_decrease, iterations };
std::string_view name_of(SmacofStop stop);

/// The stress-optimal encoding at one d.
struct SmacofSolution {
  Index d = 0;
  std::vector<double> values;  ///< m x d, column-major, centred; the same on every rank; empty where the start is undefined at d
  double start_stress = 0;     ///< raw stress (weighted, where there are weights) of the start
  double stress = 0;           ///< and of `values`: never above
  Index iterations = 0;        ///< passes over the pairs
  SmacofStop stopped_by = SmacofStop::exact;
  std::vector<double> history;  ///< raw stress of each accepted step, the (perturbed) start's first: descending
};

/// Called after each pass with the dimension and the passes done for it. May throw to stop, only if on every rank at the same call.
using SmacofProgress = std::function<void(Index d, Index iterations)>;

/// **Collective.** For each of `dimensions`, coordinates that minimise raw stress sum_{i<j} w_ij (D_ij - H_ij)^2 / sum_{i<j} w_ij H_ij^2 by
/// majorisation (de Leeuw 1977; Borg and Groenen 2005, ch. 8), from the d leading columns of `start` (the MDS). A local minimum: stress has
/// many. With the Guttman transform G(X) = V^+ B(X) X the gradient is 2 V (X - G(X)), and a step to G(X) never raises the stress. Steps are
/// limited-memory quasi-Newton ones in the metric V (Liu and Nocedal 1989), for which X - G(X) is the gradient; one that would raise the
/// stress is replaced by the Guttman transform, so that the stress falls monotonically, and each step is checked.
/// Coordinates that are exactly equal in two rows are perturbed first, by 1e-2 of the root mean square: on a plane of symmetry the gradient
/// has no way out of it, and between coincident rows there is none. Rows that are equal in `s` and in the start are put together again at
/// the end, where that lowers the stress. Where the perturbed start leads no lower than the start, the start itself is iterated.
/// Where the start is exact (d >= its rank) it is returned as it is.
///
/// Rows are dealt to the ranks in blocks; each block's sums are formed by one rank in a fixed order, and added in the order of the blocks:
/// the same bits for every rank count, for the same start. O(m^2 d) a pass.
std::vector<SmacofSolution> smacof(const Communicator& comm, const SquareRootDistributions& s, const Coordinates& start,
                                   std::span<const std::int32_t> dimensions, const SmacofOptions& options,
                                   const SmacofProgress& progress = {});

/// Bytes that smacof() takes on the fullest of `ranks` ranks for m rows and dimensions up to d, the start and solutions excepted.
Index smacof_bytes(Index m, Index d, int ranks, const SmacofOptions& options);

}  // namespace posgeom
