#include "posgeom/corpus/tokenizer.hpp"

#include <gtest/gtest.h>

#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;
using Ids = std::vector<Token>;

Ids encode(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

/// The pieces, "##" included, that `text` is cut into; a missing piece is [UNK].
std::string pieces(std::string_view text, std::vector<std::string> vocabulary) {
  vocabulary.insert(vocabulary.begin(), "[UNK]");
  std::string result;
  for (const Token id : encode(*wordpiece_tokenizer(vocabulary), text))
    result += (result.empty() ? "" : " ") + vocabulary[static_cast<std::size_t>(id)];
  return result;
}

TEST(Wordpiece, LongestMatchFirst) {
  const std::vector<std::string> vocabulary{"un", "##aff", "##able", "##a", "##ffable", "want", "##want", "##ed", "runn", "##ing"};
  EXPECT_EQ(pieces("unwanted running", vocabulary), "un ##want ##ed runn ##ing");
  EXPECT_EQ(pieces("unaffable", vocabulary), "un ##aff ##able");
  EXPECT_EQ(pieces("unwantedX running", vocabulary), "[UNK] runn ##ing") << "a word without a match is one [UNK], not its matched part";
  EXPECT_EQ(pieces("", vocabulary), "");
  EXPECT_EQ(pieces(" \t ", vocabulary), "");
}

TEST(Wordpiece, IdsAreLineNumbersAndTheLastOfEqualEntriesCounts) {
  EXPECT_EQ(encode(*wordpiece_tokenizer({"a", "[UNK]", "b", "a"}), "a b c"), (Ids{3, 2, 1}));
  EXPECT_EQ(wordpiece_tokenizer({"a", "[UNK]", "b", "a"})->vocab_size(), 4);
}

TEST(Wordpiece, NeedsUnk) {
  expect_contains(error_of([] { wordpiece_tokenizer({"a", "b"}); }), {"[UNK]", "2 entries"});
}

TEST(Wordpiece, LowersAndStripsAccents) {
  EXPECT_EQ(pieces("H\u00E9llo \u00C5NGSTR\u00D6M", {"hello", "angstrom"}), "hello angstrom");
  EXPECT_EQ(pieces("He\u0301llo", {"hello"}), "hello") << "combining accent";
  EXPECT_EQ(pieces("\u0130stanbul", {"istanbul"}), "istanbul") << "U+0130 lower-cases to i and a combining dot";
  EXPECT_EQ(pieces("\u1E9E", {"\u00DF"}), "\u00DF");
  EXPECT_EQ(pieces("\u039F\u0394\u039F\u03A3", {"\u03BF\u03B4\u03BF\u03C2", "\u03BF\u03B4\u03BF\u03C3"}), "\u03BF\u03B4\u03BF\u03C2")
      << "final sigma";
  EXPECT_EQ(pieces("\u03A3\u0391\u03A3\u0391", {"\u03C3\u03B1\u03C3\u03B1"}), "\u03C3\u03B1\u03C3\u03B1");
  EXPECT_EQ(pieces("\U00010400", {"\U00010428"}), "\U00010428") << "beyond 16 bits";
  EXPECT_EQ(pieces("\uAC00", {"\u1100", "##\u1161"}), "\u1100 ##\u1161") << "Hangul stays decomposed";
}

TEST(Wordpiece, SplitsAtPunctuation) {
  EXPECT_EQ(pieces("it's", {"it", "'", "s"}), "it ' s");
  EXPECT_EQ(pieces("a$b^c`d~e", {"a", "b", "c", "d", "e", "$", "^", "`", "~"}), "a $ b ^ c ` d ~ e")
      << "ASCII symbols count as punctuation";
  EXPECT_EQ(pieces("a\u2019b\u00ABc", {"a", "b", "c", "\u2019", "\u00AB"}), "a \u2019 b \u00AB c");
  EXPECT_EQ(pieces("a\u20ACb", {"a\u20ACb", "a"}), "a\u20ACb") << "the euro sign is a symbol, no punctuation";
  EXPECT_EQ(pieces("a\u037Eb", {"a", "b", ";"}), "a ; b") << "the Greek question mark decomposes to a semicolon";
  EXPECT_EQ(pieces("[SEP]", {"[SEP]", "[", "sep", "]"}), "[ sep ]") << "special names in a text are text";
}

TEST(Wordpiece, SetsIdeographsApart) {
  EXPECT_EQ(pieces("ah\u535A\u63A8zz", {"ah", "\u535A", "\u63A8", "zz"}), "ah \u535A \u63A8 zz");
  EXPECT_EQ(pieces("\u3042\u3044", {"\u3042", "##\u3044"}), "\u3042 ##\u3044") << "kana are letters";
  EXPECT_EQ(pieces("a\U00020000b", {"a", "b", "\U00020000"}), "a \U00020000 b");
}

TEST(Wordpiece, ControlCharactersVanishAndSeparatorsSplit) {
  const std::vector<std::string> vocabulary{"ab", "a", "b"};
  for (const std::string_view joins :
       {"\x01", "\x0B", "\x0C", "\x1C", "\x7F", "\u0085", "\u00AD", "\u200B", "\uFEFF", "\uE000", "\uFFFD", "\xFF", "\xED\xA0\x80"}) {
    EXPECT_EQ(pieces("a" + std::string(joins) + "b", vocabulary), "ab");
  }
  EXPECT_EQ(pieces(std::string_view("a\0b", 3), vocabulary), "ab");
  for (const std::string_view splits : {" ", "\t", "\r", "\n", "\u00A0", "\u2003", "\u3000", "\u2028", "\u2029"}) {
    EXPECT_EQ(pieces("a" + std::string(splits) + "b", vocabulary), "a b");
  }
}

TEST(Wordpiece, WordsOverAHundredCharactersAreUnknown) {
  const std::vector<std::string> vocabulary{"a", "##a", "\u00E6", "##\u00E6"};
  const auto count = [&](std::size_t letters, std::string_view letter) {
    std::string word;
    for (std::size_t k = 0; k < letters; ++k) word += letter;
    std::vector<std::string> with_unknown = vocabulary;
    with_unknown.push_back("[UNK]");
    return encode(*wordpiece_tokenizer(with_unknown), word).size();
  };
  EXPECT_EQ(count(100, "a"), 100U);
  EXPECT_EQ(count(101, "a"), 1U);
  EXPECT_EQ(count(100, "\u00E6"), 100U) << "characters, not bytes";
  EXPECT_EQ(count(101, "\u00E6"), 1U);
}

TEST(Whitespace, SplitsAtUnicodeWhiteSpaceOnly) {
  const auto tokenizer = whitespace_tokenizer({"b", "a", "A", "a."});
  EXPECT_EQ(encode(*tokenizer, " a\tA  b\u00A0a.\u0085b\u2028a\u3000"), (Ids{1, 2, 0, 3, 0, 1}));
  EXPECT_EQ(encode(*tokenizer, ""), Ids{});
  EXPECT_EQ(encode(*whitespace_tokenizer({"a\u200Bb"}), "a\u200Bb"), Ids{0}) << "a zero-width space is no white space";
}

TEST(Whitespace, DropsWhatIsNoText) {
  const auto tokenizer = whitespace_tokenizer({"ab"});
  EXPECT_EQ(encode(*tokenizer,
                   "a\xFF"
                   "b \xC3 \uFFFD"),
            Ids{0});
  EXPECT_EQ(encode(*tokenizer, std::string_view("a\0b \0", 5)), Ids{0});
}

TEST(Whitespace, UnknownWords) {
  expect_contains(error_of([] { encode(*whitespace_tokenizer({"a"}), "a zebra"); }), {"'zebra'", "[UNK]"});
  EXPECT_EQ(encode(*whitespace_tokenizer({"a", "[UNK]"}), "a zebra"), (Ids{0, 1}));
  EXPECT_EQ(encode(*whitespace_tokenizer({"<unk>", "a"}), "a zebra"), (Ids{1, 0}));
}

TEST(Chars, CodePoints) {
  const auto tokenizer = chars_tokenizer({" ", "a", "\u00E9", "\U0001F600"});
  EXPECT_EQ(encode(*tokenizer,
                   "a \u00E9\U0001F600"
                   "a"),
            (Ids{1, 0, 2, 3, 1}));
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  expect_contains(error_of([&] { encode(*tokenizer, "ab"); }), {"'b'"});
  expect_contains(error_of([&] { encode(*tokenizer, "a\xC3"); }), {"UTF-8", "0xC3", "byte 1"});
  expect_contains(error_of([&] { encode(*tokenizer, std::string_view("a\0", 2)); }), {"NUL", "byte 1"});
  expect_contains(error_of([] { chars_tokenizer({"a", "bc"}); }), {"entry 1", "'bc'"});
  EXPECT_THROW(chars_tokenizer({""}), Error);
  EXPECT_THROW(chars_tokenizer({"\xFF"}), Error);
}

TEST(Bytes, AreTheirValues) {
  EXPECT_EQ(encode(*bytes_tokenizer(), std::string_view("a\0\xFF", 3)), (Ids{97, 0, 255}));
  EXPECT_EQ(bytes_tokenizer()->vocab_size(), 256);
}

TEST(TokenizerNames, RoundTripAndListTheChoices) {
  for (const TokenizerKind kind :
       {TokenizerKind::whitespace, TokenizerKind::wordpiece, TokenizerKind::sentencepiece, TokenizerKind::bytes, TokenizerKind::chars}) {
    EXPECT_EQ(tokenizer_named(name_of(kind)), kind);
  }
  expect_contains(error_of([] { tokenizer_named("word"); }), {"--tokenizer word", "whitespace, wordpiece, sentencepiece, bytes, chars"});
}

}  // namespace
}  // namespace posgeom
