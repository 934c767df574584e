#pragma once
#include <string>
#include <vector>

#include "posgeom/pipeline/option_table.hpp"

namespace posgeom::cli {

/// What the command line says after the command's name.
struct ParsedLine {
  OptionValues typed;              ///< from the command line
  std::vector<std::string> files;  ///< positional arguments
  std::string config_path;         ///< --config
  bool help = false;
};

/// Throws Error (usage) for unknown options, missing values and repeated single options.
ParsedLine parse_command_line(const std::vector<std::string>& arguments);

/// The options of an INI text; section [slurm] is left to jobs/submit.sh. Throws Error (usage) that names `path` and the key.
OptionValues parse_config_text(const std::string& text, const std::string& path);

/// Defaults, then the preset, then `config`, then `typed`: the later beats the earlier.
OptionValues merge(const OptionValues& typed, const OptionValues& config);

/// The options of the groups, with their defaults, as --help prints them, and those called `more`; without those called `left_out`. Empty
/// `groups`: all.
std::string options_help(const std::vector<std::string_view>& groups, const std::vector<std::string_view>& more = {},
                         const std::vector<std::string_view>& left_out = {});

}  // namespace posgeom::cli
