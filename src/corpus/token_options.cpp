// What the options mean for token files: V, separators, and what the fingerprint says of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "corpus/survey.hpp"
#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index gpt2 = 50257, padded_gpt2 = 50304, gpt2_end = 50256, llama3 = 128256, llama3_begin = 128000;
constexpr Index sample_bytes = Index{64} * 1024;

/// The id of all ones.
Index ones_of(int width) { return width == 2 ? 65535 : 4294967295; }

/// llm.c and infini-gram: what the width decides must be the same for the whole corpus.
void expect_one_width(Format format, const std::vector<CorpusFile>& files) {
  for (const CorpusFile& file : files) {
    if (file.width == files.front().width) continue;
    throw Error(
        fmt::format("the corpus mixes {} files of {}-bit ids ({}) and {}-bit ones ({}), which are of different tokenizers; read them one "
                    "by one",
                    name_of(format), 8 * files.front().width, files.front().path, 8 * file.width, file.path));
  }
}

std::string samples_of(const CorpusFile& file) {
  const auto ids = open_ids(file);
  const Index count = std::min(file.token_count, sample_bytes / file.width);
  std::string samples(static_cast<std::size_t>(3 * count * file.width), '\0');
  char* out = samples.data();
  for (const Index first : {Index{0}, (file.token_count - count) / 2, file.token_count - count}) {
    ids->read(first, count, out);
    out += count * file.width;
  }
  return samples;
}

}  // namespace

bool holds_tokens(Format format) {
  switch (format) {
    case Format::automatic:
    case Format::text:
    case Format::tsv:
    case Format::jsonl:
    case Format::fasta:
      return false;
    default:
      return true;
  }
}

void check_token_options(const CorpusOptions& options, Format format, const std::string& path) {
  const auto refuse = [&](std::string_view option, std::string_view why) {
    throw Error(fmt::format("{} is for text, but the corpus ({}) is {}, {}; leave {} out", option, path, name_of(format), why, option),
                ErrorKind::usage);
  };
  constexpr std::string_view ids = "which holds token ids already";
  if (options.tokenizer_given) refuse(fmt::format("--tokenizer {}", name_of(options.tokenizer)), ids);
  if (!options.vocab.empty()) refuse(fmt::format("--vocab {}", options.vocab), "whose ids need --vocab-size alone");
  if (options.header) refuse("--header", ids);
  if (options.column != "0") refuse(fmt::format("--column {}", options.column), "which has no columns");
  if (!options.split_column.empty()) refuse(fmt::format("--split-by column:{}", options.split_column), "which has no columns");
  if (options.vocab_size == 0 && format != Format::llmc) {
    throw Error(
        fmt::format("the corpus {} is {}, which does not say how many ids there are; give the tokenizer's number with --vocab-size V", path,
                    name_of(format)),
        ErrorKind::usage);
  }
  if (format == Format::infinigram && options.separator.choice == Separator::Choice::none) {
    throw Error(
        fmt::format("--separator none: in infinigram files such as {} an id of all ones stands before each document and is no token; leave "
                    "--separator out",
                    path),
        ErrorKind::usage);
  }
}

Index resolve_vocab_size(const CorpusOptions& options, Format format, const std::vector<CorpusFile>& files) {
  expects(!files.empty(), "files");
  if (format == Format::llmc || format == Format::infinigram) expect_one_width(format, files);
  if (options.vocab_size > 0) return options.vocab_size;
  check_token_options(options, format, files.front().path);
  return files.front().width == 2 ? gpt2 : llama3;
}

Index resolve_separator(const CorpusOptions& options, Format format, const std::vector<CorpusFile>& files, Index vocab_size) {
  expects(!files.empty(), "files");
  Index id = -1;
  const bool headerless = format == Format::npy && files.front().data_offset == 0;
  if (options.separator.choice == Separator::Choice::given) {
    id = options.separator.id;
  } else if (options.separator.choice == Separator::Choice::none) {
    return -1;
  } else if (format == Format::infinigram) {
    id = ones_of(files.front().width);
  } else if (format == Format::llmc) {
    id = files.front().width == 2 ? gpt2_end : llama3_begin;
  } else if (format == Format::raw16 || format == Format::raw32 || headerless) {
    if (vocab_size == gpt2 || vocab_size == padded_gpt2) id = gpt2_end;
  }
  const bool is_lead = format == Format::infinigram && id == ones_of(files.front().width);
  if (options.keep_separator && id >= vocab_size && !is_lead) {
    throw Error(
        fmt::format(
            "--keep-separator makes the separator {} a token, but V is {}; give a separator below it, or leave --keep-separator out", id,
            vocab_size),
        ErrorKind::usage);
  }
  return id;
}

std::vector<std::string> token_fingerprint_lines(const Corpus& corpus) {
  const CorpusOptions& options = corpus.options;
  std::vector<Index> ignored = options.ignored_ids;
  std::sort(ignored.begin(), ignored.end());
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
  const bool tokens = holds_tokens(options.format);
  std::vector<std::string> lines;
  if (tokens || options.vocab_size > 0) lines.push_back(fmt::format("vocab_size={}", corpus.vocab_size));
  if (tokens) {
    lines.push_back(fmt::format("separator={}", corpus.separator < 0 ? "none" : std::to_string(corpus.separator)));
    lines.push_back(fmt::format("keep_separator={}", options.keep_separator ? "on" : "off"));
  }
  if (tokens || !ignored.empty()) lines.push_back(fmt::format("ignore_ids={}", fmt::join(ignored, ",")));
  return lines;
}

std::vector<std::string> token_file_lines(const CorpusFile& file, std::size_t number) {
  std::vector<std::string> lines;
  if (file.dataset.empty()) {
    lines.push_back(fmt::format("file.{}={}", number, fingerprint_of(file)));
  } else {
    const std::string samples = samples_of(file);
    lines.push_back(fmt::format("file.{}={}:{}:{}:{:016x}", number, std::filesystem::path(file.path).filename().string(), file.dataset,
                                file.bytes, XXH3_64bits(samples.data(), samples.size())));
  }
  CorpusFile index;
  index.path = file.index_path;
  if (!file.index_path.empty()) {
    index.bytes = size_on_disk(index.path);
    lines.push_back(fmt::format("index.{}={}", number, fingerprint_of(index)));
  }
  if (!file.offsets_dataset.empty()) {
    index.path = file.path;
    index.dataset = file.offsets_dataset;
    index = layout_of_offsets(index);
    const std::string samples = samples_of(index);
    lines.push_back(fmt::format("index.{}={}:{}:{:016x}", number, index.dataset, index.bytes, XXH3_64bits(samples.data(), samples.size())));
  }
  return lines;
}

}  // namespace posgeom
