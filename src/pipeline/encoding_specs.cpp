#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "pipeline/values.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::string_view, 11> own_names{"mds",    "smacof", "sinusoidal", "rope",         "alibi", "linear",
                                                     "random", "t5",     "kerple-log", "kerple-power", "fire"};

bool is_own(std::string_view name) { return std::ranges::find(own_names, name) != own_names.end(); }

bool is_encoding_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

/// One end of a range of rows: `otherwise` where nothing is given.
Index row_number(std::string_view text, Index otherwise, const std::string& whole) {
  if (text.empty()) return otherwise;
  Index number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) refuse("encodings", whole, "rows as [first:end], from 0");
  return number;
}

/// Takes "[a:b]" off the end of `source`, where it is there.
RowRange take_rows(std::string& source, const std::string& whole) {
  const std::size_t open = source.rfind('[');
  if (open == std::string::npos || source.back() != ']') return {};
  const std::string_view inside = std::string_view(source).substr(open + 1, source.size() - open - 2);
  const std::size_t colon = inside.find(':');
  if (colon == std::string_view::npos) return {};  // part of the name
  const RowRange rows{row_number(inside.substr(0, colon), 0, whole), row_number(inside.substr(colon + 1), -1, whole)};
  if (rows.end >= 0 && rows.end <= rows.begin) refuse("encodings", whole, "at least one row in [first:end]");
  source.resize(open);
  return rows;
}

}  // namespace

EncodingSpec encoding_spec(const std::string& text) {
  if (is_own(text)) return {text, "", "", {}};
  EncodingSpec spec;
  std::string source = text;
  if (const std::size_t equals = text.find("=file:"); equals != std::string::npos) {
    spec.name = text.substr(0, equals);
    source = text.substr(equals + 1);
  }
  if (source.rfind("file:", 0) != 0)
    refuse("encodings", text, fmt::format("{} or [NAME=]file:PATH[:DATASET][[FIRST:END]]", fmt::join(own_names, ", ")));
  spec.rows = take_rows(source, text);
  spec.path = source.substr(5);
  if (const std::size_t colon = spec.path.rfind(':'); colon != std::string::npos) {
    spec.dataset = spec.path.substr(colon + 1);
    spec.path.resize(colon);
  }
  if (spec.path.empty()) refuse("encodings", text, "a path after file:");
  if (spec.name.empty()) {
    spec.name = spec.path.substr(spec.path.find_last_of('/') + 1);
    if (const std::size_t dot = spec.name.rfind('.'); dot != std::string::npos && dot > 0) spec.name.resize(dot);
  }
  if (!is_encoding_name(spec.name)) refuse("encodings", spec.name, "a name of letters, digits, '_', '.' and '-' (write NAME=file:PATH)");
  if (is_own(spec.name)) refuse("encodings", spec.name, "a name that posgeom's own encodings do not have (write NAME=file:PATH)");
  return spec;
}

RopeScaling rope_scaling(const Values& values) {
  using Kind = RopeScaling::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 3> kinds{{{"linear:", Kind::linear}, {"ntk:", Kind::ntk}, {"yarn:", Kind::yarn}}};
  RopeScaling scaling;
  const std::string text = values.text("rope-scaling");
  for (const auto& [prefix, kind] : kinds) {
    if (!text.starts_with(prefix)) continue;
    scaling.kind = kind;
    const char* const begin = text.data() + prefix.size();
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, scaling.factor);
    if (error != std::errc() || stop != end || !(scaling.factor >= 1) || scaling.factor > 1e9)
      refuse("rope-scaling", text, fmt::format("a factor of at least 1 after {}", prefix));
  }
  if (scaling.kind == Kind::none && text != "none") refuse("rope-scaling", text, "none, linear:F, ntk:F or yarn:F, such as linear:4");
  scaling.original_length = values.integer("rope-original-length", 0);
  const bool yarn = scaling.kind == Kind::yarn;
  if (yarn && scaling.original_length == 0)
    refuse("rope-scaling", text, "--rope-original-length beside it: the context length that the model was trained with, such as 4096");
  if (!yarn && scaling.original_length != 0)
    refuse("rope-original-length", values.text("rope-original-length"), "0 where --rope-scaling is not yarn:F");
  if (yarn && values.positive("rope-base") <= 1) refuse("rope-base", values.text("rope-base"), "a base above 1 with --rope-scaling yarn");
  return scaling;
}

}  // namespace posgeom
