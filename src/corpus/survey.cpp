#include "corpus/survey.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "corpus/paths.hpp"
#include "corpus/sniff.hpp"
#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index sample_bytes = Index{64} * 1024;

}  // namespace

void check_options(const CorpusOptions& options) {
  if (options.max_tokens < 0)
    throw Error(fmt::format("--max-tokens {} is negative; give a number of tokens, or 0 for all", options.max_tokens), ErrorKind::usage);
  constexpr Index ids = Index{1} << 32;  // that a file of 32-bit ids can hold
  if (options.vocab_size < 0 || options.vocab_size > ids / 2 - 1) {
    throw Error(fmt::format("--vocab-size {} cannot be; give the number of ids, 1 to {}", options.vocab_size, ids / 2 - 1),
                ErrorKind::usage);
  }
  const bool separator_given = options.separator.choice == Separator::Choice::given;
  if (separator_given && (options.separator.id < 0 || options.separator.id >= ids)) {
    throw Error(fmt::format("--separator {} is no id; give one from 0 to {}, or none", options.separator.id, ids - 1), ErrorKind::usage);
  }
  if (options.keep_separator && options.separator.choice == Separator::Choice::none) {
    throw Error("--keep-separator: there is none to keep with --separator none; leave one of the two out", ErrorKind::usage);
  }
  for (const Index id : options.ignored_ids) {
    if (id < 0 || id >= ids) throw Error(fmt::format("--ignore-ids {} is no id; give ids from 0 to {}", id, ids - 1), ErrorKind::usage);
  }
  if (options.tokenizer == TokenizerKind::sentencepiece && options.vocab.empty()) {
    throw Error("--tokenizer sentencepiece needs --vocab FILE (the .model that SentencePiece made)", ErrorKind::usage);
  }
  if (options.tokenizer == TokenizerKind::wordpiece && options.vocab.empty()) {
    throw Error("--tokenizer wordpiece needs --vocab FILE (a BERT vocab.txt, one entry a line)", ErrorKind::usage);
  }
  if (options.tokenizer == TokenizerKind::bytes && !options.vocab.empty()) {
    throw Error(fmt::format("--vocab {}: --tokenizer bytes has the 256 bytes as its vocabulary; leave --vocab out", options.vocab),
                ErrorKind::usage);
  }
  if (options.column.empty()) throw Error("--column is empty; give a name (with --header) or a number from 0", ErrorKind::usage);
}

namespace {

/// A file of text: its format, automatic where it says nothing because it is empty.
Format look_into_text(const CorpusOptions& options, CorpusFile& file, std::vector<bool>& empty) {
  file.compressed = is_compressed(file.path);
  const std::string head = head_of(file, sample_bytes);
  refuse_binary(file.path, head);
  empty.push_back(head.empty());
  return options.format == Format::automatic ? sniff_format(file.path, head) : options.format;
}

Format look_into(const CorpusOptions& options, CorpusFile& file, std::vector<bool>& empty) {
  if (options.format != Format::automatic) {
    return holds_tokens(options.format) ? options.format : look_into_text(options, file, empty);
  }
  const Format format = sniff_token_format(file);
  return format == Format::automatic ? look_into_text(options, file, empty) : format;
}

/// What only one kind of format takes.
void check_format_options(const CorpusOptions& options, Format format, const std::string& path) {
  if (holds_tokens(format)) return check_token_options(options, format, path);
  const auto refuse = [&](std::string_view option, std::string_view is_for, std::string_view advice) {
    throw Error(
        fmt::format("{} is for {}, but the corpus ({}) is {}; {}leave {} out", option, is_for, path, name_of(format), advice, option));
  };
  const bool tsv = format == Format::tsv, jsonl = format == Format::jsonl;
  constexpr std::string_view is_tsv = "say --format tsv where it is one, or ",
                             is_tokens = "say --format raw16 or the like where it is one, or ";
  if (options.header && !tsv) refuse("--header", "tsv", is_tsv);
  if (options.column != "0" && !tsv && !jsonl) refuse("--column", "tsv and jsonl", is_tsv);
  if (!options.split_column.empty() && !tsv && !jsonl) refuse("--split-by column", "tsv and jsonl", is_tsv);
  if (options.separator.choice != Separator::Choice::by_format) refuse("--separator", "token files", is_tokens);
  if (options.keep_separator) refuse("--keep-separator", "token files", is_tokens);
}

}  // namespace

