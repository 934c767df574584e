#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "posgeom/mpi/collective.hpp"
#include "support/world.hpp"

namespace posgeom {

/// Equal to the bit, NaN included.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Entry (i, j) = i + j / 4 - 1 of an encoding file, which all widths hold exactly for small i and j.
inline double quarter_entry(Index i, Index j) { return static_cast<double>(i) + static_cast<double>(j) / 4 - 1; }

/// **Collective.** A folder of its own for one test, the same on every rank, removed at the end.
class Scratch {
 public:
  Scratch() {
    if (world().is_root()) {
      std::string name = (std::filesystem::temp_directory_path() / "posgeom-io-XXXXXX").string();
      folder_ = mkdtemp(name.data());
    }
    broadcast_resized(world(), folder_);
  }
  ~Scratch() {
    barrier(world());
    if (world().is_root()) std::filesystem::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// **Collective.** What is in the folder now.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    barrier(world());  // nobody goes on to change it
    return all;
  }

 private:
  std::string folder_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// **Collective.** The root puts `bytes` into a file.
inline void put_bytes(const std::string& path, const std::string& bytes) {
  if (world().is_root()) std::ofstream(path, std::ios::binary) << bytes;
  barrier(world());
}

/// **Collective.** Runs `action`, which must throw the same one line on every rank, with all of `parts` in it. Returns the line.
inline std::string expect_error(const std::function<void()>& action, const std::vector<std::string>& parts) {
  std::string text;
  try {
    action();
  } catch (const CollectiveError& error) {
    text = error.what();
  }
  EXPECT_FALSE(text.empty()) << "nothing was thrown";
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
  std::string of_root = text;
  broadcast_resized(world(), of_root);
  EXPECT_EQ(text, of_root);
  return text;
}

}  // namespace posgeom
