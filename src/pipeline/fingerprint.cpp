#include "posgeom/pipeline/fingerprint.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <set>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

std::string key_of(const std::string& line) { return line.substr(0, line.find('=')); }

/// A value for a message: what a line leaves out where it is the default is part of what to give to go on.
std::string value_in_words(const std::string& key, const std::string& value) {
  if (value.empty()) return "(nothing)";
  const bool unweighted = key == "encoding.smacof" && value.find("smacof-weights") == std::string::npos;
  return unweighted ? value + ", smacof-weights none" : value;
}

}  // namespace

std::string join_lines(const FingerprintLines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

FingerprintLines split_lines(const std::string& text) {
  FingerprintLines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string fingerprint(const FingerprintLines& lines) {
  const std::string text = join_lines(lines);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string line_value(const FingerprintLines& lines, const std::string& key) {
  for (const std::string& line : lines) {
    if (line.size() > key.size() && line[key.size()] == '=' && line.compare(0, key.size(), key) == 0) return line.substr(key.size() + 1);
  }
  return {};
}

std::string first_difference(const FingerprintLines& there, const FingerprintLines& now) {
  std::set<std::string> keys;
  for (const std::string& line : there) keys.insert(key_of(line));
  for (const std::string& line : now) keys.insert(key_of(line));
  for (const std::string& key : keys) {
    const std::string old_value = line_value(there, key);
    const std::string new_value = line_value(now, key);
    const bool addition = key.starts_with("encoding.") || key.starts_with("noise.");
    const bool optional = addition && (old_value.empty() || new_value.empty());
    if (old_value != new_value && !optional) {
      return fmt::format("{} = {} there, {} now", key, value_in_words(key, old_value), value_in_words(key, new_value));
    }
  }
  return {};
}

void require_same(const std::string& path, const FingerprintLines& there, const FingerprintLines& now, const std::string& advice) {
  const std::string difference = first_difference(there, now);
  if (!difference.empty()) throw Error(fmt::format("{} was made from something else ({}); {}", path, difference, advice));
}

void keep_additions(FingerprintLines& lines, const FingerprintLines& there, std::string_view prefix) {
  for (const std::string& line : there) {
    if (line.starts_with(prefix) && line_value(lines, key_of(line)).empty()) lines.push_back(line);
  }
}

std::optional<Provenance> provenance_to_reuse(const Communicator& comm, const std::string& path) {
  try {
    return read_provenance(comm, path);
  } catch (const CollectiveError& error) {
    throw CollectiveError(fmt::format("{}; it cannot be reused: --force makes it anew", error.what()), error.kind(), error.rank());
  }
}

std::optional<FingerprintLines> reusable_lines(const Communicator& comm, const std::string& path, const FingerprintLines& now, bool force,
                                               bool resume) {
  if (force) return std::nullopt;
  const std::optional<Provenance> provenance = provenance_to_reuse(comm, path);
  if (!provenance) return std::nullopt;
  return collective(comm, "comparing " + path + " with this run", [&] {
    if (!resume) throw Error(fmt::format("{} exists already; give --force to replace it, or another --out", path));
    FingerprintLines there = split_lines(provenance->fingerprint_lines);
    require_same(path, there, now, keep_or_replace);
    return std::optional(std::move(there));
  });
}

}  // namespace posgeom
