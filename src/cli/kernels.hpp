#pragma once
#include <string_view>

namespace posgeom::cli {

/// The argument with which a program that calls the function below only tries its BLAS and exits.
inline constexpr std::string_view blas_trial_argument = "--try-blas-kernels";

/// Starts this program anew with better_blas_kernels(), unless the user has set that variable. First thing in main(), before MPI starts and
/// before there are threads. `arguments` are main()'s, with a null pointer at the end. Returns where there is nothing to set, where a child
/// process that is started with the setting does not come through, or where the program cannot be started anew. SIGTERM and SIGUSR1 that
/// come meanwhile wait, in the new program too, until unblock_stop_signals().
void restart_with_better_blas_kernels(char** arguments);

/// To be called once handlers are installed.
void unblock_stop_signals();

}  // namespace posgeom::cli
