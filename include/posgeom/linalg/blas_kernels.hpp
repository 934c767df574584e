#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace posgeom {

/// Whether a BLAS of that name (BlasReport::name) runs kernels from before AVX2 on a CPU that has it. False off x86-64.
bool has_outdated_kernels(std::string_view blas);

/// An environment variable by which a BLAS chooses its kernels when it is first used, or loaded.
struct BlasKernelSetting {
  std::string variable;
  std::string value;
};

/// What would let the BLAS of this process use the CPU's vector width where, left to itself, it has outdated kernels: a library knows no
/// CPU that came after it. (BLIS 0.9 runs its generic kernels on AMD's Zen 4 and 5, at a tenth of what its AVX-512 ones do there; OpenBLAS
/// 0.3.21 those of 2004 on newer Intel CPUs.) Nothing where its choice is good, its name unknown or the variable set already. Not
/// collective.
std::optional<BlasKernelSetting> better_blas_kernels();

/// The argument with which a program that calls the function below only tries its BLAS and exits.
inline constexpr std::string_view blas_trial_argument = "--try-blas-kernels";

/// Starts this program anew with that setting, if there is one: a library reads it once. First thing in main(), before MPI starts and
/// before there are threads. `arguments` are main()'s, with a null pointer at the end. Returns where there is nothing to set, where a child
/// process that is started with the setting does not come through, or where the program cannot be started anew. SIGTERM and SIGUSR1 that
/// come meanwhile wait, in the new program too, until unblock_stop_signals().
void restart_with_better_blas_kernels(char** arguments);

/// To be called once handlers are installed.
void unblock_stop_signals();

}  // namespace posgeom
