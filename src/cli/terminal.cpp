#include "cli/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace posgeom::cli {

bool watched() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return true;
  const int launcher = open(fmt::format("/proc/{}/fd/1", getppid()).c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (launcher < 0) return false;
  const bool terminal = isatty(launcher) != 0;
  close(launcher);
  return terminal;
}

}  // namespace posgeom::cli
