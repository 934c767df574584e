#include "token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "posgeom/error.hpp"
#include "posgeom/simd.hpp"

namespace posgeom::bench {
namespace {

/// Walker's alias method: a column of the table is chosen, then one of its two ids, with one random number.
struct AliasTable {
  std::vector<std::uint32_t> threshold;  ///< of 2^32
  std::vector<std::uint16_t> alias;

  explicit AliasTable(std::vector<double> weight) : threshold(weight.size()), alias(weight.size()) {
    double sum = 0;
    for (const double w : weight) sum += w;
    std::vector<std::size_t> below, above;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      weight[i] *= static_cast<double>(weight.size()) / sum;
      (weight[i] < 1 ? below : above).push_back(i);
    }
    while (!below.empty() && !above.empty()) {
      const std::size_t low = below.back();
      const std::size_t high = above.back();
      below.pop_back();
      threshold[low] = static_cast<std::uint32_t>(weight[low] * 4294967295.0);
      alias[low] = static_cast<std::uint16_t>(high);
      weight[high] -= 1 - weight[low];
      if (weight[high] >= 1) continue;
      above.pop_back();
      below.push_back(high);
    }
    for (const auto* rest : {&below, &above}) {
      for (const std::size_t i : *rest) threshold[i] = 0xffffffffU;
    }
  }
};

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

POSGEOM_SIMD static std::uint16_t largest(const std::uint16_t* ids, std::size_t size) {
  std::uint16_t most = 0;
  for (std::size_t i = 0; i < size; ++i) most = std::max(most, ids[i]);
  return most;
}

std::string name_of_pass(const std::string& path, Index pass) { return fmt::format("{}.{}", path, pass); }

void generate(const std::string& path, Index tokens, Index passes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> scatter(0, 0.7);
  std::vector<double> weight(static_cast<std::size_t>(vocab_size));
  for (std::size_t id = 0; id < weight.size(); ++id) weight[id] = std::exp(scatter(random)) / std::pow(static_cast<double>(id) + 3.7, 1.05);
  const AliasTable table(std::move(weight));
  std::ofstream out(path, std::ios::binary);
  std::vector<std::uint16_t> ids(static_cast<std::size_t>(chunk_bytes) / 2);
  std::uint64_t state = 1;
  std::exponential_distribution<double> document_size(1e-3);
  Index next_end = 0;
  for (Index done = 0; done < tokens; done += std::ssize(ids)) {
    ids.resize(static_cast<std::size_t>(std::min(std::ssize(ids), tokens - done)));
    for (std::uint16_t& id : ids) {
      const std::uint64_t drawn = split_mix(state);
      const std::uint64_t column = ((drawn >> 32) * static_cast<std::uint64_t>(vocab_size)) >> 32;
      id = static_cast<std::uint32_t>(drawn) <= table.threshold[column] ? static_cast<std::uint16_t>(column) : table.alias[column];
    }
    for (; next_end < done + std::ssize(ids); next_end += 1 + static_cast<Index>(document_size(random))) {
      ids[static_cast<std::size_t>(next_end - done)] = static_cast<std::uint16_t>(separator);
    }
    out.write(reinterpret_cast<const char*>(ids.data()), static_cast<std::streamsize>(ids.size() * 2));
  }
  if (!out.flush()) throw Error(fmt::format("writing {}: no room?", path));
  for (Index pass = 1; pass < passes; ++pass) {
    std::filesystem::remove(name_of_pass(path, pass));
    std::filesystem::create_hard_link(path, name_of_pass(path, pass));
  }
}

TokenFile::TokenFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0) throw Error(fmt::format("opening {}: it cannot be read", path));
  tokens_ = status.st_size / 2;
}
TokenFile::~TokenFile() { close(file_); }

void TokenFile::read(Index begin, std::span<std::uint16_t> to) const {
  auto* bytes = reinterpret_cast<char*>(to.data());
  for (std::size_t done = 0; done < to.size_bytes();) {
    const ssize_t got = pread(file_, bytes + done, to.size_bytes() - done, static_cast<off_t>(begin) * 2 + static_cast<off_t>(done));
    if (got <= 0) throw Error("reading the token file: it ends too early");
    done += static_cast<std::size_t>(got);
  }
}

void check_range(std::span<const std::uint16_t> ids) {
  const Index most = largest(ids.data(), ids.size());
  if (most >= vocab_size) throw Error(fmt::format("checking ids: {} found, below {} expected", most, vocab_size));
}

}  // namespace posgeom::bench
