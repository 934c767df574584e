#include "posgeom/linalg/blas_kernels.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>

#include "linalg/blas_library.hpp"
#include "linalg/scalapack.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

/// The parts of AVX-512 that BLIS's skx and OpenBLAS's SkylakeX kernels use.
bool cpu_has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

/// BLIS takes the number of a kernel family, which differs between releases; the names end with "generic".
std::optional<int> number_of_blis_kernels(const BlasLibrary& library, std::string_view wanted) {
  auto* name_of = library.find<const char*(int)>("bli_arch_string");
  constexpr int most = 64;
  for (int id = 0; name_of != nullptr && id < most; ++id) {
    const char* const name = name_of(id);
    if (name == nullptr || std::string_view(name) == "generic") break;
    if (name == wanted) return id;
  }
  return std::nullopt;
}

bool multiplies_matrices() {
  constexpr int n = 64;
  const std::array<double, std::size_t{n}* n> ones = [] {
    std::array<double, std::size_t{n} * n> filled{};
    filled.fill(1.0);
    return filled;
  }();
  std::array<double, std::size_t{n} * n> product{};
  const double one = 1.0;
  const double zero = 0.0;
  scalapack::dgemm_("N", "N", &n, &n, &n, &one, ones.data(), &n, ones.data(), &n, &zero, product.data(), &n);
  return product.front() == n && product.back() == n;
}

/// Whether this program, started with the environment as it is now, gets a matrix product right: a kernel family may be missing in the
/// library.
bool trial_succeeds(const char* program) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {0, 1, 2}) dup2(null, standard);
    std::string name(program);
    std::string trial(blas_trial_argument);
    std::array<char*, 3> arguments{name.data(), trial.data(), nullptr};
    execv(program, arguments.data());
    _exit(1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

bool has_outdated_kernels(std::string_view blas) {
  if (!cpu_has_avx2()) return false;
  for (const std::string_view kernels : {"Prescott", "Core2", "Penryn", "Nehalem", "Generic", "generic"}) {
    if (blas.ends_with(kernels)) return true;
  }
  return false;
}

std::optional<BlasKernelSetting> better_blas_kernels() {
  const BlasLibrary library;
  if (!has_outdated_kernels(name_of_blas())) return std::nullopt;
  BlasKernelSetting setting;
  if (library.find<int()>("bli_arch_query_id") != nullptr) {
    std::optional<int> number;
    if (cpu_has_avx512()) number = number_of_blis_kernels(library, "skx");
    if (!number) number = number_of_blis_kernels(library, "haswell");
    if (!number) return std::nullopt;
    setting = {"BLIS_ARCH_TYPE", std::to_string(*number)};
  } else {
    setting = {"OPENBLAS_CORETYPE", cpu_has_avx512() ? "SkylakeX" : "Haswell"};
  }
  if (std::getenv(setting.variable.c_str()) != nullptr) return std::nullopt;
  return setting;
}

void restart_with_better_blas_kernels(char** arguments) {
  if (arguments[0] != nullptr && arguments[1] != nullptr && arguments[1] == blas_trial_argument) std::_Exit(multiplies_matrices() ? 0 : 1);
  const sigset_t stops = stop_signals();
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  const std::optional<BlasKernelSetting> setting = better_blas_kernels();
  if (!setting) return;
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return;  // by its path: it keeps its name in `ps`
  setenv(setting->variable.c_str(), setting->value.c_str(), 1);
  if (trial_succeeds(program.data())) execv(program.data(), arguments);
  unsetenv(setting->variable.c_str());
}

void unblock_stop_signals() {
  const sigset_t stops = stop_signals();
  sigprocmask(SIG_UNBLOCK, &stops, nullptr);
}

}  // namespace posgeom
