#pragma once
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/machine_rates.hpp"
#include "posgeom/pipeline/plan.hpp"

namespace posgeom {

/// Predicted seconds of the stages: counted work times what a unit of it takes on this machine (MachineRates). Pure arithmetic.

/// Of any stage: reading, checking, writing little.
inline constexpr double stage_start_seconds = 0.15;

/// Of counting a corpus for all lengths, `stored` nonzero counts in the file.
double count_seconds(const Config& config, const CorpusEstimate& corpus, Index stored, Index ranks, const MachineRates& rates);

/// Of counting `replicates` of the bootstrap, the corpus being read `passes` times; `stored` nonzero counts in each.
double resampled_seconds(const Config& config, const CorpusEstimate& corpus, Index stored, Index replicates, Index passes, Index ranks,
                         const MachineRates& rates);

/// What a spectrum is computed from.
struct SpectrumWork {
  RowsSize s;
  Index types = 0;  ///< V_eff; 0: not known
  Index vectors = 0;
};
/// Of classical_mds().
double spectrum_seconds(const SpectrumWork& work, Solver solver, Index ranks, const MachineRates& rates);

/// What a stress sweep does.
struct StressWork {
  Index rows = 0;      ///< m
  Index nonzeros = 0;  ///< of S
  Index cells = 0;     ///< (encoding with coordinates, dimension)
  Index columns = 0;   ///< the widest cell of each encoding with coordinates, added up
  bool lag_kernels = false;
  bool violations = true, spearman = true;
};
/// Of stress_sweep(), whose work the ranks share equally.
double stress_seconds(const StressWork& work, Index ranks, const MachineRates& rates);
/// Of smacof() at each of `dimensions`. How many passes it takes is not known before: as many as flat spectra took.
double smacof_seconds(Index rows, const std::vector<Index>& dimensions, Index iterations, Index ranks, const MachineRates& rates);

/// What a noise analysis does.
struct NoiseWork {
  Index rows = 0;           ///< m
  Index nonzeros = 0;       ///< of S
  Index half_nonzeros = 0;  ///< of one rarefied half's
  Index types = 0;          ///< that occur
  double tokens = 0;        ///< at all positions; 0: not known
  Index replicates = 0;
  bool split = false, shuffle = false;
};
/// Of analyse_noise(), with `eigen` for its spectra.
double noise_seconds(const NoiseWork& work, const EighOptions& eigen, Index ranks, const MachineRates& rates);
/// Of summarize_hellinger().
double summary_seconds(Index rows, Index nonzeros, Index ranks, const MachineRates& rates);

}  // namespace posgeom
