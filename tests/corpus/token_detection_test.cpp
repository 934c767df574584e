// Which files a corpus has, and what they are.
#include <gtest/gtest.h>

#include "corpus/survey.hpp"
#include "token_reading.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

std::vector<std::string> names_of(const Corpus& corpus) {
  std::vector<std::string> names;
  for (const CorpusFile& file : corpus.files) names.push_back(std::filesystem::path(file.path).filename().string());
  return names;
}
using Names = std::vector<std::string>;

TEST(TokenDetection, FormatByContentThenByName) {
  const TemporaryFolder folder;
  const auto format_of = [&](std::string_view name, std::string_view content) {
    return open_corpus(world(), token_options({folder.write(name, content)}, 100)).options.format;
  };
  EXPECT_EQ(format_of("a", npy_file({1}, "<u2", "(1,)")), Format::npy);
  EXPECT_EQ(format_of("b.npy", id_bytes({1}, 2)), Format::npy);
  EXPECT_EQ(format_of("c.txt", llmc_file({1}, 2)), Format::llmc);
  EXPECT_EQ(format_of("d.bin", llmc_file({1}, 4)), Format::llmc);
  folder.write("e.idx", megatron_index({{1}}, 8, 2));
  EXPECT_EQ(format_of("e.bin", id_bytes({1}, 2)), Format::megatron);
  folder.write("f.ds.index", ends_of({{1}}));
  EXPECT_EQ(format_of("f.ds", id_bytes({1}, 2)), Format::datatrove);
  folder.write("offset.12", std::string(8, '\0'));
  EXPECT_EQ(format_of("tokenized.12", id_bytes({65535, 1}, 2)), Format::infinigram);
  write_dataset(folder / "g.h5", "/x", {1}, 2, false, {1});
  EXPECT_EQ(open_corpus(world(), token_options({folder / "g.h5:/x"}, 100)).options.format, Format::hdf5);
  EXPECT_EQ(open_corpus(world(), token_options({folder / "g.*:/x"}, 100)).options.format, Format::hdf5);
  CorpusOptions options;
  options.paths = {folder.write("h.jsonl", "{\"text\": \"a\"}\n")};
  options.tokenizer = TokenizerKind::bytes;
  EXPECT_EQ(open_corpus(world(), options).options.format, Format::jsonl);
  options.paths = {folder.write("i.json", "\n {\"text\": \"a\"}\n")};
  EXPECT_EQ(open_corpus(world(), options).options.format, Format::jsonl);
  options.paths = {folder.write("j.ndjson", "")};
  EXPECT_EQ(open_corpus(world(), options).options.format, Format::jsonl);
  options.paths = {folder.write("k.json", "[{\"text\": \"a\"}]\n")};
  expect_contains(error_of([&] { open_corpus(world(), options); }), {"k.json", "no object a line"});
  options.paths = {folder.write("tokenized.99", "words\n")};
  EXPECT_EQ(open_corpus(world(), options).options.format, Format::text) << "a name without its companion says nothing";
  EXPECT_EQ(format_named("infinigram"), Format::infinigram);
  for (const Format format : {Format::text, Format::jsonl, Format::megatron, Format::raw16, Format::raw32, Format::llmc, Format::datatrove,
                              Format::npy, Format::infinigram, Format::hdf5}) {
    EXPECT_EQ(format_named(name_of(format)), format);
    EXPECT_EQ(holds_tokens(format), format != Format::text && format != Format::jsonl);
  }
}

TEST(TokenDetection, CompanionsAreNoFilesOfTheCorpus) {
  const TemporaryFolder folder;
  for (const std::string name : {"m/b", "m/a.x"}) {
    folder.write(name + ".bin", id_bytes({1}, 2));
    folder.write(name + ".idx", megatron_index({{1}}, 8, 2));
  }
  folder.write("m/meta.pkl", "pickled");
  const auto names = [&](std::vector<std::string> paths) { return names_of(open_corpus(world(), token_options(std::move(paths), 10))); };
  EXPECT_EQ(names({folder / "m"}), (Names{"a.x.bin", "b.bin"}));
  EXPECT_EQ(names({folder / "m/*"}), (Names{"a.x.bin", "b.bin"}));
  EXPECT_EQ(names({folder / "m/*.idx"}), (Names{"a.x.bin", "b.bin"}));
  EXPECT_EQ(names({folder / "m/b", folder / "m/a.x"}), (Names{"b.bin", "a.x.bin"}));
  EXPECT_EQ(names({folder / "m/b.idx", folder / "m/b.bin", folder / "m/meta.pkl"}), Names{"b.bin"}) << "as a shell expands a glob";
  expect_contains(error_of([&] { names({folder / "m/b", folder / "m/b.bin"}); }), {"b.bin", "twice"});
  expect_contains(error_of([&] { names({folder / "m/b.idx", folder / "m/b.bin", folder / "m/b"}); }), {"b.bin", "twice"});
  folder.write("d/x.ds", id_bytes({1}, 2));
  folder.write("d/x.ds.index", ends_of({{1}}));
  folder.write("d/x.ds.metadata", "gpt2|2\n");
  folder.write("d/x.ds.loss", "1");
  EXPECT_EQ(names({folder / "d"}), Names{"x.ds"});
  for (const std::string part : {"0", "1"}) {
    folder.write("i/tokenized." + part, id_bytes({65535, 1}, 2));
    folder.write("i/offset." + part, std::string(8, '\0'));
    folder.write("i/metadata." + part, "{}");
    folder.write("i/metaoff." + part, "x");
    folder.write("i/table." + part, "x");
  }
  EXPECT_EQ(names({folder / "i"}), (Names{"tokenized.0", "tokenized.1"}));
  CorpusOptions raw = token_options({folder / "m"}, 10, Format::raw16);
  EXPECT_EQ(names_of(open_corpus(world(), raw)), (Names{"a.x.bin", "b.bin"})) << "asked for without its index";
  folder.write("t/offset.0", "words\n");
  folder.write("t/tokenized.0", "words\n");
  CorpusOptions text;
  text.paths = {folder / "t"};
  text.format = Format::text;
  text.tokenizer = TokenizerKind::bytes;
  EXPECT_EQ(names_of(open_corpus(world(), text)), (Names{"offset.0", "tokenized.0"})) << "text is text";
}

