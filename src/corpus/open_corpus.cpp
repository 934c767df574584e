#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "corpus/byte_source.hpp"
#include "corpus/survey.hpp"
#include "corpus/vocabulary.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// That this rank sees the file that the root saw.
void check_readable(const CorpusFile& file) {
  const InputFile opened(file.path);
  std::error_code error;
  const auto bytes = static_cast<Index>(std::filesystem::file_size(file.path, error));
  if (error || bytes != file.bytes) {
    throw Error(fmt::format("the corpus file {} has {} bytes on one rank and {} on another; every node must see the same files", file.path,
                            file.bytes, error ? "unknown" : std::to_string(bytes)));
  }
}

std::shared_ptr<const Tokenizer> make_tokenizer(TokenizerKind kind, const std::vector<std::string>& vocabulary) {
  switch (kind) {
    case TokenizerKind::whitespace:
      return whitespace_tokenizer(vocabulary);
    case TokenizerKind::wordpiece:
      return wordpiece_tokenizer(vocabulary);
    case TokenizerKind::chars:
      return chars_tokenizer(vocabulary);
    case TokenizerKind::bytes:
      break;
  }
  return bytes_tokenizer();
}

std::vector<std::string> fingerprint(const Corpus& corpus, std::vector<std::string> file_lines) {
  const CorpusOptions& options = corpus.options;
  const std::string vocabulary = corpus.vocabulary_built ? "built" : corpus.vocabulary.empty() ? "none" : hash_of(corpus.vocabulary);
  std::vector<std::string> lines{
      fmt::format("format={}", name_of(options.format)),     fmt::format("tokenizer={}", name_of(options.tokenizer)),
      fmt::format("column={}", corpus.files.front().column), fmt::format("header={}", options.header ? "on" : "off"),
      fmt::format("max_tokens={}", options.max_tokens),      fmt::format("vocab={}", vocabulary)};
  lines.insert(lines.end(), std::make_move_iterator(file_lines.begin()), std::make_move_iterator(file_lines.end()));
  return lines;
}

}  // namespace

Corpus open_corpus(const Communicator& comm, const CorpusOptions& options) {
  // One rank looks, the others are told: a thousand ranks would otherwise ask the file system the same questions at once.
  std::vector<std::string> findings = collective(comm, "opening the corpus", [&] {
    check_options(options);
    return comm.is_root() ? to_strings(survey(options)) : std::vector<std::string>();
  });
  broadcast_strings(comm, findings);
  Survey found = from_strings(findings);

  Corpus corpus;
  corpus.options = options;
  corpus.options.format = found.format;
  corpus.files = std::move(found.files);
  collective(comm, "opening the corpus", [&] {
    for (const CorpusFile& file : corpus.files) check_readable(file);
  });

  if (!options.vocab.empty()) {
    corpus.vocabulary = collective(comm, "reading the vocabulary",
                                   [&] { return comm.is_root() ? read_vocabulary(options.vocab) : std::vector<std::string>(); });
    broadcast_strings(comm, corpus.vocabulary);
  } else if (options.tokenizer != TokenizerKind::bytes) {
    corpus.vocabulary = build_vocabulary(comm, corpus);
    corpus.vocabulary_built = true;
  }
  corpus.tokenizer = collective(comm, "making the tokenizer", [&] {
    try {
      return make_tokenizer(options.tokenizer, corpus.vocabulary);
    } catch (const Error& error) {
      throw Error(fmt::format("the vocabulary --vocab {}: {}", options.vocab, error.what()), error.kind());
    }
  });
  corpus.vocab_size = corpus.tokenizer->vocab_size();
  corpus.fingerprint_lines = fingerprint(corpus, std::move(found.fingerprint_lines));
  return corpus;
}

}  // namespace posgeom