Survey survey(const CorpusOptions& options) {
  Survey result;
  result.format = options.format;
  std::vector<bool> empty;
  std::string first_path;  // of the file that settled an automatic format
  for (CorpusPath& path : expand_paths(options.paths, options.format)) {
    CorpusFile file{path.path, size_on_disk(path.path)};
    file.dataset = std::move(path.dataset);
    file.offsets_dataset = std::move(path.offsets_dataset);
    const Format format = look_into(options, file, empty);
    if (format != Format::automatic && result.format == Format::automatic) {
      result.format = format;
      first_path = file.path;
    } else if (format != Format::automatic && format != result.format) {
      throw Error(
          fmt::format("the corpus mixes formats: {} looks like {}, {} like {}; name the files that belong together, with a glob such as "
                      "'DIR/*.bin', or say --format",
                      first_path, name_of(result.format), file.path, name_of(format)));
    }
    result.files.push_back(std::move(file));
  }
  if (result.format == Format::automatic) result.format = Format::text;
  check_format_options(options, result.format, result.files.front().path);
  if (result.format == Format::tsv) resolve_columns(options, empty, result.files);
  for (std::size_t k = 0; k < result.files.size(); ++k) {
    CorpusFile& file = result.files[k];
    std::vector<std::string> lines;
    if (holds_tokens(result.format)) {
      read_token_layout(result.format, file);
      lines = token_file_lines(file, k);
    } else {
      lines.push_back(fmt::format("file.{}={}", k, fingerprint_of(file)));
    }
    result.fingerprint_lines.insert(result.fingerprint_lines.end(), lines.begin(), lines.end());
  }
  if (holds_tokens(result.format)) {
    const Index vocab_size = resolve_vocab_size(options, result.format, result.files);
    for (const CorpusFile& file : result.files) check_first_ids(result.format, file, vocab_size);
  }
  return result;
}

std::string fingerprint_of(const CorpusFile& file) {
  const InputFile input(file.path);
  std::string sample(static_cast<std::size_t>(sample_bytes), '\0');
  std::string samples;
  for (const Index offset :
       {Index{0}, std::max((file.bytes - sample_bytes) / 2, Index{0}), std::max(file.bytes - sample_bytes, Index{0})}) {
    samples.append(sample.data(), static_cast<std::size_t>(input.read_at(offset, sample)));
  }
  return fmt::format("{}:{}:{:016x}", std::filesystem::path(file.path).filename().string(), file.bytes,
                     XXH3_64bits(samples.data(), samples.size()));
}

std::vector<std::string> to_strings(const Survey& survey) {
  std::vector<std::string> strings{std::string(name_of(survey.format)), std::to_string(survey.files.size())};
  for (const CorpusFile& file : survey.files) {
    strings.insert(strings.end(), {file.path, file.index_path, file.dataset, file.offsets_dataset});
    for (const Index number : {file.bytes, Index{file.compressed}, Index{file.column}, Index{file.split_column}, Index{file.width},
                               Index{file.is_signed}, file.data_offset, file.token_count, file.document_count, file.row_length}) {
      strings.push_back(std::to_string(number));
    }
  }
  strings.insert(strings.end(), survey.fingerprint_lines.begin(), survey.fingerprint_lines.end());
  return strings;
}

Survey from_strings(const std::vector<std::string>& strings) {
  std::size_t next = 0;
  const auto text = [&] { return strings.at(next++); };
  const auto number = [&] { return static_cast<Index>(std::stoll(strings.at(next++))); };
  Survey result;
  result.format = format_named(text());
  for (Index left = number(); left > 0; --left) {
    CorpusFile& file = result.files.emplace_back();
    file.path = text();
    file.index_path = text();
    file.dataset = text();
    file.offsets_dataset = text();
    file.bytes = number();
    file.compressed = number() != 0;
    file.column = static_cast<int>(number());
    file.split_column = static_cast<int>(number());
    file.width = static_cast<int>(number());
    file.is_signed = number() != 0;
    file.data_offset = number();
    file.token_count = number();
    file.document_count = number();
    file.row_length = number();
  }
  while (next < strings.size()) result.fingerprint_lines.push_back(text());
  return result;
}

}  // namespace posgeom
