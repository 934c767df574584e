#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace posgeom {

/// One option of the command line and of configuration files: everything but its meaning, which config_from() knows.
struct Option {
  std::string_view group;          ///< heading in --help
  std::string_view name;           ///< long name, and the key in an INI file
  char letter;                     ///< short name, or 0
  std::string_view default_value;  ///< as it would be typed
  bool is_switch;                  ///< given without a value means "on"
  std::string_view help;
};

/// Every option, group by group.
const std::vector<Option>& option_table();

/// What was typed for each option, defaults filled in; more than one value for `corpus` only.
using OptionValues = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The options that --preset NAME stands for. Throws Error (usage) that lists the presets, where there is none of that name.
OptionValues preset_values(std::string_view name);

/// `values` as an INI text, one line an option in the table's order, for provenance and for --config.
std::string to_ini(const OptionValues& values);

}  // namespace posgeom
