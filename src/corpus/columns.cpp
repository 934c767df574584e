// Which columns of a TSV corpus are read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "corpus/record_reader.hpp"
#include "corpus/survey.hpp"
#include "corpus/unicode.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

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

/// The column's number, from its name in a header line (`columns`, empty without a header) or from its digits. `option`: its name in
/// errors.
int resolve_column(const CorpusOptions& options, std::string_view option, const std::string& wanted, const std::string& path,
                   const std::vector<std::string>& columns) {
  if (is_number(wanted)) {
    int number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error != std::errc() || (options.header && number >= std::ssize(columns))) {
      throw Error(fmt::format("{}{} (counted from 0) does not exist in {}; {}", option, wanted, path,
                              columns.empty() ? "the number is too large" : "its columns are " + listed(columns)));
    }
    return number;
  }
  if (!options.header) {
    throw Error(fmt::format("{}{} is a name, but without --header no line names the columns; add --header, or give a number from 0", option,
                            wanted),
                ErrorKind::usage);
  }
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  if (found == columns.end())
    throw Error(fmt::format("{}{} is not in the header of {}, whose columns are {}", option, wanted, path, listed(columns)));
  if (std::find(found + 1, columns.end(), wanted) != columns.end()) {
    throw Error(fmt::format("{}{} stands more than once in the header of {}, whose columns are {}; give a number", option, wanted, path,
                            listed(columns)));
  }
  return static_cast<int>(found - columns.begin());
}

}  // namespace

std::string suspected_header(const Corpus& corpus) {
  static constexpr std::array<std::string_view, 12> usual = {"text",  "sentence", "sentence1", "review",  "content", "document",
                                                             "label", "labels",   "id",        "comment", "title",   "body"};
  if (corpus.options.format != Format::tsv || corpus.options.header || corpus.files.empty()) return {};
  const std::vector<std::string> columns = header_of(corpus.files.front());
  const bool named = std::any_of(columns.begin(), columns.end(),
                                 [](const std::string& column) { return std::find(usual.begin(), usual.end(), column) != usual.end(); });
  return named ? listed(columns) : std::string();
}

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
  const std::string& path = files.front().path;
  const int column = resolve_column(options, "--column ", options.column, path, columns);
  const int split = options.split_column.empty() ? -1 : resolve_column(options, "--split-by column:", options.split_column, path, columns);
  for (CorpusFile& file : files) {
    file.column = column;
    file.split_column = split;
  }
}

}  // namespace posgeom
