#include "posgeom/pipeline/fingerprint.hpp"

#include <gtest/gtest.h>

namespace posgeom {
namespace {

TEST(Fingerprint, ChangesWithAnyLine) {
  const FingerprintLines lines = {"a=1", "b=2"};
  EXPECT_EQ(fingerprint(lines).size(), 16U);
  EXPECT_EQ(fingerprint(lines), fingerprint({"a=1", "b=2"}));
  EXPECT_NE(fingerprint(lines), fingerprint({"a=1", "b=3"}));
  EXPECT_NE(fingerprint(lines), fingerprint({"a=1"}));
}

TEST(Lines, SurviveJoiningAndSplitting) {
  const FingerprintLines lines = {"a=1", "file.0=x:3:4=5", ""};
  EXPECT_EQ(split_lines(join_lines(lines)), lines);
  EXPECT_TRUE(split_lines("").empty());
}

TEST(Lines, ValueOfAKeyThatIsAnothersPrefix) {
  EXPECT_EQ(line_value({"lengths=4", "length=5"}, "length"), "5");
  EXPECT_EQ(line_value({"a=b=c"}, "a"), "b=c");
  EXPECT_EQ(line_value({"a=1"}, "b"), "");
}

TEST(Difference, NamesTheKeyAndBothValues) {
  EXPECT_EQ(first_difference({"unreached=uniform"}, {"unreached=drop"}), "unreached = uniform there, drop now");
  EXPECT_EQ(first_difference({"x=1"}, {}), "x = 1 there, (nothing) now");
  EXPECT_EQ(first_difference({"b=1", "a=2"}, {"a=2", "b=1"}), "");
}

TEST(Difference, AnEncodingMoreIsNone) {
  EXPECT_EQ(first_difference({"a=1"}, {"a=1", "encoding.wpe=0f"}), "");
  EXPECT_NE(first_difference({"encoding.wpe=0e"}, {"encoding.wpe=0f"}), "");
  EXPECT_EQ(first_difference({"a=1", "noise.seed=1"}, {"a=1"}), "");
  EXPECT_NE(first_difference({"noise.seed=1"}, {"noise.seed=2"}), "");
}

}  // namespace
}  // namespace posgeom
