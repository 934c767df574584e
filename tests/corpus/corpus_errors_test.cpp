#include <gtest/gtest.h>
#include <unistd.h>

#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

/// What open_corpus says; the same on every rank, or the test fails.
class CorpusErrors : public testing::Test {
 protected:
  std::string error_of_opening(const CorpusOptions& options, ErrorKind kind = ErrorKind::run) {
    std::string text;
    try {
      open_corpus(world(), options);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const CollectiveError& error) {
      text = error.what();
      EXPECT_EQ(error.kind(), kind) << text;
    }
    std::string roots = text;
    broadcast_resized(world(), roots);
    EXPECT_EQ(text, roots);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  std::string error_of_path(const std::string& path, ErrorKind kind = ErrorKind::run) {
    CorpusOptions options;
    options.paths = {path};
    return error_of_opening(options, kind);
  }
  std::string error_of_file(std::string_view name, std::string_view content, ErrorKind kind = ErrorKind::run) {
    return error_of_path(folder_.write(name, content), kind);
  }

  TemporaryFolder folder_;
};

TEST_F(CorpusErrors, Paths) {
  expect_contains(error_of_opening({}, ErrorKind::usage), {"--corpus"});
  expect_contains(error_of_path(folder_ / "missing.txt"), {"missing.txt", "No such file"});
  expect_contains(error_of_path(folder_ / "no*match"), {"no*match", "no file matches"});
  expect_contains(error_of_path("/dev/null"), {"/dev/null", "not a regular file"});
  folder_.write("empty/.hidden", "");
  expect_contains(error_of_path(folder_ / "empty"), {"empty", "no regular file"});
  const std::string file = folder_.write("d/a.txt", "a\n");
  CorpusOptions options;
  options.paths = {file, folder_ / "d"};
  expect_contains(error_of_opening(options), {"a.txt", "twice"});
  if (world().is_root()) std::filesystem::create_symlink(file, folder_ / "link.txt");
  options.paths = {file, folder_ / "link.txt"};
  expect_contains(error_of_opening(options), {"link.txt", "twice"});
}

TEST_F(CorpusErrors, BinaryFiles) {
  expect_contains(error_of_file("a.txt", std::string("MMIDIDX\0\0\1\0", 11)), {"a.txt", "Megatron", ".bin"});
  expect_contains(error_of_file("b", "\x93NUMPY\x01", ErrorKind::usage), {"b", "npy", "--vocab-size"});
  expect_contains(error_of_file("c", "\x89HDF\r\n\x1A\n", ErrorKind::usage), {"c", "hdf5", "--vocab-size"});
  expect_contains(error_of_file("c.gz", compress("\x89HDF\r\n\x1A\n", "gz")), {"HDF5"});
  expect_contains(error_of_file("d", std::string("a\0b\0c\0d\0e\0f\0g\0", 14)), {"NUL"});
  expect_contains(error_of_file("tokens.bin", "anything"), {"tokens.bin", ".bin"});
  expect_contains(error_of_file("e",
                                "\xFF\xFE"
                                "a"),
                  {"UTF-16"});
  expect_contains(error_of_file("f", "PK\x03\x04"), {"zip"});
  expect_contains(error_of_file("a.jsonl", "{}\n"), {"a.jsonl, line 1", "no field 'text'", "--column"});
  expect_contains(error_of_file("plain.gz", "plain text\n"), {"plain.gz", "truncated"});
  expect_contains(error_of_file("cut.gz", compress("some text that was cut off\n", "gz").substr(0, 15)),
                  {"cut.gz", "truncated or corrupt"});
}

TEST_F(CorpusErrors, MixedFormats) {
  CorpusOptions options;
  options.paths = {folder_.write("a.txt", "a\n"), folder_.write("b.tsv", "a\tb\n")};
  expect_contains(error_of_opening(options), {"a.txt", "text", "b.tsv", "tsv", "--format"});
}

TEST_F(CorpusErrors, Columns) {
  CorpusOptions options;
  options.paths = {folder_.write("a.tsv", "id\ttext\n1\ta\n")};
  options.column = "sentence";
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--column sentence", "--header"});
  options.header = true;
  expect_contains(error_of_opening(options), {"sentence", "a.tsv", "0 'id'", "1 'text'"});
  options.column = "2";
  expect_contains(error_of_opening(options), {"--column 2", "1 'text'"});
  options.column = "99999999999999999999";
  expect_contains(error_of_opening(options), {"--column 9999"});
  options.column = "";
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--column"});
  options.column = "text";
  options.paths.push_back(folder_.write("b.tsv", "text\tid\na\t1\n"));
  expect_contains(error_of_opening(options), {"a.tsv", "b.tsv", "differ"});
  options.paths = {folder_.write("c.tsv", "text\ttext\na\tb\n")};
  expect_contains(error_of_opening(options), {"c.tsv", "more than once"});
  options.paths = {folder_.write("d.tsv", "")};
  expect_contains(error_of_opening(options), {"d.tsv", "no line"});
  options.paths = {folder_.write("e.txt", "text\n")};
  expect_contains(error_of_opening(options), {"e.txt", "--header", "--format tsv"});
}

TEST_F(CorpusErrors, Vocabularies) {
  CorpusOptions options;
  options.paths = {folder_.write("a.txt", "a b\n")};
  options.tokenizer = TokenizerKind::wordpiece;
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--vocab"});
  options.vocab = folder_.write("v", "a\nb\n");
  expect_contains(error_of_opening(options), {options.vocab, "[UNK]"});
  options.vocab = folder_ / "missing";
  expect_contains(error_of_opening(options), {"missing", "No such file"});
  options.vocab = folder_.write("nothing", "");
  expect_contains(error_of_opening(options), {"nothing", "empty"});
  options.vocab = folder_.write("binary", std::string("[UNK]\na\0b\n", 10));
  expect_contains(error_of_opening(options), {"binary", "line 2", "NUL"});
  options.tokenizer = TokenizerKind::chars;
  options.vocab = folder_.write("words", "a\nbc\n");
  expect_contains(error_of_opening(options), {options.vocab, "'bc'"});
  options.tokenizer = TokenizerKind::bytes;
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--vocab", "256"});
  options.vocab.clear();
  options.max_tokens = -1;
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--max-tokens -1"});
}

TEST_F(CorpusErrors, SizesOfVocabulariesAndIgnoredIds) {
  CorpusOptions options;
  options.paths = {folder_.write("a.txt", "a b\n")};
  options.vocab = folder_.write("v", "a\nb\nc\n");
  options.vocab_size = 2;
  expect_contains(error_of_opening(options), {"--vocab-size 2", "3 entries", "whitespace", "at least 3"});
  options.vocab_size = 7;
  EXPECT_EQ(open_corpus(world(), options).vocab_size, 7);
  options.ignored_ids = {6, 7};
  expect_contains(error_of_opening(options), {"--ignore-ids 7", "whitespace", "0 to 6"});
  options.ignored_ids = {6, 0};
  EXPECT_EQ(open_corpus(world(), options).vocab_size, 7);
  options.vocab_size = 0;
  expect_contains(error_of_opening(options), {"--ignore-ids 6", "0 to 2"});
  options = {};
  options.paths = {folder_.write("a.txt", "a b\n")};
  options.vocab_size = 1;
  expect_contains(error_of_opening(options), {"--vocab-size 1", "2 entries"});
}

TEST_F(CorpusErrors, SentencePieceModels) {
  CorpusOptions options;
  options.paths = {folder_.write("a.txt", "a b\n")};
  options.tokenizer = TokenizerKind::sentencepiece;
  expect_contains(error_of_opening(options, ErrorKind::usage), {"sentencepiece", "--vocab", ".model"});
  options.vocab = folder_ / "missing.model";
  expect_contains(error_of_opening(options), {"--vocab", "missing.model", "No such file"});
  options.vocab = folder_.path();
  expect_contains(error_of_opening(options), {"--vocab", "not a regular file"});
  options.vocab = folder_.write("nothing.model", "");
  expect_contains(error_of_opening(options), {"nothing.model", "empty", "spm_train"});
  for (const std::string content : {"[UNK]\na\nb\n", "\x0A\x05hello", "\x0A", "\n"}) {
    testing::internal::CaptureStderr();
    options.vocab = folder_.write("broken.model", content);
    expect_contains(error_of_opening(options),
                    {"broken.model", std::to_string(content.size()) + " bytes", "no SentencePiece model", "spm_train"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "one error, and no messages of the library";
  }
}

TEST_F(CorpusErrors, InvalidTextWhileTheVocabularyIsBuilt) {
  CorpusOptions options;
  options.paths = {folder_.write("a.txt",
                                 "good\ngood\nba\xFF"
                                 "d\ngood\n")};
  options.tokenizer = TokenizerKind::chars;
  expect_contains(error_of_opening(options), {"a.txt, line 3", "0xFF", "byte 2"});
}

/// The last rank stands in another directory, where a relative path names nothing, or another file.
TEST_F(CorpusErrors, AFileThatOneRankCannotReadEndsAll) {
  folder_.write("here/a.txt", "a\n");
  folder_.write("elsewhere/c.txt", "c\n");
  folder_.write("elsewhere/b.txt", "longer\n");
  folder_.write("here/b.txt", "b\n");
  const std::filesystem::path before = std::filesystem::current_path();
  const bool last = world().rank() == world().size() - 1 && world().size() > 1;
  std::filesystem::current_path(folder_ / (last ? "elsewhere" : "here"));
  CorpusOptions options;
  options.paths = {"a.txt"};
  if (world().size() > 1) {
    expect_contains(error_of_opening(options), {"a.txt", "No such file", "every rank"});
    options.paths = {"b.txt"};
    expect_contains(error_of_opening(options), {"b.txt", "2 bytes", "7"});
  } else {
    EXPECT_EQ(open_corpus(world(), options).vocab_size, 1);
  }
  barrier(world());
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace posgeom
