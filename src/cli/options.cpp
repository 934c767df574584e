#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "posgeom/error.hpp"

namespace posgeom::cli {
namespace po = boost::program_options;
namespace {

std::string boost_name(const Option& option) {
  return option.letter != 0 ? fmt::format("{},{}", option.name, option.letter) : std::string(option.name);
}

/// Strings only: what they mean is config_from()'s to say, with its own messages.
po::typed_value<std::vector<std::string>>* value_of(const Option& option) {
  auto* value = po::value<std::vector<std::string>>()->value_name(option.is_switch ? "on|off" : "X");
  if (option.is_switch) value->implicit_value({"on"}, "on");
  return value;
}

/// One options_description a group of the table, in its order, of the options that `wanted` says yes to.
template <class Wanted>
std::vector<po::options_description> descriptions(bool with_defaults, Wanted wanted) {
  std::vector<po::options_description> groups;
  std::string_view current;
  for (const Option& option : option_table()) {
    if (!wanted(option)) continue;
    if (option.group != current) {
      current = option.group;
      groups.emplace_back(std::string(option.group), 140, 70);
    }
    const std::string help =
        with_defaults ? fmt::format("{} (default: {})", option.help, option.default_value.empty() ? "none" : option.default_value)
                      : std::string(option.help);
    groups.back().add_options()(boost_name(option).c_str(), value_of(option), help.c_str());
  }
  return groups;
}

po::options_description all_options() {
  po::options_description all;
  for (const po::options_description& group : descriptions(false, [](const Option&) { return true; })) all.add(group);
  return all;
}

OptionValues values_of(const po::variables_map& map) {
  OptionValues values;
  for (const Option& option : option_table()) {
    const auto found = map.find(std::string(option.name));
    if (found == map.end()) continue;
    values[std::string(option.name)] = found->second.as<std::vector<std::string>>();
  }
  for (const auto& [name, list] : values) {
    if (name != "corpus" && list.size() > 1) {
      throw Error(fmt::format("option --{}: found {} times, expected once (lists are comma separated)", name, list.size()),
                  ErrorKind::usage);
    }
  }
  return values;
}

}  // namespace

ParsedLine parse_command_line(const std::vector<std::string>& arguments) {
  ParsedLine line;
  po::options_description options = all_options();
  options.add_options()("help,h", "")("config", po::value<std::string>(), "")("file", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add("file", -1);
  po::variables_map map;
  try {
    namespace style = po::command_line_style;
    po::store(
        po::command_line_parser(arguments).options(options).positional(positional).style(style::unix_style & ~style::allow_guessing).run(),
        map);
  } catch (const po::error& error) {
    throw Error(fmt::format("{}; see `posgeom COMMAND --help`", error.what()), ErrorKind::usage);
  }
  line.typed = values_of(map);
  line.help = map.count("help") > 0;
  if (map.count("config") > 0) line.config_path = map["config"].as<std::string>();
  if (map.count("file") > 0) line.files = map["file"].as<std::vector<std::string>>();
  return line;
}

OptionValues parse_config_text(const std::string& text, const std::string& path) {
  const po::options_description options = all_options();
  std::istringstream in(text);
  po::variables_map map;
  try {
    const auto parsed = po::parse_config_file(in, options, /*allow_unregistered=*/true);
    for (const po::option& option : parsed.options) {
      // A [slurm] key is not ours to judge.
      if (option.unregistered && option.string_key.rfind("slurm.", 0) != 0) {
        throw Error(fmt::format("{}: unknown key '{}'; keys are the long options of `posgeom run --help`, outside any section", path,
                                option.string_key),
                    ErrorKind::usage);
      }
    }
    po::parsed_options known(&options);
    std::copy_if(parsed.options.begin(), parsed.options.end(), std::back_inserter(known.options),
                 [](const po::option& option) { return !option.unregistered; });
    po::store(known, map);
  } catch (const po::error& error) {
    throw Error(fmt::format("{}: {}; expected lines 'key = value'", path, error.what()), ErrorKind::usage);
  }
  return values_of(map);
}

OptionValues merge(const OptionValues& typed, const OptionValues& config) {
  OptionValues values;
  const auto overlay = [&values](const OptionValues& source) {
    for (const auto& [name, list] : source) values[name] = list;
  };
  for (const Option& option : option_table()) {
    if (option.name != "corpus") values[std::string(option.name)] = {std::string(option.default_value)};
  }
  OptionValues chosen = config;
  for (const auto& [name, list] : typed) chosen[name] = list;
  if (const auto preset = chosen.find("preset"); preset != chosen.end()) overlay(preset_values(preset->second.back()));
  overlay(chosen);
  return values;
}

std::string options_help(const std::vector<std::string_view>& groups, const std::vector<std::string_view>& more,
                         const std::vector<std::string_view>& left_out) {
  const auto among = [](const std::vector<std::string_view>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  const auto wanted = [&](const Option& option) {
    return among(more, option.name) || ((groups.empty() || among(groups, option.group)) && !among(left_out, option.name));
  };
  std::ostringstream out;
  for (const po::options_description& group : descriptions(true, wanted)) out << group << '\n';
  return out.str();
}

}  // namespace posgeom::cli
