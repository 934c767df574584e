#include "posgeom/pipeline/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view found, std::string_view expected) {
  throw Error(fmt::format("option --{}: found '{}', expected {}", option, found, expected), ErrorKind::usage);
}

/// Reads single values by name and turns them into what they stand for.
class Values {
 public:
  explicit Values(const OptionValues& values) : values_(values) {}

  std::string text(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() || found->second.empty() ? std::string() : found->second.back();
  }

  bool flag(std::string_view name) const {
    const std::string value = text(name);
    if (value == "on" || value == "true" || value == "yes" || value == "1") return true;
    if (value == "off" || value == "false" || value == "no" || value == "0") return false;
    refuse(name, value, "on or off");
  }

  Index integer(std::string_view name, Index least, Index most = std::numeric_limits<Index>::max()) const {
    return parse_integer(name, text(name), least, most);
  }

  double positive(std::string_view name) const {
    const std::string value = text(name);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !(number > 0) || number > std::numeric_limits<double>::max()) {
      refuse(name, value, "a positive number");
    }
    return number;
  }

  std::vector<std::string> list(std::string_view name) const {
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

  template <class Integer>
  std::vector<Integer> integers(std::string_view name) const {
    std::vector<Integer> numbers;
    for (const std::string& part : list(name)) {
      numbers.push_back(static_cast<Integer>(parse_integer(name, part, 1, std::numeric_limits<std::int32_t>::max())));
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }

  Index bytes(std::string_view name) const {
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

 private:
  static Index parse_integer(std::string_view name, const std::string& value, Index least, Index most) {
    Index number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < least || number > most) {
      refuse(name, value,
             most == std::numeric_limits<Index>::max() ? fmt::format("an integer of at least {}", least)
                                                       : fmt::format("an integer from {} to {}", least, most));
    }
    return number;
  }

  const OptionValues& values_;
};

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

OutputOptions output_options(const Values& values) {
  OutputOptions output;
  output.directory = values.text("out");
  if (output.directory.empty()) refuse("out", "", "a directory");
  output.force = values.flag("force");
  output.resume = values.flag("resume");
  output.partial = values.flag("partial");
  const std::string progress = values.text("progress");
  if (progress == "bar") {
    output.progress = Progress::bar;
  } else if (progress == "log") {
    output.progress = Progress::log;
  } else if (progress == "none") {
    output.progress = Progress::none;
  } else if (progress != "auto") {
    refuse("progress", progress, "auto, bar, log or none");
  }
  return output;
}

}  // namespace

Config config_from(const OptionValues& all) {
  const Values values(all);
  Config config;
  config.values = all;
  if (const auto corpus = all.find("corpus"); corpus != all.end()) config.corpus.paths = corpus->second;
  config.corpus.format = format_named(values.text("format"));
  config.corpus.column = values.text("column");
  config.corpus.header = values.flag("header");
  config.corpus.tokenizer = tokenizer_named(values.text("tokenizer"));
  config.corpus.vocab = values.text("vocab");
  config.corpus.max_tokens = values.integer("max-tokens", 0);
  if (config.corpus.tokenizer == TokenizerKind::wordpiece && config.corpus.vocab.empty()) {
    throw Error("option --tokenizer wordpiece needs --vocab FILE (for BERT its vocab.txt, one entry a line)", ErrorKind::usage);
  }
  if (values.text("sequences") != "document")
    refuse("sequences", values.text("sequences"), "document (chunk and packed are not in this version)");
  if (!values.text("lengths").empty()) config.lengths = values.integers<Index>("lengths");
  config.positions.unreached = unreached_named(values.text("unreached"));
  config.positions.min_count = values.integer("min-count", 1);
  const std::string range = values.text("hellinger-range");
  if (range != "sqrt2" && range != "1") refuse("hellinger-range", range, "sqrt2 or 1");
  config.positions.unit_range = range == "1";
  if (values.text("noise") != "none") refuse("noise", values.text("noise"), "none (the noise analysis is not in this version)");
  config.seed = static_cast<std::uint64_t>(values.integer("seed", 0));
  config.stress = stress_options(values, config.seed);
  config.geometry = geometry_options(values, config.stress);
  config.output = output_options(values);
  config.plan_ranks = static_cast<int>(values.integer("ranks", 0, 1 << 24));
  config.plan_vocab_size = values.integer("vocab-size", 0, std::numeric_limits<std::int32_t>::max());
  return config;
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
