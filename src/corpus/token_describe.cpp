// What a token file says of itself, for people.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "corpus/id_check.hpp"
#include "corpus/paths.hpp"
#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// The one file that a path stands for.
CorpusFile file_named(const std::string& path) {
  const std::vector<CorpusPath> paths = expand_paths({path}, Format::automatic);
  if (paths.size() != 1) throw Error(fmt::format("{} stands for {} files; name one of them", path, paths.size()));
  CorpusFile file{paths.front().path, size_on_disk(paths.front().path)};
  file.dataset = paths.front().dataset;
  file.offsets_dataset = paths.front().offsets_dataset;
  return file;
}

std::string rule_of(Format format, const CorpusFile& file) {
  if (format == Format::infinigram) return "an id of all ones begins each document";
  if (format == Format::llmc) return fmt::format("id {} begins each document", file.width == 2 ? 50256 : 128000);
  if (file.document_count >= 0) return "the index or shape alone";
  const bool has_rule = format == Format::raw16 || format == Format::raw32 || (format == Format::npy && file.data_offset == 0);
  if (!has_rule) return "none without --separator: the whole file is one document";
  return "50256 ends each document where V is 50257 or 50304, else none";
}

/// An HDF5 file of which no data set is named.
bool is_whole_hdf5(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && sniff_token_format({path}) == Format::hdf5;
}

}  // namespace

bool is_token_file(const std::string& path) {
  try {
    if (is_whole_hdf5(path)) return false;  // its data sets may hold ids; it may be a file of ours as well
    return sniff_token_format(file_named(path)) != Format::automatic;
  } catch (const Error&) {
    // Refusals are of token files alone, but for files that are not there.
    std::vector<CorpusPath> paths;
    try {
      paths = expand_paths({path}, Format::text);
    } catch (const Error&) {
      return false;
    }
    return paths.size() == 1;
  }
}

std::vector<std::pair<std::string, std::string>> describe_token_file(const std::string& path) {
  CorpusFile file = file_named(path);
  const Format format = sniff_token_format(file);
  if (format == Format::automatic) throw Error(fmt::format("{} is no token file, by its content or its name", path));
  read_token_layout(format, file);
  std::vector<std::pair<std::string, std::string>> lines{{"format", std::string(name_of(format))}, {"file", name_in_errors(file)}};
  if (!file.index_path.empty()) lines.push_back({"index", file.index_path});
  if (!file.offsets_dataset.empty()) lines.push_back({"offsets", file.offsets_dataset});
  lines.push_back({"bytes", std::to_string(file.bytes)});
  lines.push_back({"ids", fmt::format("{} of {} bits{}", file.token_count, 8 * file.width, file.is_signed ? ", signed" : "")});
  if (format == Format::npy && file.data_offset == 0) lines.push_back({"header", "none: read as 16-bit ids"});
  if (file.row_length > 0) lines.push_back({"shape", fmt::format("{} rows of {}", file.document_count, file.row_length)});
  lines.push_back({"documents", file.document_count >= 0 ? std::to_string(file.document_count) : "told apart by separators"});
  lines.push_back({"separator", rule_of(format, file)});
  if (format == Format::llmc) lines.push_back({"vocab_size", file.width == 2 ? "50257" : "128256"});

  const auto ids = open_ids(file);
  const Index sampled = std::min(file.token_count, Index{8192} / file.width);
  std::string first;
  for (Index k = 0; k < std::min(sampled, Index{10}); ++k) first += fmt::format("{}{}", k == 0 ? "" : " ", stored_id(*ids, file, k));
  lines.push_back({"first ids", first.empty() ? "none" : first});
  return lines;
}

}  // namespace posgeom
