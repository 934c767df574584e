#include "posgeom/pipeline/idle_options.hpp"

#include <gtest/gtest.h>

namespace posgeom {
namespace {

std::vector<IdleOption> idle_with(const OptionValues& given) {
  OptionValues values;
  for (const Option& option : option_table()) values[std::string(option.name)] = {std::string(option.default_value)};
  values["lengths"] = {"128"};
  for (const auto& [name, value] : given) values[name] = value;
  return idle_options(config_from(values));
}

TEST(IdleOptions, NoneByDefault) { EXPECT_TRUE(idle_with({}).empty()); }

TEST(IdleOptions, EachIsToldWhereWhatItIsForIsMissing) {
  struct Case {
    std::string option, value;
    OptionValues without, with;
    std::string group = "stress";
  };
  const OptionValues no_noise{{"noise", {"none"}}}, halves{{"noise", {"split"}}};
  const OptionValues smacof{{"encodings", {"mds,smacof"}}}, linear{{"encodings", {"linear"}}};
  const std::vector<Case> cases = {
      {"smacof-iterations", "5", {}, smacof},
      {"smacof-tolerance", "0.5", {}, smacof},
      {"smacof-weights", "tokens", {}, smacof},
      {"rope-base", "500000", linear, {}},
      {"rope-head-dim", "32", linear, {}},
      {"rope-scaling", "ntk:2", linear, {{"encodings", {"seen=projected:rope:wq=w.npy"}}}},
      {"alibi-heads", "8", linear, {}},
      {"random-kind", "bert", linear, {}},
      {"replicates", "199", no_noise, halves, "noise"},
      {"alpha", "0.1", {{"noise", {"shuffle"}}}, halves, "noise"},
      {"rarefy", "100", no_noise, halves, "noise"},
      {"bootstrap-alpha", "0.1", {}, {{"bootstrap", {"39"}}}, "bootstrap"},
      {"spectrum", "leading", {{"solver", {"lapack"}}}, {{"solver", {"krylov"}}}, "geometry"},
      {"synth-components", "5", {{"synth-kind", {"stationary"}}}, {}, "synth"},
      {"synth-overlap", "0.5", {{"synth-kind", {"stationary"}}}, {}, "synth"},
  };
  for (const Case& c : cases) {
    OptionValues without = c.without, with = c.with;
    without[c.option] = with[c.option] = {c.value};
    const std::vector<IdleOption> idle = idle_with(without);
    ASSERT_EQ(idle.size(), 1U) << c.option;
    EXPECT_EQ(idle.front().text.rfind("--" + c.option + " " + c.value + " has no effect: ", 0), 0U) << idle.front().text;
    EXPECT_EQ(idle.front().group, c.group);
    EXPECT_TRUE(idle_with(with).empty()) << c.option << ": " << idle_with(with).front().text;
  }
}

TEST(IdleOptions, OnePosition) {
  EXPECT_NE(idle_with({{"lengths", {"1"}}}).at(0).text.find("one position alone"), std::string::npos);
  EXPECT_EQ(idle_with({{"lengths", {"1,8"}}}).size(), 1U);
}

}  // namespace
}  // namespace posgeom
