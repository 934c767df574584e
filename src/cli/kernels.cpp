#include "cli/kernels.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include "posgeom/linalg/blas_kernels.hpp"

namespace posgeom::cli {
namespace {

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

void restart_with_better_blas_kernels(char** arguments) {
  if (arguments[0] != nullptr && arguments[1] != nullptr && arguments[1] == blas_trial_argument) std::_Exit(blas_multiplies() ? 0 : 1);
  const sigset_t stops = stop_signals();
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  const std::optional<BlasKernelSetting> setting = better_blas_kernels();
  if (!setting || std::getenv(setting->variable.c_str()) != nullptr) return;
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

}  // namespace posgeom::cli
