#include <gtest/gtest.h>

#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

CorpusOptions options_of(std::vector<std::string> paths, TokenizerKind tokenizer = TokenizerKind::bytes) {
  CorpusOptions options;
  options.paths = std::move(paths);
  options.tokenizer = tokenizer;
  return options;
}

std::vector<std::string> names_of(const Corpus& corpus) {
  std::vector<std::string> names;
  for (const CorpusFile& file : corpus.files) names.push_back(std::filesystem::path(file.path).filename().string());
  return names;
}

TEST(OpenCorpus, FilesDirectoriesAndGlobsInOrder) {
  const TemporaryFolder folder;
  folder.write("many/b.txt", "b\n");
  folder.write("many/a.txt", "a\n");
  folder.write("many/.hidden", "h\n");
  folder.write("many/deeper/c.txt", "c\n");
  const std::string single = folder.write("z.txt", "z\n");
  folder.write("globbed/2.log", "2\n");
  folder.write("globbed/10.log", "1\n");
  folder.write("globbed/3.txt", "3\n");
  const Corpus corpus = open_corpus(world(), options_of({single, folder / "many", folder / "globbed/*.log"}));
  EXPECT_EQ(names_of(corpus), (std::vector<std::string>{"z.txt", "a.txt", "b.txt", "10.log", "2.log"}));
  EXPECT_EQ(corpus.options.format, Format::text);
  EXPECT_EQ(corpus.vocab_size, 256);
  EXPECT_TRUE(corpus.vocabulary.empty());
  EXPECT_EQ(read_documents(corpus, 3), (std::vector<std::string>{"z", "a", "b", "1", "2"}));
  const std::string brackets = folder.write("odd[1].txt", "odd\n");
  EXPECT_EQ(names_of(open_corpus(world(), options_of({brackets}))), std::vector<std::string>{"odd[1].txt"}) << "a file before a pattern";
}

TEST(OpenCorpus, FormatByNameThenByContent) {
  const TemporaryFolder folder;
  const auto format_of = [&](std::string_view name, std::string_view content) {
    return open_corpus(world(), options_of({folder.write(name, content)})).options.format;
  };
  EXPECT_EQ(format_of("a.tsv", "x\ty\n"), Format::tsv);
  EXPECT_EQ(format_of("a.tsv.gz", compress("x\ty\n", "gz")), Format::tsv);
  EXPECT_EQ(format_of("a.txt", "x\ty\n"), Format::text);
  EXPECT_EQ(format_of("a.FASTA", ">x\nA\n"), Format::fasta);
  EXPECT_EQ(format_of("a.faa.xz", compress(">x\nA\n", "xz")), Format::fasta);
  EXPECT_EQ(format_of("sequences", ">x\nA\n"), Format::fasta);
  EXPECT_EQ(format_of("zst_without_name", compress(">x\nA\n", "zst")), Format::fasta);
  EXPECT_EQ(format_of("empty", ""), Format::text);
  CorpusOptions options = options_of({folder.write("quoted", "> no sequence\n")});
  options.format = Format::text;
  EXPECT_EQ(read_documents(open_corpus(world(), options), 2), std::vector<std::string>{"> no sequence"});
}

TEST(OpenCorpus, CompressionByContent) {
  const TemporaryFolder folder;
  for (const std::string_view kind : {"gz", "xz", "zst", "bz2"}) {
    const Corpus corpus = open_corpus(world(), options_of({folder.write("named_otherwise", compress("a\nb\n", kind))}));
    EXPECT_TRUE(corpus.files[0].compressed) << kind;
    EXPECT_EQ(read_documents(corpus, 1), (std::vector<std::string>{"a", "b"})) << kind;
  }
}

TEST(OpenCorpus, ColumnByNameAndByNumber) {
  const TemporaryFolder folder;
  const std::string first = folder.write("1.tsv", "label\ttext\r\n0\tone\r\n1\t\r\n"),
                    second = folder.write("2.tsv", "label\ttext\n0\ttwo"), empty = folder.write("3.tsv", "");
  CorpusOptions options = options_of({first, second, empty});
  options.header = true;
  options.column = "text";
  options.unit_bytes = 5;
  const Corpus corpus = open_corpus(world(), options);
  EXPECT_EQ(corpus.files[1].column, 1);
  for (int ranks = 1; ranks <= 9; ++ranks) EXPECT_EQ(read_documents(corpus, ranks), (std::vector<std::string>{"one", "", "two"}));
  options.column = "0";
  EXPECT_EQ(read_documents(open_corpus(world(), options), 2), (std::vector<std::string>{"0", "1", "0"}));
  options.header = false;
  EXPECT_EQ(read_documents(open_corpus(world(), options), 2), (std::vector<std::string>{"label", "0", "1", "label", "0"}));
}

TEST(OpenCorpus, AByteOrderMarkIsNotPartOfTheFirstColumnsName) {
  const TemporaryFolder folder;
  CorpusOptions options = options_of({folder.write("a.tsv", "\xEF\xBB\xBFtext\tlabel\none\t1\n")});
  options.header = true;
  options.column = "text";
  EXPECT_EQ(read_documents(open_corpus(world(), options), 2), std::vector<std::string>{"one"});
}

TEST(Fingerprint, ChangesWithWhatTheNumbersDependOn) {
  const TemporaryFolder folder;
  const std::string vocabulary = folder.write("vocab", "a\nb\n"), path = folder.write("a.txt", "a b\n");
  CorpusOptions options = options_of({path}, TokenizerKind::whitespace);
  options.vocab = vocabulary;
  const auto lines = [&] { return open_corpus(world(), options).fingerprint_lines; };
  const std::vector<std::string> first = lines();
  EXPECT_EQ(first, lines());
  ASSERT_EQ(first.size(), 7U);
  EXPECT_EQ(first[0], "format=text");
  EXPECT_EQ(first[1], "tokenizer=whitespace");
  EXPECT_TRUE(first[6].starts_with("file.0=a.txt:4:")) << first[6];

  folder.write("moved/a.txt", "a b\n");
  options.paths = {folder / "moved/a.txt"};
  EXPECT_EQ(lines(), first) << "the directory does not matter";
  folder.write("moved/a.txt", "b a\n");
  EXPECT_NE(lines(), first) << "the content does";
  options.paths = {path};
  options.max_tokens = 5;
  EXPECT_NE(lines(), first);
  options.max_tokens = 0;
  folder.write("vocab", "a\nb\nc\n");
  EXPECT_NE(lines()[5], first[5]) << "the vocabulary does";
  options.vocab.clear();
  EXPECT_EQ(lines()[5], "vocab=built");
}

TEST(Fingerprint, SamplesTheMiddleAndTheEndOfALargeFile) {
  const TemporaryFolder folder;
  std::string content(1'000'000, 'a');
  const auto line = [&] { return open_corpus(world(), options_of({folder.write("large", content)})).fingerprint_lines.back(); };
  const std::string first = line();
  content[500'000] = 'b';
  const std::string second = line();
  EXPECT_NE(first, second);
  content[999'999] = 'b';
  EXPECT_NE(line(), second);
}

}  // namespace
}  // namespace posgeom
