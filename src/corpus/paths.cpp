#include "corpus/paths.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->path().filename().native().starts_with('.') && is_regular(entry->path())) files.push_back(entry->path().native());
  }
  if (error) throw Error(fmt::format("listing the corpus directory {}: {}", directory, error.message()));
  if (files.empty()) {
    throw Error(
        fmt::format("the corpus directory {} holds no regular file (hidden ones and sub-directories are not read); give files, a directory "
                    "with files or a "
                    "glob such as '{}/*/*.txt'",
                    directory, directory));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_matching(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files;
  if (result == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::erase_if(files, [](const std::string& file) { return !is_regular(file); });
  if (files.empty()) throw Error(fmt::format("no file matches --corpus '{}'; check the pattern and the working directory", pattern));
  std::sort(files.begin(), files.end());
  return files;
}

bool is_text(Format format) { return format != Format::automatic && !holds_tokens(format); }

std::vector<std::string> expand(const std::string& path, Format format) {
  if (path.empty()) throw Error("--corpus names an empty path; give a file, a directory or a glob", ErrorKind::usage);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return files_in(path);
  if (fs::is_regular_file(status)) return {path};
  if (fs::exists(status)) {
    throw Error(fmt::format(
        "the corpus {} is not a regular file; pipes and devices cannot be read by several ranks: write it to a file first", path));
  }
  for (const std::string_view end : {".bin"sv, ".idx"sv}) {
    std::string member = fmt::format("{}{}", path, end);
    if (!is_text(format) && is_regular(member)) return {std::move(member)};
  }
  if (path.find_first_of("*?[") != std::string::npos) return files_matching(path);
  throw Error(fmt::format("the corpus {}: {}", path, error ? error.message() : "no such file or directory"));
}

/// FILE, FILE:/dataset or FILE:/dataset:/offsets, where FILE is what expand() takes.
CorpusPath split_path(const std::string& path, Format format) {
  std::error_code ignored;
  const std::size_t colon = path.find(":/");
  if (colon == std::string::npos || colon == 0 || is_text(format) || fs::exists(path, ignored)) return {path, {}, {}};
  CorpusPath split{path.substr(0, colon), path.substr(colon + 1), {}};
  if (!fs::exists(split.path, ignored) && split.path.find_first_of("*?[") == std::string::npos) return {path, {}, {}};
  if (const std::size_t second = split.dataset.find(":/"); second != std::string::npos) {
    split.offsets_dataset = split.dataset.substr(second + 1);
    split.dataset.resize(second);
  }
  return split;
}

/// The K of STEM.K, where it is a number.
std::optional<std::string> number_after(std::string_view stem, std::string_view name) {
  if (!name.starts_with(stem) || name.size() < stem.size() + 2 || name[stem.size()] != '.') return {};
  const std::string_view number = name.substr(stem.size() + 1);
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::optional(std::string(number)) : std::nullopt;
}

bool holds_bin(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == ".bin") return true;
  }
  return false;
}

/// The token file that a file belongs to by its name; itself where it belongs to none; nothing where it is to be passed over.
std::optional<std::string> data_file_of(const std::string& path) {
  for (const std::string_view end : {".ds.index"sv, ".ds.metadata"sv, ".ds.loss"sv, ".idx"sv}) {
    if (!path.ends_with(end)) continue;
    const bool megatron = end == ".idx"sv;
    const std::string data = path.substr(0, path.size() - end.size()) + (megatron ? ".bin" : ".ds");
    if (is_regular(data)) return data;
    throw Error(fmt::format("the index {} has no {} beside it, which holds its ids; copy it there, or leave the index out of the corpus",
                            path, data));
  }
  const fs::path name = fs::path(path).filename();
  for (const std::string_view stem : {"offset"sv, "metadata"sv, "metaoff"sv, "table"sv}) {
    const auto number = number_after(stem, name.native());
    if (!number) continue;
    const std::string data = (fs::path(path).parent_path() / ("tokenized." + *number)).native();
    if (is_regular(data)) return data;
  }
  if (name == "meta.pkl" && holds_bin(fs::path(path).parent_path())) return {};
  return path;
}

}  // namespace

std::string lower_extension(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool is_infinigram_name(const std::string& path) { return number_after("tokenized", fs::path(path).filename().native()).has_value(); }

std::string companion_index(const std::string& path) {
  if (path.ends_with(".bin")) return path.substr(0, path.size() - 4) + ".idx";
  if (path.ends_with(".ds")) return path + ".index";
  const fs::path whole(path);
  const auto number = number_after("tokenized", whole.filename().native());
  return number ? (whole.parent_path() / ("offset." + *number)).native() : std::string();
}

std::vector<CorpusPath> expand_paths(const std::vector<std::string>& paths, Format format) {
  if (paths.empty()) throw Error("no corpus was given; name its files with --corpus PATH (files, directories, globs)", ErrorKind::usage);
  struct Place {
    std::string named;
    bool by_companion;  ///< only a file that belongs to it was named so far
  };
  std::vector<CorpusPath> files;
  std::map<std::pair<fs::path, std::string>, Place> seen;
  for (const std::string& path : paths) {
    const CorpusPath split = split_path(path, format);
    for (const std::string& file : expand(split.path, format)) {
      const std::optional<std::string> data = is_text(format) ? file : data_file_of(file);
      if (!data) continue;
      std::error_code error;
      fs::path canonical = fs::canonical(*data, error);
      if (error) throw Error(fmt::format("the corpus file {}: {}", *data, error.message()));
      const bool by_companion = *data != file;
      const auto [place, inserted] = seen.try_emplace({std::move(canonical), split.dataset}, Place{file, by_companion});
      if (inserted) {
        files.push_back({*data, split.dataset, split.offsets_dataset});
      } else if (!by_companion && !place->second.by_companion) {
        throw Error(fmt::format("the corpus file {} is named twice (also as {}); its documents would count double: name it once", file,
                                place->second.named));
      } else {
        place->second.by_companion = place->second.by_companion && by_companion;
      }
    }
  }
  if (files.empty()) throw Error(fmt::format("the corpus {} holds no data file, only files that belong to one", paths.front()));
  return files;
}

}  // namespace posgeom
