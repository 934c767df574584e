#include "pipeline/values.hpp"

#include <fmt/format.h>

#include <charconv>

#include "posgeom/error.hpp"

namespace posgeom {

void refuse(std::string_view option, std::string_view found, std::string_view expected) {
  throw Error(fmt::format("option --{}: found '{}', expected {}", option, found, expected), ErrorKind::usage);
}

std::string Values::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() || found->second.empty() ? std::string() : found->second.back();
}

bool Values::flag(std::string_view name) const {
  const std::string value = text(name);
  if (value == "on" || value == "true" || value == "yes" || value == "1") return true;
  if (value == "off" || value == "false" || value == "no" || value == "0") return false;
  refuse(name, value, "on or off");
}

Index Values::integer(std::string_view name, Index least, Index most) const { return parse_integer(name, text(name), least, most); }

double Values::positive(std::string_view name) const {
  const std::string value = text(name);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number > 0) || number > std::numeric_limits<double>::max()) {
    refuse(name, value, "a positive number");
  }
  return number;
}

double Values::share(std::string_view name) const {
  const double number = positive(name);
  if (!(number < 1)) refuse(name, text(name), "a number between 0 and 1");
  return number;
}

std::vector<std::string> Values::list(std::string_view name) const {
  std::vector<std::string> parts;
  const std::string value = text(name);
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t comma = std::min(value.find(',', begin), value.size());
    std::string part = value.substr(begin, comma - begin);
    part.erase(0, part.find_first_not_of(" \t"));
    part.erase(part.find_last_not_of(" \t") + 1);
    if (part.empty()) refuse(name, value, "a comma-separated list without empty entries");
    parts.push_back(part);
    begin = comma + 1;
  }
  return parts;
}

Index Values::bytes(std::string_view name) const {
  const std::string value = text(name);
  constexpr std::string_view suffixes = "KMGT";
  std::string number = value;
  Index unit = 1;
  if (!number.empty() && suffixes.find(number.back()) != std::string_view::npos) {
    unit = Index{1} << (10 * (suffixes.find(number.back()) + 1));
    number.pop_back();
  }
  Index result = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), result);
  if (error != std::errc() || end != number.data() + number.size() || result < 1 || result > std::numeric_limits<Index>::max() / unit) {
    refuse(name, value, "a number of bytes, with K, M, G or T if wanted (K = 1024), or auto");
  }
  return result * unit;
}

Index Values::parse_integer(std::string_view name, const std::string& value, Index least, Index most) {
  Index number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > most) {
    refuse(name, value,
           most == std::numeric_limits<Index>::max() ? fmt::format("an integer of at least {}", least)
                                                     : fmt::format("an integer from {} to {}", least, most));
  }
  return number;
}

}  // namespace posgeom
