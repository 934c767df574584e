#include "corpus/survey.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "corpus/paths.hpp"
#include "corpus/record_reader.hpp"
#include "corpus/sniff.hpp"
#include "corpus/unicode.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index sample_bytes = Index{64} * 1024;

Index size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) throw Error(fmt::format("the corpus file {}: {}", path, error.message()));
  return static_cast<Index>(bytes);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string listed(const std::vector<std::string>& columns) {
  std::string list;
  for (std::size_t k = 0; k < columns.size() && k < 20; ++k) list += fmt::format("{}{} '{}'", k == 0 ? "" : ", ", k, printable(columns[k]));
  return list + (columns.size() > 20 ? fmt::format(" and {} more", columns.size() - 20) : "");
}

std::vector<std::string> header_of(const CorpusFile& file) {
  const std::string line = first_line(file);
  std::vector<std::string> columns;
  for (const std::string_view column : split_columns(line)) columns.emplace_back(column);
  return columns;
}

/// Resolves the column of every file; all headers must be the same.
void resolve_columns(const CorpusOptions& options, const std::vector<bool>& empty, std::vector<CorpusFile>& files) {
  std::vector<std::string> columns;
  const CorpusFile* first = nullptr;
  for (std::size_t k = 0; k < files.size() && options.header; ++k) {
    if (empty[k]) continue;
    const std::vector<std::string> here = header_of(files[k]);
    if (first == nullptr) {
      first = &files[k];
      columns = here;
    } else if (here != columns) {
      throw Error(
          fmt::format("the header lines of {} (columns {}) and {} (columns {}) differ; all files of a corpus must have the same columns",
                      first->path, listed(columns), files[k].path, listed(here)));
    }
  }
  if (options.header && first == nullptr) throw Error(fmt::format("--header: the corpus ({}) holds no line at all", files.front().path));
  const int column = resolve_column(options, files.front().path, columns);
  for (CorpusFile& file : files) file.column = column;
}

}  // namespace

void check_options(const CorpusOptions& options) {
  if (options.max_tokens < 0)
    throw Error(fmt::format("--max-tokens {} is negative; give a number of tokens, or 0 for all", options.max_tokens), ErrorKind::usage);
  if (options.tokenizer == TokenizerKind::wordpiece && options.vocab.empty()) {
    throw Error("--tokenizer wordpiece needs --vocab FILE (a BERT vocab.txt, one entry a line)", ErrorKind::usage);
  }
  if (options.tokenizer == TokenizerKind::bytes && !options.vocab.empty()) {
    throw Error(fmt::format("--vocab {}: --tokenizer bytes has the 256 bytes as its vocabulary; leave --vocab out", options.vocab),
                ErrorKind::usage);
  }
  if (options.column.empty()) throw Error("--column is empty; give a name (with --header) or a number from 0", ErrorKind::usage);
}

int resolve_column(const CorpusOptions& options, const std::string& path, const std::vector<std::string>& columns) {
  if (is_number(options.column)) {
    int number = 0;
    const auto [end, error] = std::from_chars(options.column.data(), options.column.data() + options.column.size(), number);
    if (error != std::errc() || (options.header && number >= std::ssize(columns))) {
      throw Error(fmt::format("--column {} (counted from 0) does not exist in {}; {}", options.column, path,
                              columns.empty() ? "the number is too large" : "its columns are " + listed(columns)));
    }
    return number;
  }
  if (!options.header) {
    throw Error(fmt::format("--column {} is a name, but without --header no line names the columns; add --header, or give a number from 0",
                            options.column),
                ErrorKind::usage);
  }
  const auto found = std::find(columns.begin(), columns.end(), options.column);
  if (found == columns.end())
    throw Error(fmt::format("--column {} is not in the header of {}, whose columns are {}", options.column, path, listed(columns)));
  if (std::find(found + 1, columns.end(), options.column) != columns.end()) {
    throw Error(fmt::format("--column {} stands more than once in the header of {}, whose columns are {}; give a number", options.column,
                            path, listed(columns)));
  }
  return static_cast<int>(found - columns.begin());
}

Survey survey(const CorpusOptions& options) {
  Survey result;
  result.format = options.format;
  std::vector<bool> empty;
  std::string first_path;  // of the file that settled an automatic format
  for (const std::string& path : expand_paths(options.paths)) {
    CorpusFile file{path, size_of(path), is_compressed(path)};
    const std::string head = head_of(file, sample_bytes);
    refuse_binary(path, head);
    const Format format = options.format == Format::automatic ? sniff_format(path, head) : options.format;
    if (format != Format::automatic && result.format == Format::automatic) {
      result.format = format;
      first_path = path;
    } else if (format != Format::automatic && format != result.format) {
      throw Error(fmt::format("the corpus mixes formats: {} looks like {}, {} like {}; say --format, or read them one by one", first_path,
                              name_of(result.format), path, name_of(format)));
    }
    empty.push_back(head.empty());
    result.fingerprint_lines.push_back(fmt::format("file.{}={}", result.files.size(), fingerprint_of(file)));
    result.files.push_back(std::move(file));
  }
  if (result.format == Format::automatic) result.format = Format::text;
  if (result.format == Format::tsv) {
    resolve_columns(options, empty, result.files);
  } else if (options.header || options.column != "0") {
    throw Error(fmt::format("{} is for tsv, but the corpus ({}) is {}; say --format tsv where it is one, or leave {} out",
                            options.header ? "--header" : "--column", result.files.front().path, name_of(result.format),
                            options.header ? "--header" : "--column"));
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
  std::vector<std::string> strings{std::string(name_of(survey.format))};
  for (std::size_t k = 0; k < survey.files.size(); ++k) {
    const CorpusFile& file = survey.files[k];
    strings.insert(strings.end(), {file.path, std::to_string(file.bytes), file.compressed ? "1" : "0", std::to_string(file.column),
                                   survey.fingerprint_lines[k]});
  }
  return strings;
}

Survey from_strings(const std::vector<std::string>& strings) {
  Survey result;
  result.format = format_named(strings.at(0));
  for (std::size_t k = 1; k + 4 < strings.size(); k += 5) {
    result.files.push_back({strings[k], std::stoll(strings[k + 1]), strings[k + 2] == "1", std::stoi(strings[k + 3])});
    result.fingerprint_lines.push_back(strings[k + 4]);
  }
  return result;
}

}  // namespace posgeom
