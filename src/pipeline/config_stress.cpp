#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "pipeline/values.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// Far beyond any model's: a slip of the keyboard, not an attention layer.
constexpr Index widest_head = Index{1} << 20;
constexpr Index most_heads = Index{1} << 16;

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
  for (const EncodingSpec& spec : stress.encodings) {
    const std::string& of = spec.projection.of;
    if (of.empty()) continue;
    const bool listed = std::ranges::any_of(
        stress.encodings, [&](const EncodingSpec& other) { return other.name == of && other.projection.of.empty() && !other.many_files; });
    const bool has_vectors = of == "mds" || of == "sinusoidal" || of == "rope" || of == "random" || (listed && !is_own_encoding(of));
    if (!has_vectors) refuse("encodings", of, "mds, sinusoidal, rope, random or the name of a file encoding in the list, after projected:");
  }
  stress.encoding.rope_base = values.positive("rope-base");
  if (stress.encoding.rope_base <= 1) refuse("rope-base", values.text("rope-base"), "a base above 1, so that frequencies fall");
  stress.encoding.rope_head_dim = values.integer("rope-head-dim", 2, widest_head);
  if (stress.encoding.rope_head_dim % 2 != 0) refuse("rope-head-dim", values.text("rope-head-dim"), "an even number");
  stress.encoding.rope_scaling = rope_scaling(values);
  stress.smacof_iterations = values.integer("smacof-iterations", 1);
  stress.smacof_tolerance = values.share("smacof-tolerance");
  stress.smacof_weights = smacof_weights_named(values.text("smacof-weights"));
  stress.encoding.alibi_heads = values.integer("alibi-heads", 1, most_heads);
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
    geometry.components = values.integer("components", 1, std::numeric_limits<std::int32_t>::max());
  }
  const std::string spectrum = values.text("spectrum");
  if (spectrum != "whole" && spectrum != "leading") refuse("spectrum", spectrum, "whole or leading");
  geometry.leading_only = spectrum == "leading";
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
  if (values.text("factored") != "none") {
    geometry.factored_tolerance = values.text("factored") == "0" ? 0 : values.share("factored");
  }
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
