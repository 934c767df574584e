#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "corpus/byte_source.hpp"
#include "corpus/survey.hpp"
#include "corpus/token_layout.hpp"
#include "corpus/vocabulary.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// That this rank sees the file that the root saw.
void check_readable(const CorpusFile& file) {
  const InputFile opened(file.path);
  if (!file.index_path.empty()) const InputFile index(file.index_path);
  if (!file.dataset.empty()) return;  // its size is not the file's; who reads it looks again
  std::error_code error;
  const auto bytes = static_cast<Index>(std::filesystem::file_size(file.path, error));
  if (error || bytes != file.bytes) {
    throw Error(fmt::format("the corpus file {} has {} bytes on one rank and {} on another; every node must see the same files", file.path,
                            file.bytes, error ? "unknown" : std::to_string(bytes)));
  }
}

std::shared_ptr<const Tokenizer> make_tokenizer(TokenizerKind kind, const std::vector<std::string>& vocabulary, const std::string& model) {
  switch (kind) {
    case TokenizerKind::whitespace:
      return whitespace_tokenizer(vocabulary);
    case TokenizerKind::wordpiece:
      return wordpiece_tokenizer(vocabulary);
    case TokenizerKind::sentencepiece:
      return sentencepiece_tokenizer(model);
    case TokenizerKind::chars:
      return chars_tokenizer(vocabulary);
    case TokenizerKind::bytes:
      break;
  }
  return bytes_tokenizer();
}

/// **Collective.** The corpus's tokenizer, with the vocabulary that it needs. Returns the vocabulary's line of the fingerprint.
std::string set_tokenizer(const Communicator& comm, Corpus& corpus) {
  const CorpusOptions& options = corpus.options;
  std::string hash = "none", model;
  if (options.tokenizer == TokenizerKind::sentencepiece) {
    model = collective(comm, "reading the SentencePiece model", [&] { return comm.is_root() ? read_model(options.vocab) : std::string(); });
    broadcast_resized(comm, model);
    hash = hash_of(model);
  } else if (!options.vocab.empty()) {
    corpus.vocabulary = collective(comm, "reading the vocabulary",
                                   [&] { return comm.is_root() ? read_vocabulary(options.vocab) : std::vector<std::string>(); });
    broadcast_strings(comm, corpus.vocabulary);
    hash = hash_of(corpus.vocabulary);
  } else if (options.tokenizer != TokenizerKind::bytes) {
    corpus.vocabulary = build_vocabulary(comm, corpus);
    corpus.vocabulary_built = true;
    hash = "built";
  }
  corpus.tokenizer = collective(comm, "making the tokenizer", [&] {
    try {
      return make_tokenizer(options.tokenizer, corpus.vocabulary, model);
    } catch (const Error& error) {
      throw Error(fmt::format("the vocabulary --vocab {}: {}", options.vocab, error.what()), error.kind());
    }
  });
  return hash;
}

std::vector<std::string> fingerprint(const Corpus& corpus, const std::string& vocabulary, std::vector<std::string> file_lines) {
  const CorpusOptions& options = corpus.options;
  std::vector<std::string> lines{fmt::format("format={}", name_of(options.format))};
  if (!holds_tokens(options.format)) {
    // A JSONL field is known by its name, a TSV column by its number, however it was given.
    const std::string column = options.format == Format::jsonl ? options.column : std::to_string(corpus.files.front().column);
    lines.insert(lines.end(), {fmt::format("tokenizer={}", name_of(options.tokenizer)), fmt::format("column={}", column),
                               fmt::format("header={}", options.header ? "on" : "off")});
  }
  lines.push_back(fmt::format("max_tokens={}", options.max_tokens));
  if (!holds_tokens(options.format)) lines.push_back(fmt::format("vocab={}", vocabulary));
  for (std::vector<std::string> more : {token_fingerprint_lines(corpus), std::move(file_lines)})
    lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return lines;
}

/// **Collective.** One rank looks, the others are told: a thousand ranks would otherwise ask the file system the same questions at once.
Survey survey_on_root(const Communicator& comm, const CorpusOptions& options) {
  std::vector<std::string> findings = collective(comm, "opening the corpus", [&] {
    check_options(options);
    return comm.is_root() ? to_strings(survey(options)) : std::vector<std::string>();
  });
  broadcast_strings(comm, findings);
  return from_strings(findings);
}

}  // namespace

Index text_vocab_size(const CorpusOptions& options, Index own) {
  const Index asked = options.vocab_size;
  if (asked > 0 && asked < own) {
    throw Error(
        fmt::format("--vocab-size {} is less than the {} entries of the vocabulary of --tokenizer {}; give at least {}, or leave "
                    "--vocab-size out",
                    asked, own, name_of(options.tokenizer), own));
  }
  const Index size = std::max(asked, own);
  for (const Index id : options.ignored_ids) {
    if (id >= 0 && id < size) continue;
    throw Error(fmt::format("--ignore-ids {}: there is no such id; --tokenizer {} gives the ids 0 to {}", id, name_of(options.tokenizer),
                            size - 1));
  }
  return size;
}

bool builds_vocabulary(const CorpusOptions& options) {
  const bool can = options.tokenizer == TokenizerKind::whitespace || options.tokenizer == TokenizerKind::chars;
  return can && options.vocab.empty() && !holds_tokens(options.format);
}

Index vocab_size_without_files(const Communicator& comm, const CorpusOptions& options) {
  collective(comm, "reading the options of the corpus", [&] { check_options(options); });
  if (holds_tokens(options.format) || builds_vocabulary(options)) return options.vocab_size;
  Corpus none;
  none.options = options;
  set_tokenizer(comm, none);
  return collective(comm, "reading the vocabulary", [&] { return text_vocab_size(options, none.tokenizer->vocab_size()); });
}

Format resolve_format(const Communicator& comm, const CorpusOptions& options) {
  // A survey reads whole indices of token files: none is made for what is known.
  return options.format == Format::automatic ? survey_on_root(comm, options).format : options.format;
}

Corpus open_corpus(const Communicator& comm, const CorpusOptions& options) {
  Survey found = survey_on_root(comm, options);

  Corpus corpus;
  corpus.options = options;
  corpus.options.format = found.format;
  corpus.files = std::move(found.files);
  collective(comm, "opening the corpus", [&] {
    for (const CorpusFile& file : corpus.files) check_readable(file);
  });
  const bool tokens = holds_tokens(found.format);
  const std::string vocabulary = tokens ? "none" : set_tokenizer(comm, corpus);
  collective(comm, "opening the corpus", [&] {
    corpus.vocab_size = tokens ? resolve_vocab_size(corpus.options, found.format, corpus.files)
                               : text_vocab_size(corpus.options, corpus.tokenizer->vocab_size());
    if (tokens) corpus.separator = resolve_separator(corpus.options, found.format, corpus.files, corpus.vocab_size);
    corpus.fingerprint_lines = fingerprint(corpus, vocabulary, std::move(found.fingerprint_lines));
  });
  return corpus;
}

}  // namespace posgeom