TEST(TokenDetection, TheSurveyTravelsWhole) {
  Survey survey;
  survey.format = Format::hdf5;
  CorpusFile& file = survey.files.emplace_back();
  file = {"path", Index{1} << 60, true, 3, 4, "index", "/dataset", "/offsets", 8, true, 1024, Index{1} << 50, Index{1} << 40, 77};
  survey.files.push_back({"second", 5});
  survey.fingerprint_lines = {"a", "b", "c"};
  const Survey back = from_strings(to_strings(survey));
  EXPECT_EQ(back.format, Format::hdf5);
  EXPECT_EQ(back.fingerprint_lines, survey.fingerprint_lines);
  ASSERT_EQ(back.files.size(), 2U);
  EXPECT_EQ(to_strings(back), to_strings(survey));
  EXPECT_EQ(back.files[0].path, "path");
  EXPECT_EQ(back.files[0].bytes, Index{1} << 60);
  EXPECT_TRUE(back.files[0].compressed);
  EXPECT_EQ(back.files[0].column, 3);
  EXPECT_EQ(back.files[0].split_column, 4);
  EXPECT_EQ(back.files[0].index_path, "index");
  EXPECT_EQ(back.files[0].dataset, "/dataset");
  EXPECT_EQ(back.files[0].offsets_dataset, "/offsets");
  EXPECT_EQ(back.files[0].width, 8);
  EXPECT_TRUE(back.files[0].is_signed);
  EXPECT_EQ(back.files[0].data_offset, 1024);
  EXPECT_EQ(back.files[0].token_count, Index{1} << 50);
  EXPECT_EQ(back.files[0].document_count, Index{1} << 40);
  EXPECT_EQ(back.files[0].row_length, 77);
  EXPECT_EQ(back.files[1].document_count, -1);
}

TEST(TokenDetection, VAndSeparatorsByFormat) {
  const TemporaryFolder folder;
  const auto opened = [&](std::string_view name, std::string_view content, Index vocab_size, Format format = Format::automatic,
                          Separator separator = {}) {
    CorpusOptions options = token_options({folder.write(name, content)}, vocab_size, format);
    options.separator = separator;
    const Corpus corpus = open_corpus(world(), options);
    EXPECT_EQ(corpus.tokenizer, nullptr);
    return std::pair{corpus.vocab_size, corpus.separator};
  };
  using Pair = std::pair<Index, Index>;
  const std::string narrow = id_bytes({1, 0}, 2);  // one id of 32 bits, too
  for (const Format format : {Format::raw16, Format::raw32, Format::npy}) {
    EXPECT_EQ(opened("a", narrow, 50257, format), (Pair{50257, 50256}));
    EXPECT_EQ(opened("a", id_bytes({1, 2}, 4), 50304, Format::raw32), (Pair{50304, 50256}));
    EXPECT_EQ(opened("a", std::string(4, '\0'), 50258, format), (Pair{50258, -1}));
    EXPECT_EQ(opened("a", std::string(4, '\0'), 50257, format, {Separator::Choice::none, -1}), (Pair{50257, -1}));
    EXPECT_EQ(opened("a", std::string(4, '\0'), 50257, format, given_separator(0)), (Pair{50257, 0}));
  }
  EXPECT_EQ(opened("b.npy", npy_file({1}, "<u2", "(1,)"), 50257), (Pair{50257, -1})) << "a true array has its own boundaries";
  EXPECT_EQ(opened("c.bin", llmc_file({1}, 2), 0), (Pair{50257, 50256}));
  EXPECT_EQ(opened("c.bin", llmc_file({1}, 2), 50304), (Pair{50304, 50256}));
  EXPECT_EQ(opened("c.bin", llmc_file({1}, 4), 0), (Pair{128256, 128000}));
}

