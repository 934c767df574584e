#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "corpus/text_units.hpp"
#include "corpus_files.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

constexpr Index lines_wanted = 800;

/// The first lines of the King James Bible, and models that spm_train makes of them.
class SentencePiece : public testing::Test {
 protected:
  SentencePiece() {
    Corpus corpus;
    corpus.options.format = Format::text;
    const std::string path = POSGEOM_TEST_DATA "/kjv.txt.xz";
    corpus.files = {{path, static_cast<Index>(std::filesystem::file_size(path)), true}};
    TextUnits text(corpus, 0, {});
    EXPECT_TRUE(text.open(0));
    Record record;
    std::string content;
    for (Index k = 0; k < lines_wanted && text.next_record(record); ++k) {
      lines_.emplace_back(record.text);
      content += lines_.back() + "\n";
    }
    lines_.emplace_back("caf\u00E9 \u535A\u63A8  two  spaces, \U0001F600 and \uFB01");
    content += lines_.back() + "\n";
    path_ = folder_.write("lines.txt", content);
  }

  std::string train(const std::string& kind, int vocab_size) {
    if (world().is_root()) {
      const std::string command = "spm_train --minloglevel=3 --num_threads=1 --input=" + path_ + " --model_prefix=" + (folder_ / kind) +
                                  " --model_type=" + kind + " --vocab_size=" + std::to_string(vocab_size) + " 2>/dev/null";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    barrier(world());
    return folder_ / (kind + ".model");
  }

  /// What the library's own program says.
  std::vector<std::vector<Token>> encoded(const std::string& model) const {
    std::vector<std::vector<Token>> documents(1);
    const std::string command = "spm_encode --model=" + model + " --output_format=id < " + path_;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    std::array<char, 4096> block{};
    for (std::size_t got = 1; pipe && got > 0; text.append(block.data(), got)) got = std::fread(block.data(), 1, block.size(), pipe.get());
    std::istringstream lines(text);
    documents.clear();
    for (std::string line; std::getline(lines, line);) {
      std::istringstream ids(line);
      std::vector<Token>& document = documents.emplace_back();
      for (Token id = 0; ids >> id;) document.push_back(id);
    }
    return documents;
  }

  CorpusOptions options_of(const std::string& model) const {
    CorpusOptions options;
    options.paths = {path_};
    options.tokenizer = TokenizerKind::sentencepiece;
    options.vocab = model;
    options.unit_bytes = 20'000;
    return options;
  }

  TemporaryFolder folder_;
  std::string path_;
  std::vector<std::string> lines_;
};

TEST_F(SentencePiece, GivesTheIdsOfTheLibrarysOwnProgram) {
  for (const std::string kind : {"unigram", "bpe"}) {
    const std::string model = train(kind, 400);
    const Corpus corpus = open_corpus(world(), options_of(model));
    EXPECT_EQ(corpus.vocab_size, 400);
    EXPECT_TRUE(corpus.vocabulary.empty());
    EXPECT_FALSE(corpus.vocabulary_built);
    const auto expected = encoded(model);
    ASSERT_EQ(std::ssize(expected), std::ssize(lines_));
    std::vector<std::vector<Token>> documents;
    for (int rank = 0; rank < 3; ++rank) {
      DocumentReader reader(corpus, {}, rank, 3);
      TokenBatch batch;
      while (reader.next(batch)) {
        for (const Piece& piece : batch.pieces) documents.emplace_back(batch.wide.begin() + piece.begin, batch.wide.begin() + piece.end);
      }
    }
    EXPECT_EQ(documents, expected) << kind;
  }
}

TEST_F(SentencePiece, TheModelIsPartOfTheFingerprint) {
  const auto line_of = [&](const std::string& model) {
    for (const std::string& line : open_corpus(world(), options_of(model)).fingerprint_lines) {
      if (line.starts_with("vocab=")) return line;
    }
    return std::string();
  };
  const std::string first = line_of(train("unigram", 300)), second = line_of(train("unigram", 310));
  EXPECT_EQ(first.size(), std::string("vocab=0123456789abcdef").size()) << first;
  EXPECT_NE(first, second);
  EXPECT_EQ(second, line_of(folder_ / "unigram.model"));
}

TEST_F(SentencePiece, ATruncatedModelIsRefusedOnEveryRank) {
  const std::string bytes = read_file(train("bpe", 400));
  for (const double part : {0.1, 0.5, 0.9, 0.999}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(bytes.size()));
    const std::string cut = folder_.write("cut.model", std::string_view(bytes).substr(0, size));
    testing::internal::CaptureStderr();
    try {
      open_corpus(world(), options_of(cut));
      ADD_FAILURE() << "nothing was thrown at " << size << " of " << bytes.size();
    } catch (const CollectiveError& error) {
      expect_contains(error.what(), {"--vocab", "cut.model", "no SentencePiece model"});
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

TEST_F(SentencePiece, IgnoredIdsAndMaxTokens) {
  const std::string model = train("unigram", 400);
  CorpusOptions options = options_of(model);
  const auto expected = encoded(model);
  options.ignored_ids = {expected[0][0], expected[0][2]};
  options.max_tokens = 5;
  const Corpus corpus = open_corpus(world(), options);
  DocumentReader reader(corpus, {}, 0, 1);
  TokenBatch batch;
  ASSERT_TRUE(reader.next(batch));
  std::vector<Token> first = expected[0];
  std::erase_if(first, [&](Token id) { return id == expected[0][0] || id == expected[0][2]; });
  first.resize(5);
  EXPECT_EQ(std::vector<Token>(batch.wide.begin(), batch.wide.begin() + batch.pieces[0].end), first);
}

}  // namespace
}  // namespace posgeom
