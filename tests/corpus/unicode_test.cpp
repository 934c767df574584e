#include "corpus/unicode.hpp"

#include <gtest/gtest.h>

#include <set>

namespace posgeom {
namespace {

TEST(Utf8, EveryCodePointRoundTrips) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    std::size_t at = 0;
    ASSERT_EQ(decode(text, at), c);
    ASSERT_EQ(at, text.size());
  }
}

TEST(Utf8, InvalidSequencesAreConsumedAsFarAsTheyCouldBegin) {
  const auto consumed = [](std::string_view text) {
    std::size_t at = 0;
    EXPECT_EQ(decode(text, at), not_utf8) << text;
    return at;
  };
  EXPECT_EQ(consumed("\x80"), 1U);
  EXPECT_EQ(consumed("\xC0\xAF"), 1U) << "overlong";
  EXPECT_EQ(consumed("\xE0\x80\x80"), 1U) << "overlong";
  EXPECT_EQ(consumed("\xED\xA0\x80"), 1U) << "surrogate";
  EXPECT_EQ(consumed("\xF4\x90\x80\x80"), 1U) << "above U+10FFFF";
  EXPECT_EQ(consumed("\xF5"), 1U);
  EXPECT_EQ(consumed("\xE2\x82"), 2U) << "cut off";
  EXPECT_EQ(consumed("\xE2\x82"
                     "a"),
            2U);
  EXPECT_EQ(consumed("\xF0\x9F\x98"), 3U);
}

TEST(Space, IsPythonsSet) {
  const std::set<char32_t> expected{0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
                                    0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                    0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (char32_t c = 0; c <= 0x10FFFF; ++c) ASSERT_EQ(is_space(c), expected.contains(c)) << static_cast<unsigned>(c);
}

TEST(Ascii, LooksAtEveryByte) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::string text(size, 'a');
    EXPECT_TRUE(is_ascii(text));
    for (std::size_t k = 0; k < size; ++k) {
      text[k] = '\x80';
      EXPECT_FALSE(is_ascii(text)) << size << ' ' << k;
      text[k] = 'a';
    }
  }
}

TEST(DropUndecodable, KeepsTheRest) {
  std::string scratch;
  EXPECT_EQ(drop_undecodable("plain", scratch), "plain");
  EXPECT_EQ(drop_undecodable("caf\u00E9", scratch), "caf\u00E9");
  EXPECT_EQ(drop_undecodable("a\xFF\u00E9\xE2\x82 b\uFFFD", scratch), "a\u00E9 b");
  EXPECT_EQ(drop_undecodable(std::string_view("a\0b", 3), scratch), "ab");
}

TEST(Printable, IsOneShortLine) {
  EXPECT_EQ(printable("caf\u00E9"), "caf\u00E9");
  EXPECT_EQ(printable("a\r\nb\xFF\x1B\u0085"), "a\\x0D\\x0Ab\\xFF\\x1B\\xC2\\x85");
  EXPECT_EQ(printable(std::string(1000, 'x')), std::string(80, 'x') + "...");
}

}  // namespace
}  // namespace posgeom