TEST(TokenDetection, Fingerprints) {
  const TemporaryFolder folder;
  folder.write("m.idx", megatron_index({{1, 2}, {3}}, 8, 2));
  CorpusOptions options = token_options({folder.write("m.bin", id_bytes({1, 2, 3}, 2))}, 10);
  const auto lines = [&] { return open_corpus(world(), options).fingerprint_lines; };
  const auto has = [](const std::vector<std::string>& all, std::string_view begin) {
    return std::any_of(all.begin(), all.end(), [begin](const std::string& line) { return line.starts_with(begin); });
  };
  const std::vector<std::string> first = lines();
  for (const std::string_view line :
       {"format=megatron", "vocab_size=10", "separator=none", "keep_separator=off", "ignore_ids=", "file.0=m.bin:6:", "index.0=m.idx:"}) {
    EXPECT_TRUE(has(first, line)) << line;
  }
  folder.write("m.idx", megatron_index({{1}, {2, 3}}, 8, 2));
  EXPECT_NE(lines(), first) << "the same ids in other documents";
  folder.write("m.idx", megatron_index({{1, 2}, {3}}, 8, 2));
  EXPECT_EQ(lines(), first);
  options.ignored_ids = {7, 3, 7};
  EXPECT_TRUE(has(lines(), "ignore_ids=3,7"));
  options.separator = given_separator(5);
  options.keep_separator = true;
  EXPECT_TRUE(has(lines(), "separator=5"));
  EXPECT_TRUE(has(lines(), "keep_separator=on"));
  write_dataset(folder / "a.h5", "/x", {1, 2, 3}, 2, false, {3});
  write_dataset(folder / "a.h5", "/y", {1, 2, 4}, 2, false, {3});
  write_dataset(folder / "a.h5", "/o", {0, 2, 3}, 8, false, {3});
  CorpusOptions sets = token_options({folder / "a.h5:/x:/o"}, 10);
  const std::vector<std::string> x = open_corpus(world(), sets).fingerprint_lines;
  EXPECT_TRUE(has(x, "file.0=a.h5:/x:6:"));
  EXPECT_TRUE(has(x, "index.0=/o:24:"));
  sets.paths = {folder / "a.h5:/y:/o"};
  EXPECT_NE(open_corpus(world(), sets).fingerprint_lines, x);
  CorpusOptions text;
  text.paths = {folder.write("t.txt", "a\n")};
  text.tokenizer = TokenizerKind::bytes;
  const auto plain = open_corpus(world(), text).fingerprint_lines;
  EXPECT_FALSE(has(plain, "vocab_size") || has(plain, "separator") || has(plain, "ignore_ids")) << "old results stay reusable";
}

TEST(TokenDetection, Descriptions) {
  const TemporaryFolder folder;
  folder.write("m.idx", megatron_index({{1, 2}, {3}}, 8, 2));
  const std::string bin = folder.write("m.bin", id_bytes({1, 2, 3}, 2));
  const auto value = [](const std::string& path, std::string_view what) {
    for (const auto& [name, text] : describe_token_file(path)) {
      if (name == what) return text;
    }
    return std::string("missing");
  };
  for (const std::string& path : {bin, folder / "m", folder / "m.idx"}) {
    EXPECT_TRUE(is_token_file(path));
    EXPECT_EQ(value(path, "format"), "megatron");
    EXPECT_EQ(value(path, "index"), folder / "m.idx");
    EXPECT_EQ(value(path, "ids"), "3 of 16 bits");
    EXPECT_EQ(value(path, "documents"), "2");
    EXPECT_EQ(value(path, "first ids"), "1 2 3");
  }
  const std::string array = folder.write("a.npy", npy_file({1, -2, 3, 4}, "<i4", "(2, 2)"));
  EXPECT_EQ(value(array, "ids"), "4 of 32 bits, signed");
  EXPECT_EQ(value(array, "shape"), "2 rows of 2");
  EXPECT_EQ(value(array, "first ids"), "1 -2 3 4");
  EXPECT_EQ(value(folder.write("l.bin", llmc_file({}, 4)), "vocab_size"), "128256");
  write_dataset(folder / "a.h5", "/x", {1, 2, 3}, 2, false, {3});
  EXPECT_TRUE(is_token_file(folder / "a.h5:/x"));
  EXPECT_EQ(value(folder / "a.h5:/x", "file"), folder / "a.h5:/x");
  EXPECT_FALSE(is_token_file(folder.write("t.txt", "text\n")));
  EXPECT_FALSE(is_token_file(folder / "missing"));
  EXPECT_TRUE(is_token_file(folder.write("r.bin", "abcd"))) << "it is one, though nobody can say of which width";
  expect_contains(error_of([&] { describe_token_file(folder / "r.bin"); }), {"r.bin", "raw16"});
}

}  // namespace
}  // namespace posgeom
