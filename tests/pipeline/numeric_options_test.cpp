#include <gtest/gtest.h>

#include <set>

#include "posgeom/error.hpp"
#include "posgeom/pipeline/config.hpp"

/// Every option that is a number, or may be one: its range at both ends.
namespace posgeom {
namespace {

/// What goes beside the option; values at the ends of the range, and values that are just outside of it, or no numbers at all.
struct Range {
  std::string name;
  std::vector<std::string> accepted, refused;
  OptionValues beside{};
};

const std::string int32_most = "2147483647", beyond_int32 = "2147483648", index_most = "9223372036854775807",
                  beyond_index = "9223372036854775808";

const std::vector<Range>& ranges() {
  static const std::vector<Range> all = {
      {"vocab-size", {"0", int32_most}, {"-1", beyond_int32}},
      {"separator", {"0", "4294967295"}, {"-1", "4294967296"}},
      {"ignore-ids", {"0", "4294967295"}, {"-1", "4294967296"}},
      {"max-tokens", {"0", index_most}, {"-1", beyond_index}},
      {"lengths", {"1", int32_most}, {"0", "-1", beyond_int32, "8,0"}},
      {"min-count", {"1", index_most}, {"0", "-1", beyond_index}},
      {"rarefy-geometry", {"1", index_most}, {"0", "-1", beyond_index}},
      {"replicates", {"19", "1000000"}, {"0", "-1", "18", "1000001"}},
      {"alpha", {"0.01", "0.999"}, {"0", "-0.1", "1", "2", "nan", "inf", "1e-9"}},
      {"rarefy", {"1", index_most}, {"0", "-1", beyond_index}},
      {"split-by", {"block:1", "block:" + index_most}, {"block:0", "block:-1", "block:" + beyond_index}},
      {"bootstrap", {"0", "39", "100000"}, {"-1", "1", "38", "100001"}},
      {"bootstrap-alpha", {"1e-9", "0.999"}, {"0", "-1", "1", "2", "nan", "inf"}},
      {"components", {"1", int32_most}, {"0", "-1", beyond_int32}},
      {"block-size", {"1", "4096"}, {"0", "-1", "4097"}},
      {"grid", {"1x1", "2147483647x1"}, {"0x1", "1x0", "-1x1", "1x2147483648"}},
      {"threads", {"1", "4096"}, {"0", "-1", "4097"}},
      {"memory", {"1", "8388607T"}, {"0", "-1", "8388608T", beyond_index}},
      {"factored", {"0", "1e-300", "0.999"}, {"-0.1", "1", "2", "nan", "inf"}},
      {"dims", {"1", int32_most}, {"0", "-1", beyond_int32, "1,0"}},
      {"rope-base", {"1.0001", "1e308"}, {"1", "0.5", "0", "-1", "nan", "inf"}},
      {"rope-head-dim", {"2", "1048576"}, {"0", "-2", "3", "1048577", "1048578"}},
      {"rope-scaling", {"linear:1", "ntk:1000000000"}, {"linear:0.999", "linear:-1", "ntk:1000000001", "linear:nan"}},
      {"rope-original-length", {"1", index_most}, {"0", "-1", beyond_index}, {{"rope-scaling", {"yarn:2"}}}},
      {"alibi-heads", {"1", "65536"}, {"0", "-1", "65537"}},
      {"smacof-iterations", {"1", index_most}, {"0", "-1", beyond_index}},
      {"smacof-tolerance", {"1e-300", "0.999"}, {"0", "-1e-7", "1", "2", "nan", "inf"}},
      {"seed", {"0", index_most}, {"-1", beyond_index}},
      {"keep-every", {"0", "1073741824"}, {"-1", "1073741825"}},
      {"ranks", {"0", "16777216"}, {"-1", "16777217"}},
      {"ranks-per-node", {"0", "16777216"}, {"-1", "16777217"}},
      {"tokens", {"0", "1152921504606846976"}, {"-1", "1152921504606846977"}},
      {"documents", {"0", "1152921504606846976"}, {"-1", "1152921504606846977"}, {{"tokens", {"5"}}, {"corpus", {}}}},
      {"synth-positions", {"1", int32_most}, {"0", "-1", beyond_int32}},
      {"synth-vocab", {"1", int32_most}, {"0", "-1", beyond_int32}},
      {"synth-documents", {"1", index_most}, {"0", "-1", beyond_index}},
      {"synth-lengths",
       {"fixed:1", "geometric:1000000000", "lognormal:1:0"},
       {"fixed:0", "fixed:1000000001", "uniform:3:2", "lognormal:2:-1"}},
      {"synth-components", {"1", "100000"}, {"0", "-1", "100001"}},
      {"synth-overlap", {"0", "0.999"}, {"-0.1", "1", "2", "nan"}},
      {"synth-zipf", {"1e-300", "1e300"}, {"0", "-1", "nan", "inf"}},
      {"end-of-text", {"0", "4294967295"}, {"-1", "4294967296"}, {{"token-file", {"raw"}}}},
  };
  return all;
}

/// Options that are no numbers: names, files, switches.
const std::set<std::string, std::less<>> others = {
    "corpus",      "format",         "column",          "header",     "tokenizer", "vocab",    "keep-separator",  "sequences",
    "last-block",  "unreached",      "hellinger-range", "noise",      "solver",    "spectrum", "write-hellinger", "encodings",
    "random-kind", "smacof-weights", "write-encodings", "out",        "force",     "resume",   "partial",         "progress",
    "preset",      "calibrate",      "synth-kind",      "token-file", "name"};

std::string outcome(const Range& range, const std::string& value) {
  OptionValues values;
  for (const Option& option : option_table()) values[std::string(option.name)] = {std::string(option.default_value)};
  values["lengths"] = {"128"};
  for (const auto& [name, given] : range.beside) values[name] = given;
  values[range.name] = {value};
  try {
    config_from(values);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << range.name << " = " << value;
    return error.what();
  }
}

TEST(NumericOptions, EveryOneAtBothEndsOfItsRange) {
  for (const Range& range : ranges()) {
    for (const std::string& value : range.accepted) EXPECT_EQ(outcome(range, value), "") << range.name << " = " << value;
    std::vector<std::string> refused = range.refused;
    refused.insert(refused.end(), {"some", "1 2", "0x10"});
    for (const std::string& value : refused) {
      const std::string said = outcome(range, value);
      EXPECT_NE(said.find("--" + range.name), std::string::npos) << range.name << " = " << value << " gave: " << said;
    }
  }
}

TEST(NumericOptions, NoOptionIsForgotten) {
  std::set<std::string, std::less<>> known = others;
  for (const Range& range : ranges()) known.insert(range.name);
  for (const Option& option : option_table()) EXPECT_TRUE(known.contains(option.name)) << option.name << " has no range here";
  EXPECT_EQ(known.size(), option_table().size());
}

}  // namespace
}  // namespace posgeom
