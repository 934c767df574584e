#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "pipeline/values.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::string_view, 12> own_names{"mds",    "smacof", "signal", "sinusoidal", "rope",         "alibi",
                                                     "linear", "random", "t5",     "kerple-log", "kerple-power", "fire"};

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

/// PATH[:DATASET]
MatrixSource matrix_source(std::string text) {
  MatrixSource source;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    source.dataset = text.substr(colon + 1);
    text.resize(colon);
  }
  source.path = std::move(text);
  return source;
}

/// OF:wq=PATH[:DATASET][:wk=PATH[:DATASET]][:heads=H]
Projection projection(std::string source, const std::string& whole) {
  constexpr const char* expected = "NAME=projected:ENCODING:wq=PATH[:DATASET][:wk=PATH[:DATASET]][:heads=H]";
  const auto take = [&](const std::string& key) -> std::string {
    const std::size_t place = source.rfind(key);
    if (place == std::string::npos) return {};
    std::string value = source.substr(place + key.size());
    if (value.empty()) refuse("encodings", whole, expected);
    source.resize(place);
    return value;
  };
  Projection result;
  if (const std::string heads = take(":heads="); !heads.empty()) result.heads = Values::parse_integer("encodings", heads, 1, 10000);
  result.key = matrix_source(take(":wk="));
  result.query = matrix_source(take(":wq="));
  result.of = source;
  if (result.of.empty() || result.query.path.empty() || result.of.find(':') != std::string::npos) refuse("encodings", whole, expected);
  return result;
}

}  // namespace

bool is_own_encoding(std::string_view name) { return std::ranges::find(own_names, name) != own_names.end(); }

EncodingSpec encoding_spec(const std::string& text) {
  EncodingSpec spec;
  if (is_own_encoding(text)) {
    spec.name = text;
    return spec;
  }
  std::string source = text;
  for (const char* mark : {"=file:", "=files:", "=projected:"}) {
    const std::size_t equals = text.find(mark);
    if (equals == std::string::npos) continue;
    spec.name = text.substr(0, equals);
    source = text.substr(equals + 1);
    break;
  }
  spec.many_files = source.starts_with("files:") && !spec.name.empty();
  if (source.starts_with("projected:") && !spec.name.empty()) {
    spec.projection = projection(source.substr(10), text);
  } else if (source.starts_with("file:") || spec.many_files) {
    spec.rows = take_rows(source, text);
    MatrixSource matrix = matrix_source(source.substr(source.find(':') + 1));
    spec.path = std::move(matrix.path);
    spec.dataset = std::move(matrix.dataset);
    if (spec.path.empty()) refuse("encodings", text, "a path after file:");
  } else {
    refuse("encodings", text,
           fmt::format("{}, [NAME=]file:PATH[:DATASET][[FIRST:END]], NAME=files:PATTERN[:DATASET] or "
                       "NAME=projected:ENCODING:wq=PATH[:wk=PATH][:heads=H]",
                       fmt::join(own_names, ", ")));
  }
  if (spec.name.empty()) {
    spec.name = spec.path.substr(spec.path.find_last_of('/') + 1);
    if (const std::size_t dot = spec.name.rfind('.'); dot != std::string::npos && dot > 0) spec.name.resize(dot);
  }
  if (!is_encoding_name(spec.name)) refuse("encodings", spec.name, "a name of letters, digits, '_', '.' and '-' (write NAME=file:PATH)");
  if (is_own_encoding(spec.name)) refuse("encodings", spec.name, "a name that posgeom's own encodings do not have (write NAME=file:PATH)");
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
  return scaling;
}

}  // namespace posgeom
