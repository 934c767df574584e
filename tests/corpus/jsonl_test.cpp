#include "corpus/jsonl.hpp"

#include <gtest/gtest.h>

#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;
using Texts = std::vector<std::string>;

class Jsonl : public testing::Test {
 protected:
  Corpus open(const std::string& content, std::string column = "0", std::string split_column = {}) {
    Corpus corpus;
    corpus.options.format = Format::jsonl;
    corpus.options.column = std::move(column);
    corpus.options.split_column = std::move(split_column);
    corpus.files = {{folder_.write("rows.jsonl", content), static_cast<Index>(content.size())}};
    corpus.tokenizer = bytes_tokenizer();
    corpus.vocab_size = 256;
    return corpus;
  }
  Texts read(const std::string& content, std::string column = "0") { return read_documents(open(content, std::move(column)), 1); }
  std::string refused(const std::string& content, std::string column = "0", std::string split_column = {}) {
    const Corpus corpus = open(content, std::move(column), std::move(split_column));
    return error_of([&] { read_documents(corpus, 1); });
  }
  TemporaryFolder folder_;
};

TEST_F(Jsonl, TheFieldOfEachObject) {
  EXPECT_EQ(read("{\"text\": \"one\"}\n{\"id\":1,\"text\":\"two\",\"more\":[1,{\"text\":\"inner\"}]}\r\n { \"text\" : \"\" } \n"),
            (Texts{"one", "two", ""}));
  EXPECT_EQ(read("{\"text\": \"a\", \"body\": \"b\"}", "body"), Texts{"b"});
  EXPECT_EQ(read("{\"\": \"a\", \"0\": \"b\", \"1\": \"c\"}", "1"), Texts{"c"}) << "a number is a name, but for the default";
}

TEST_F(Jsonl, EscapesAreDecoded) {
  EXPECT_EQ(read(R"({"text": "a\n\t\"\\\/\u00e9\ud83d\ude00\u0000z"})"), Texts{std::string("a\n\t\"\\/\u00E9\U0001F600\0z", 14)});
  EXPECT_EQ(read("{\"te\\u0078t\": \"escaped name\", \"x\": \"\u00E9\"}"), Texts{"escaped name"});
  EXPECT_EQ(read("{\"n\u00E9\": \"accent\"}", "n\u00E9"), Texts{"accent"});
}

TEST_F(Jsonl, EmptyLinesAreNoDocumentsAndAMarkIsNoText) {
  EXPECT_EQ(read("\xEF\xBB\xBF{\"text\": \"a\"}\n\n  \t\r\n\r\n{\"text\": \"\"}\n\n"), (Texts{"a", ""}));
  EXPECT_EQ(read("\n\n"), Texts{});
  EXPECT_EQ(read(""), Texts{});
}

TEST_F(Jsonl, LongLinesAndLinesAtTheBuffersEnd) {
  Texts expected;
  std::string content;
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 4000U, 4096U, 3'000'000U, 5U}) {
    expected.emplace_back(size, 'x');
    content += "{\"text\":\"" + expected.back() + "\"}\n";
  }
  EXPECT_EQ(read(content), expected);
}

TEST_F(Jsonl, TheSameInUnitsOfAnySizeCompressedOrNot) {
  const std::string content = "{\"text\":\"a\"}\n\n{\"text\":\"bb\",\"s\":\"\\n\"}\n   \n{\"text\":\"\"}\n{\"text\":\"ccc\"}";
  for (const Index unit_bytes : {1, 5, 14, 40, 0}) {
    for (const bool packed : {false, true}) {
      Corpus corpus = open(packed ? compress(content, "zst") : content);
      corpus.files[0].compressed = packed;
      corpus.options.unit_bytes = unit_bytes;
      for (int ranks = 1; ranks <= (packed ? 1 : 4); ++ranks)
        EXPECT_EQ(read_documents(corpus, ranks), (Texts{"a", "bb", "", "ccc"})) << unit_bytes;
      index_corpus(world(), corpus, {false, true});
      EXPECT_EQ(indexed_document_count(corpus), 4) << "what is counted is what is read";
    }
  }
}

