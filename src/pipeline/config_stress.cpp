#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "pipeline/values.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

bool is_encoding_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

EncodingSpec encoding_spec(const std::string& text) {
  constexpr std::string_view known[] = {"mds", "sinusoidal", "rope", "alibi", "linear", "random"};
  if (std::find(std::begin(known), std::end(known), text) != std::end(known)) return {text, "", ""};
  EncodingSpec spec;
  std::string source = text;
  if (const std::size_t equals = text.find("=file:"); equals != std::string::npos) {
    spec.name = text.substr(0, equals);
    source = text.substr(equals + 1);
  }
  if (source.rfind("file:", 0) != 0) {
    refuse("encodings", text, "mds, sinusoidal, rope, alibi, linear, random or [NAME=]file:PATH[:DATASET]");
  }
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
  if (std::find(std::begin(known), std::end(known), spec.name) != std::end(known)) {
    refuse("encodings", spec.name, "a name that posgeom's own encodings do not have (write NAME=file:PATH)");
  }
  return spec;
}

}  // namespace

StressOptions stress_options(const Values& values, std::uint64_t seed) {
  StressOptions stress;
  const std::string dims = values.text("dims");
  if (dims == "all") {
    stress.choice = StressOptions::Dimensions::all;
  } else if (dims != "auto") {
    stress.choice = StressOptions::Dimensions::listed;
    stress.dims = values.integers<std::int32_t>("dims");
  }
  for (const std::string& name : values.list("encodings")) {
    EncodingSpec spec = encoding_spec(name);
    const bool twice =
        std::any_of(stress.encodings.begin(), stress.encodings.end(), [&](const EncodingSpec& other) { return other.name == spec.name; });
    if (twice) refuse("encodings", spec.name, "each name once");
    stress.encodings.push_back(std::move(spec));
  }
  stress.encoding.rope_base = values.positive("rope-base");
  stress.encoding.rope_head_dim = values.integer("rope-head-dim", 2);
  if (stress.encoding.rope_head_dim % 2 != 0) refuse("rope-head-dim", values.text("rope-head-dim"), "an even number");
  stress.encoding.alibi_heads = values.integer("alibi-heads", 1);
  stress.encoding.random_kind = random_kind_named(values.text("random-kind"));
  stress.encoding.seed = seed;
  stress.write_encodings = values.flag("write-encodings");
  return stress;
}

GeometryOptions geometry_options(const Values& values, const StressOptions& stress) {
  GeometryOptions geometry;
  geometry.solver = solver_named(values.text("solver"));
  const std::string components = values.text("components");
  geometry.components_from_dims = components == "auto";
  if (components == "auto") {
    geometry.components = stress.choice == StressOptions::Dimensions::listed ? stress.dims.back() : 0;
  } else if (components != "all") {
    geometry.components = values.integer("components", 1);
  }
  geometry.block_size = values.integer("block-size", 1, 4096);
  if (values.text("threads") != "auto") geometry.threads = static_cast<int>(values.integer("threads", 1, 4096));
  if (const std::string grid = values.text("grid"); grid != "auto") {
    const char* const end = grid.data() + grid.size();
    const auto rows = std::from_chars(grid.data(), end, geometry.grid_rows);
    const bool cross = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
    const auto columns = cross ? std::from_chars(rows.ptr + 1, end, geometry.grid_columns) : rows;
    if (!cross || columns.ec != std::errc() || columns.ptr != end || geometry.grid_rows < 1 || geometry.grid_columns < 1) {
      refuse("grid", grid, "ROWSxCOLUMNS, such as 2x3, or auto");
    }
  }
  if (values.text("memory") != "auto") geometry.memory_bytes = values.bytes("memory");
  geometry.write_hellinger = values.flag("write-hellinger");
  return geometry;
}

std::vector<std::int32_t> resolve_dimensions(const StressOptions& options, Index rank, Index rows) {
  std::vector<std::int32_t> dims;
  switch (options.choice) {
    case StressOptions::Dimensions::listed:
      return options.dims;
    case StressOptions::Dimensions::all:
      dims.resize(static_cast<std::size_t>(rows));
      std::iota(dims.begin(), dims.end(), 1);
      return dims;
    case StressOptions::Dimensions::powers_of_two:
      break;
  }
  for (Index d = 1; d <= std::max(rank, Index{1}); d *= 2) dims.push_back(static_cast<std::int32_t>(d));
  return dims;
}

}  // namespace posgeom
