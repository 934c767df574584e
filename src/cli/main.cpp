// posgeom COMMAND [options]: reads the command line, runs one command on all ranks, turns errors into one line and an exit code.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/kernels.hpp"
#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/mpi/session.hpp"
#include "posgeom/version.hpp"

namespace {

using namespace posgeom;
using namespace posgeom::cli;

/// One line, whatever a library's message or a damaged file's name holds.
void print_error(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  fmt::print(stderr, "posgeom: error: {}\n", text);
}

std::string general_help() {
  std::string text =
      "posgeom COMMAND [options]: Hellinger geometry of token positions, and the stress of positional encodings\n\ncommands\n";
  for (const Command& command : commands()) text += fmt::format("  {:<9} {}\n", command.name, command.summary);
  text +=
      "\n`posgeom COMMAND --help` shows a command's options with their defaults; --config FILE reads them from an INI file.\n"
      "Several ranks: mpirun -np P posgeom ..., or srun posgeom ... ; one rank needs no launcher. --version prints the release.\n";
  return text;
}

std::string command_help(const Command& command) {
  std::string unused;
  for (const std::string_view name : command.unused_options) unused += fmt::format("{}--{}", unused.empty() ? "" : ", ", name);
  if (!unused.empty()) unused = fmt::format("checked, and without effect on the plan, as the rest of output: {}\n", unused);
  return fmt::format(
      "posgeom {} [options]: {}\n\n{}common\n  --config FILE  options from an INI file (key = value; the command line beats it)\n  "
      "--help\n{}",
      command.name, command.summary, options_help(command.option_groups, command.more_options, command.unused_options), unused);
}

/// srun without PMIx starts N processes that each believe to be alone and write the same files.
void refuse_singletons(const Communicator& world) {
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0L : std::strtol(text, nullptr, 10);
  };
  const bool in_wide_step = number("SLURM_STEP_NUM_TASKS") > 1 || (number("SLURM_NTASKS") > 1 && number("SLURM_PROCID") > 0);
  if (world.size() == 1 && in_wide_step) {
    throw CollectiveError(
        "Slurm started several tasks, but this one is an MPI job of its own: they would overwrite each other's files; start with "
        "`srun --mpi=pmix` (see `srun --mpi=list`) or with mpirun",
        ErrorKind::run, 0);
  }
}

std::string read_config(const Communicator& comm, const std::string& path) {
  std::string text = collective(comm, "reading the configuration", [&] {
    if (!comm.is_root()) return std::string();
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(fmt::format("option --config: cannot read '{}'; expected an INI file (see configs/)", path), ErrorKind::usage);
    return std::string(std::istreambuf_iterator<char>(in), {});
  });
  broadcast_resized(comm, text);
  return text;
}

int run_on_ranks(const std::vector<std::string>& arguments, const Communicator& world) {
  const std::string command_name = arguments.empty() ? "" : arguments.front();
  const auto print = [&](const std::string& text) {
    if (world.is_root()) std::cout << text << std::flush;
  };
  if (command_name == "--version") {
    print(fmt::format("posgeom {} ({})\n", version(), git_revision()));
    return 0;
  }
  if (command_name.empty() || command_name == "--help" || command_name == "-h" || command_name == "help") {
    if (!command_name.empty()) print(general_help());
    if (command_name.empty()) throw CollectiveError("no command given; see `posgeom --help`", ErrorKind::usage, 0);
    return 0;
  }
  const Command* const command = find_command(command_name);
  if (command == nullptr)
    throw CollectiveError(fmt::format("unknown command '{}'; see `posgeom --help`", command_name), ErrorKind::usage, 0);
  const ParsedLine line = collective(world, "reading the command line", [&] {
    return parse_command_line({arguments.begin() + 1, arguments.end()});
  });
  if (line.help) {
    print(command_help(*command));
    return 0;
  }
  refuse_singletons(world);
  const std::string config_text = line.config_path.empty() ? std::string() : read_config(world, line.config_path);
  Config config = collective(world, "reading the options",
                             [&] { return config_from(merge(line.typed, parse_config_text(config_text, line.config_path))); });
  config.command_line = "posgeom";
  for (const std::string& argument : arguments) config.command_line += " " + argument;
  config.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  broadcast_resized(world, config.created);  // the root's clock: all ranks write one attribute

  StageReport report(world.is_root() ? &std::cout : nullptr, config.output.progress, watched());
  command->function({world, config, line.files, report});
  return 0;
}

/// Errors that all ranks share end all ranks in good order; whatever else escapes on one rank aborts the job.
int run_and_report(const std::vector<std::string>& arguments, const Communicator& world) {
  try {
    return run_on_ranks(arguments, world);
  } catch (const CollectiveError& error) {
    if (world.is_root()) print_error(error.what());
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    print_error(world.size() > 1 ? fmt::format("rank {}: {}", world.rank(), error.what()) : std::string(error.what()));
    std::fflush(nullptr);
    if (world.size() > 1) MPI_Abort(world.handle(), static_cast<int>(ErrorKind::run));
    return static_cast<int>(ErrorKind::run);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    restart_with_better_blas_kernels(argv);
    // Before MPI starts: a job's warning may come while the ranks still find each other.
    catch_stop_signals();
    unblock_stop_signals();
    const Session session(argc, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return run_and_report(arguments, Communicator::world());
  } catch (const std::exception& error) {
    print_error(error.what());
    return static_cast<int>(ErrorKind::run);
  }
}
