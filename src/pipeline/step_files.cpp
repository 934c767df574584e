#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>

#include "pipeline/encoding_files.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// The numbers in a name, in order.
std::vector<std::int64_t> numbers_in(const std::string& name) {
  std::vector<std::int64_t> numbers;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto begin = std::ranges::find_if(name, is_digit); begin != name.end();) {
    const auto end = std::find_if_not(begin, name.end(), is_digit);
    std::int64_t number = 0;
    if (std::from_chars(&*begin, &*begin + (end - begin), number).ec == std::errc()) numbers.push_back(number);
    begin = std::find_if(end, name.end(), is_digit);
  }
  return numbers;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result != 0 || paths.empty())
    throw Error(fmt::format("no file matches '{}'; give a pattern of files, one a step, such as 'run/step-*.npy'", pattern));
  return paths;
}

}  // namespace

std::vector<StepFile> step_files(const std::string& pattern) {
  const std::vector<std::string> paths = matches(pattern);
  std::vector<std::vector<std::int64_t>> numbers;
  for (const std::string& path : paths) {
    numbers.push_back(numbers_in(path.substr(path.find_last_of('/') + 1)));
    if (numbers.back().empty())
      throw Error(fmt::format("'{}' matches {}, whose name has no number; the step's is expected", pattern, path));
  }
  // The first number that differs; among names of one number, or a single file, the last.
  const std::size_t common = std::ranges::min_element(numbers, {}, &std::vector<std::int64_t>::size)->size();
  std::size_t place = common - 1;
  for (std::size_t k = common; k-- > 0;) {
    if (std::ranges::any_of(numbers, [&](const auto& n) { return n[k] != numbers.front()[k]; })) place = k;
  }
  std::vector<StepFile> files;
  for (std::size_t f = 0; f < paths.size(); ++f) files.push_back({paths[f], numbers[f][place]});
  std::ranges::sort(files, {}, &StepFile::step);
  for (std::size_t f = 1; f < files.size(); ++f) {
    if (files[f].step != files[f - 1].step) continue;
    throw Error(fmt::format("'{}' matches {} and {}, both of step {}; one file a step is expected", pattern, files[f - 1].path,
                            files[f].path, files[f].step));
  }
  return files;
}

}  // namespace posgeom