TEST_F(Jsonl, WhatIsNoRowIsRefusedWithItsLine) {
  const std::string good = "{\"text\": \"fine\"}\n\n";
  for (const std::string bad : {"{\"text\": \"a\"", "{\"text\": \"a\"} x", "{\"text\": \"a\"}{\"text\": \"b\"}", "{'text': 'a'}",
                                "plain text", "{\"text\": \"a\", \"b\": tru}", "{\"text\": \"a\", \"b\": 01}", "{\"text\": \"a\\q\"}",
                                "{\"text\": \"a\\ud800\"}", "{\"text\": \"a\tb\"}", "{\"text\" \"a\"}"}) {
    expect_contains(refused(good + bad + "\n" + good), {"rows.jsonl, line 3", "no JSON object", "one object a line"});
  }
  expect_contains(refused(good + "{\"text\": \"a\xFF\"}\n"), {"rows.jsonl, line 3", "invalid UTF-8"});
  expect_contains(refused(good + "{\"text\": \"a\", \"b\": \"\xC3\"}\n"), {"rows.jsonl, line 3", "invalid UTF-8"});
  expect_contains(refused("[\"text\"]\n"), {"rows.jsonl, line 1", "an array", "'text'"});
  expect_contains(refused("\"text\"\n"), {"rows.jsonl, line 1", "a string", "'text'"});
}

TEST_F(Jsonl, AFieldThatIsMissingOrNoStringIsRefused) {
  expect_contains(refused("{\"title\": \"a\", \"body\": \"b\"}\n"),
                  {"rows.jsonl, line 1", "no field 'text'", "'title', 'body'", "--column"});
  expect_contains(refused("{\"text\": \"a\"}\n{}\n", "text"), {"line 2", "no field 'text'", "it has none"});
  expect_contains(refused("{\"Text\": \"a\"}\n"), {"no field 'text'", "'Text'"});
  for (const auto& [value, kind] : std::vector<std::pair<std::string, std::string>>{
           {"1", "a number"}, {"-2.5", "a number"}, {"null", "null"}, {"true", "true or false"}, {"[]", "an array"}, {"{}", "an object"}}) {
    expect_contains(refused("{\"id\": 1, \"text\": " + value + "}\n"),
                    {"rows.jsonl, line 1", "'text' is " + kind, "no string", "'id', 'text'", "--column"});
  }
  expect_contains(refused("{\"text\": \"a\", \"text\": \"b\"}\n"), {"line 1", "'text' twice"});
  std::string many = "{";
  for (int k = 0; k < 25; ++k) many += "\"f" + std::to_string(k) + "\": 0,";
  many.back() = '}';
  expect_contains(refused(many), {"'f19' and 5 more"});
}

std::vector<std::uint64_t> groups_of(const Corpus& corpus) {
  std::vector<std::uint64_t> groups;
  DocumentReader reader(corpus, {}, 0, 1);
  TokenBatch batch;
  while (reader.next(batch)) {
    for (const Piece& piece : batch.pieces) groups.push_back(piece.group);
  }
  return groups;
}

TEST_F(Jsonl, TheSplitColumnGivesTheGroup) {
  const std::string content =
      "{\"text\": \"a\", \"site\": \"x\"}\n{\"site\": \"y\\u0079\", \"text\": \"b\"}\n{\"text\": \"c\", \"site\": \"x\"}\n"
      "{\"text\": \"d\", \"site\": 12}\n{\"text\": \"e\", \"site\": -3}\n{\"text\": \"f\", \"site\": 18446744073709551615}\n{\"text\": "
      "\"g\", \"site\": 0.5}\n";
  EXPECT_EQ(groups_of(open(content, "0", "site")),
            (std::vector<std::uint64_t>{group_of("x"), group_of("yy"), group_of("x"), group_of("12"), group_of("-3"),
                                        group_of("18446744073709551615"), group_of("0.5")}));
  EXPECT_EQ(groups_of(open(content)), std::vector<std::uint64_t>(7, 0));
  expect_contains(refused("{\"text\": \"a\"}\n", "0", "site"), {"rows.jsonl, line 1", "no field 'site'", "'text'", "--split-by"});
  expect_contains(refused("{\"text\": \"a\", \"site\": null}\n", "0", "site"), {"line 1", "'site' is null", "string or a number"});
}

TEST_F(Jsonl, TheSplitColumnOfATable) {
  const std::string content = "a\tx\tlong\nb\ty\n\tx\n";
  Corpus corpus = open(content);
  corpus.options.format = Format::tsv;
  corpus.files[0].split_column = 1;
  EXPECT_EQ(groups_of(corpus), (std::vector<std::uint64_t>{group_of("x"), group_of("y"), group_of("x")}));
  corpus.files[0].split_column = 2;
  expect_contains(error_of([&] { groups_of(corpus); }), {"rows.jsonl, line 2", "2 columns", "--split-by column 2"});
  EXPECT_NE(group_of("x"), group_of("y"));
}

}  // namespace
}  // namespace posgeom
