#pragma once
// Damaged headers and indices: each file is refused, or read as an independent small parser of the test reads it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>

#include "corpus/token_reading.hpp"
#include "support/scale.hpp"

namespace posgeom::testing_support {

/// The files of one corpus, by name; the first is named to open_corpus.
using Files = std::map<std::string, std::string>;

/// Seeded damage to a file: flipped bytes, cut ends, added ends, fields with values that break arithmetic.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}
  Index below(Index limit) { return static_cast<Index>(random_() % static_cast<std::uint64_t>(std::max(limit, Index{1}))); }

  void damage(std::string& bytes) {
    for (Index times = 1 + below(3); times > 0; --times) {
      switch (below(6)) {
        case 0:
          if (!bytes.empty()) bytes[place(bytes, 1)] = static_cast<char>(below(256));
          break;
        case 1:
          if (!bytes.empty()) bytes[place(bytes, 1)] ^= static_cast<char>(1 << below(8));
          break;
        case 2:
          bytes.resize(static_cast<std::size_t>(below(std::ssize(bytes) + 1)));
          break;
        case 3:
          bytes.append(static_cast<std::size_t>(1 + below(16)), static_cast<char>(below(256)));
          break;
        case 4:
          write<std::uint32_t>(bytes);
          break;
        default:
          write<std::uint64_t>(bytes);
      }
    }
  }

 private:
  /// Half of all damage goes to the first 64 bytes, where headers are.
  std::size_t place(const std::string& bytes, std::size_t size) {
    const Index end = std::max(std::ssize(bytes) - static_cast<Index>(size) + 1, Index{1});
    return static_cast<std::size_t>(below(below(2) == 0 ? std::min(end, Index{64}) : end));
  }
  template <class T>
  void write(std::string& bytes) {
    if (bytes.size() < sizeof(T)) return;
    const std::array<std::uint64_t, 9> nasty{0,         1, 2, ~std::uint64_t{0}, 1ULL << 31, (1ULL << 31) - 1, 1ULL << 32, (1ULL << 63) - 1,
                                             1ULL << 63};
    const auto value = static_cast<T>(nasty[static_cast<std::size_t>(below(9))]);
    std::memcpy(bytes.data() + place(bytes, sizeof(T)), &value, sizeof(T));
  }
  std::mt19937_64 random_;
};

/// A value at an offset; 0 beyond the end, where no reference that accepts a file looks.
template <class T>
T at(const std::string& bytes, Index offset) {
  T value{};
  if (offset >= 0 && offset + static_cast<Index>(sizeof(T)) <= std::ssize(bytes)) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

inline Ids stored_ids(const std::string& bytes, Index offset, int width, bool is_signed) {
  Ids ids;
  for (; offset + width <= std::ssize(bytes); offset += width) {
    Index id = 0;
    for (int k = width - 1; k >= 0; --k) id = id << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(offset + k)]);
    if (is_signed && width < 8 && (id >> (8 * width - 1)) != 0) id -= Index{1} << (8 * width);
    ids.push_back(id);
  }
  return ids;
}

constexpr Index vocab_size = 60000;

/// A new file each time: file systems write one that is truncated and filled again to the disk at once, lest it be lost.
inline std::string write_anew(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::remove(folder / name);
  return folder.write(name, bytes);
}

/// Nothing where the files hold no valid corpus, by the format's description.
using Reference = std::function<std::optional<Documents>(const Files&)>;

inline void expect_refused_or_right(const std::string& name, Files good, Format format, const std::vector<std::string>& damaged, int rounds,
                                    const Reference& reference) {
  const TemporaryFolder folder;
  Mutator mutator(20261129);
  int accepted = 0, refused = 0;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Files files = good;
    if (round > 0) mutator.damage(files.at(damaged[static_cast<std::size_t>(mutator.below(std::ssize(damaged)))]));
    for (const auto& [file, bytes] : files) write_anew(folder, file, bytes);
    CorpusOptions options = token_options({folder / name}, vocab_size, format);
    options.unit_bytes = 16;
    std::optional<Documents> read;
    try {
      const Corpus corpus = open_corpus(world(), options);
      for (const bool stream : {false, true}) {
        ReadOptions reading;
        reading.stream = stream;
        read = read_units(corpus, 0, reading).documents;
      }
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      read.reset();
    }
    read ? ++accepted : ++refused;
    const std::optional<Documents> expected = reference(files);
    EXPECT_EQ(read.has_value(), expected.has_value()) << (expected ? "refused what is valid" : "accepted what is not");
    if (read && expected) {
      EXPECT_EQ(*read, *expected);
    }
  }
  EXPECT_GE(accepted, 1);
  EXPECT_GT(refused, rounds / 10) << "damage that shows";
}

inline bool all_valid(const Documents& documents) {
  for (const Ids& document : documents) {
    for (const Index id : document) {
      if (id < 0 || id >= vocab_size) return false;
    }
  }
  return true;
}

inline std::optional<Documents> if_valid(Documents documents) {
  return all_valid(documents) ? std::optional(std::move(documents)) : std::nullopt;
}

inline Ids part(const Ids& ids, Index begin, Index end) { return {ids.begin() + begin, ids.begin() + end}; }

inline const Documents& sample() {
  static const Documents documents{{1, 2, 3}, {}, {40000, 5}, {6}, {7, 8, 9, 10, 11, 12, 13}, {}};
  return documents;
}

}  // namespace posgeom::testing_support
