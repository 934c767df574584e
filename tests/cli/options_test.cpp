#include "cli/options.hpp"

#include <gtest/gtest.h>

#include "posgeom/error.hpp"

namespace posgeom::cli {
namespace {

std::string value(const OptionValues& values, const std::string& name) { return values.at(name).back(); }

TEST(CommandLine, ValuesSwitchesAndFiles) {
  const ParsedLine line =
      parse_command_line({"--lengths", "8,16", "--header", "-o", "there", "--config", "c.ini", "a.h5", "--corpus=x", "--corpus", "y"});
  EXPECT_EQ(value(line.typed, "lengths"), "8,16");
  EXPECT_EQ(value(line.typed, "header"), "on");
  EXPECT_EQ(value(line.typed, "out"), "there");
  EXPECT_EQ(line.config_path, "c.ini");
  EXPECT_EQ(line.files, (std::vector<std::string>{"a.h5"}));
  EXPECT_EQ(line.typed.at("corpus"), (std::vector<std::string>{"x", "y"}));
}

TEST(CommandLine, SwitchesTakeAValueAfterTheEqualsSign) { EXPECT_EQ(value(parse_command_line({"--resume=off"}).typed, "resume"), "off"); }

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--no-such"}, {"--length", "8"}, {"--lengths"}, {"--lengths", "8", "--lengths", "9"}}) {
    try {
      parse_command_line(arguments);
      ADD_FAILURE() << arguments.front() << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
}

TEST(ConfigFile, KeysAreOptionNamesAndSlurmIsNotRead) {
  const OptionValues values =
      parse_config_text("# comment\nlengths = 8,16\nheader = on\ncorpus = a\ncorpus = b\n[slurm]\npartition = debug\n", "c.ini");
  EXPECT_EQ(value(values, "lengths"), "8,16");
  EXPECT_EQ(value(values, "header"), "on");
  EXPECT_EQ(values.at("corpus"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values.size(), 3U);
}

TEST(ConfigFile, UnknownKeysAreNamedWithTheirFile) {
  for (const std::string text : {"lenghts = 8\n", "[section]\nlengths = 8\n"}) {
    try {
      parse_config_text(text, "c.ini");
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("c.ini"), std::string::npos);
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
  EXPECT_THROW(parse_config_text("no equals sign\n", "c.ini"), Error);
}

TEST(Merge, DefaultThenPresetThenConfigThenCommandLine) {
  const OptionValues paper = merge({{"preset", {"paper"}}}, {});
  EXPECT_EQ(value(paper, "unreached"), "uniform");
  EXPECT_EQ(value(merge({}, {{"preset", {"paper"}}}), "unreached"), "uniform");
  EXPECT_EQ(value(merge({{"preset", {"paper"}}}, {{"unreached", {"zero"}}}), "unreached"), "zero");
  EXPECT_EQ(value(merge({{"preset", {"paper"}}, {"unreached", {"drop"}}}, {{"unreached", {"zero"}}}), "unreached"), "drop");
  EXPECT_EQ(value(merge({}, {}), "unreached"), "drop");
  EXPECT_EQ(merge({{"corpus", {"a"}}}, {{"corpus", {"b", "c"}}}).at("corpus"), (std::vector<std::string>{"a"}));
}

TEST(Help, PrintsEveryDefault) {
  const std::string text = options_help({});
  for (const Option& option : option_table()) {
    EXPECT_NE(text.find("--" + std::string(option.name)), std::string::npos) << option.name;
    EXPECT_NE(text.find(std::string(option.help.substr(0, 12))), std::string::npos) << option.name;
  }
  EXPECT_EQ(options_help({"noise"}).find("--corpus"), std::string::npos);
}

}  // namespace
}  // namespace posgeom::cli
