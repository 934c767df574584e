#include "corpus/paths.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

namespace fs = std::filesystem;

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

std::vector<std::string> expand(const std::string& path) {
  if (path.empty()) throw Error("--corpus names an empty path; give a file, a directory or a glob", ErrorKind::usage);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return files_in(path);
  if (fs::is_regular_file(status)) return {path};
  if (fs::exists(status)) {
    throw Error(fmt::format(
        "the corpus {} is not a regular file; pipes and devices cannot be read by several ranks: write it to a file first", path));
  }
  if (path.find_first_of("*?[") != std::string::npos) return files_matching(path);
  throw Error(fmt::format("the corpus {}: {}", path, error ? error.message() : "no such file or directory"));
}

}  // namespace

std::vector<std::string> expand_paths(const std::vector<std::string>& paths) {
  if (paths.empty()) throw Error("no corpus was given; name its files with --corpus PATH (files, directories, globs)", ErrorKind::usage);
  std::vector<std::string> files;
  std::map<fs::path, std::string> seen;
  for (const std::string& path : paths) {
    for (std::string& file : expand(path)) {
      std::error_code error;
      fs::path canonical = fs::canonical(file, error);
      if (error) throw Error(fmt::format("the corpus file {}: {}", file, error.message()));
      const auto [place, inserted] = seen.try_emplace(std::move(canonical), file);
      if (!inserted) {
        throw Error(fmt::format("the corpus file {} is named twice (also as {}); its documents would count double: name it once", file,
                                place->second));
      }
      files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace posgeom
