#include "cli/signals.hpp"

#include <csignal>

namespace posgeom::cli {
namespace {

// A handler has nothing else to write to.
volatile std::sig_atomic_t stop_flag = 0;

void on_stop(int) { stop_flag = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
}

void die_of_stop_signals() {
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGUSR1, SIG_DFL);
  if (stop_flag != 0) std::raise(SIGTERM);
}

bool stop_requested() { return stop_flag != 0; }

}  // namespace posgeom::cli
