#pragma once

namespace posgeom {

/// How fast a core is, for predicted times.
struct MachineRates {
  double dgemm_flops = 45e9;  ///< operations a second of DGEMM on one core
  double slowness = 1;        ///< seconds of everything else, over those of the core that the stored figures were measured on
  int threads = 1;            ///< of each rank's BLAS
  bool measured = false;
};

/// Measures this core in about two seconds: DGEMM, and a small spectrum's distances and stress, by the code that the stages run; in CPU
/// seconds, so that other work on the machine does not count.
/// Not collective.
MachineRates measure_rates();

}  // namespace posgeom
