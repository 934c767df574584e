#pragma once
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/machine_rates.hpp"

namespace posgeom {

/// Predicted seconds of the stages: counted work times what a unit of it takes on this machine (MachineRates). Pure arithmetic.

/// Of counting so many tokens for all lengths, `stored` nonzero counts in the file.
double count_seconds(const Config& config, Index tokens, Index stored, Index ranks, const MachineRates& rates);

/// What a spectrum is computed from.
struct SpectrumWork {
  Index rows = 0;      ///< m
  Index types = 0;     ///< V_eff; 0: not known
  Index nonzeros = 0;  ///< of S
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
};
/// Of stress_sweep(), whose work the ranks share equally.
double stress_seconds(const StressWork& work, Index ranks, const MachineRates& rates);
/// Of summarize_hellinger().
double summary_seconds(Index rows, Index nonzeros, Index ranks, const MachineRates& rates);

}  // namespace posgeom
