#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom::cli {

/// What a command gets: who runs, the options, positional arguments, and whom to tell.
struct Invocation {
  const Communicator& comm;
  Config config;
  std::vector<std::string> files;
  StageReport& report;
};

/// One sub-command.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string_view> option_groups;        ///< that --help shows; empty: all
  void (*function)(const Invocation&);                ///< **Collective.**
  std::vector<std::string_view> more_options = {};    ///< of other groups, that it heeds
  std::vector<std::string_view> unused_options = {};  ///< of its groups, that it takes without effect
};

const std::vector<Command>& commands();

/// nullptr where there is none of that name.
const Command* find_command(std::string_view name);

}  // namespace posgeom::cli
