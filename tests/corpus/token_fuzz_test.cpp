// Damaged headers and indices: each file is refused, or read as an independent small parser of the test reads it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>

#include "token_reading.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

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

Ids stored_ids(const std::string& bytes, Index offset, int width, bool is_signed) {
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
std::string write_anew(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::remove(folder / name);
  return folder.write(name, bytes);
}

/// Nothing where the files hold no valid corpus, by the format's description.
using Reference = std::function<std::optional<Documents>(const Files&)>;

void expect_refused_or_right(const std::string& name, Files good, Format format, const std::vector<std::string>& damaged, int rounds,
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

bool all_valid(const Documents& documents) {
  for (const Ids& document : documents) {
    for (const Index id : document) {
      if (id < 0 || id >= vocab_size) return false;
    }
  }
  return true;
}

std::optional<Documents> if_valid(Documents documents) { return all_valid(documents) ? std::optional(std::move(documents)) : std::nullopt; }

Ids part(const Ids& ids, Index begin, Index end) { return {ids.begin() + begin, ids.begin() + end}; }

const Documents& sample() {
  static const Documents documents{{1, 2, 3}, {}, {40000, 5}, {6}, {7, 8, 9, 10, 11, 12, 13}, {}};
  return documents;
}

std::optional<Documents> parse_megatron(const Files& files) {
  const std::string &index = files.at("m.idx"), &data = files.at("m.bin");
  const auto size = std::ssize(index);
  if (size < 34 || index.substr(0, 9) != std::string("MMIDIDX\0\0", 9) || at<std::uint64_t>(index, 9) != 1) return {};
  const std::map<int, std::pair<int, bool>> types{{1, {1, false}}, {2, {1, true}}, {3, {2, true}},
                                                  {4, {4, true}},  {5, {8, true}}, {8, {2, false}}};
  const auto type = types.find(static_cast<unsigned char>(index[17]));
  const auto sequences = at<std::uint64_t>(index, 18), boundaries = at<std::uint64_t>(index, 26);
  if (type == types.end() || sequences > 1000 || boundaries > 1000 || boundaries == 0) return {};
  const auto s = static_cast<Index>(sequences), d = static_cast<Index>(boundaries);
  if (size != 34 + 12 * s + 8 * d && size != 34 + 13 * s + 8 * d) return {};
  const auto [width, is_signed] = type->second;
  Ids ends;  // of sequences, in ids
  Index end = 0;
  for (Index k = 0; k < s; ++k) {
    const auto length = at<std::int32_t>(index, 34 + 4 * k);
    if (length < 0 || at<Index>(index, 34 + 4 * s + 8 * k) != end * width) return {};
    ends.push_back(end += length);
  }
  if (end * width != std::ssize(data)) return {};
  const Ids ids = stored_ids(data, 0, width, is_signed);
  Documents documents;
  Index begin = 0;
  for (Index k = 0; k < d; ++k) {
    const auto boundary = at<Index>(index, 34 + 12 * s + 8 * k);
    if ((k == 0 && boundary != 0) || boundary < 0 || boundary > s || (k + 1 == d && boundary != s)) return {};
    const Index place = boundary == 0 ? 0 : ends[static_cast<std::size_t>(boundary - 1)];
    if (place < begin || (k > 0 && boundary < at<Index>(index, 34 + 12 * s + 8 * (k - 1)))) return {};
    if (k > 0) documents.push_back(part(ids, begin, place));
    begin = place;
  }
  return if_valid(std::move(documents));
}

TEST(TokenFuzz, MegatronIndex) {
  const Documents sequences{{1, 2}, {3}, {}, {40000, 5}, {6}, {7, 8, 9, 10, 11, 12, 13}};
  const Files good{{"m.idx", megatron_index(sequences, {0, 2, 3, 4, 5, 6}, 8, 2)}, {"m.bin", id_bytes(joined(sequences), 2)}};
  EXPECT_EQ(parse_megatron(good), sample());
  expect_refused_or_right("m.bin", good, Format::megatron, {"m.idx", "m.idx", "m.idx", "m.bin"}, 2000, parse_megatron);
}

TEST(TokenFuzz, LlmcHeader) {
  const Index end = 50256;
  const Ids ids{1, end, 2, 3, end, end, 4};
  const Reference parse = [end](const Files& files) -> std::optional<Documents> {
    const std::string& bytes = files.at("l.bin");
    if (std::ssize(bytes) < 1024) return {};
    const auto magic = at<std::int32_t>(bytes, 0), version = at<std::int32_t>(bytes, 4), count = at<std::int32_t>(bytes, 8);
    const bool narrow = magic == 20240520 && version == 1, wide = magic == 20240801 && version == 7;
    if ((!narrow && !wide) || count < 0 || std::ssize(bytes) != 1024 + Index{count} * (narrow ? 2 : 4)) return {};
    return if_valid(split({stored_ids(bytes, 1024, narrow ? 2 : 4, false)}, false, {narrow ? end : 128000, true, false, {}, 0}));
  };
  expect_refused_or_right("l.bin", {{"l.bin", llmc_file(ids, 2)}}, Format::llmc, {"l.bin"}, 1500, parse);
  expect_refused_or_right("l.bin", {{"l.bin", llmc_file({5, 128000, 6, 59999}, 4)}}, Format::llmc, {"l.bin"}, 1500, parse);
}

TEST(TokenFuzz, DatatroveIndex) {
  const Files good{{"a.ds", id_bytes(joined(sample()), 2)}, {"a.ds.index", ends_of(sample())}};
  const Reference parse = [](const Files& files) -> std::optional<Documents> {
    const std::string &data = files.at("a.ds"), &index = files.at("a.ds.index");
    if (index.size() % 8 != 0) return {};
    const Index last = index.empty() ? 0 : at<Index>(index, std::ssize(index) - 8);
    const Index size = std::ssize(data);
    const int width = last > 0 && last <= 1000 && size == 4 * last ? 4 : 2;
    if (last < 0 || last > 1000 || size != last * width) return {};
    const Ids ids = stored_ids(data, 0, width, false);
    Documents documents;
    Index begin = 0;
    for (Index k = 0; k < std::ssize(index); k += 8) {
      const auto end = at<Index>(index, k);
      if (end < begin || end > last) return {};
      documents.push_back(part(ids, begin, end));
      begin = end;
    }
    return if_valid(std::move(documents));
  };
  expect_refused_or_right("a.ds", good, Format::datatrove, {"a.ds.index", "a.ds.index", "a.ds"}, 1500, parse);
}

TEST(TokenFuzz, InfinigramOffsets) {
  for (const int width : {2, 4}) {
    const Index ones = width == 2 ? 65535 : 4294967295;
    Ids ids;
    std::string offsets;
    for (const Ids& document : sample()) {
      put(offsets, std::ssize(ids) * width);
      ids.push_back(ones);
      ids.insert(ids.end(), document.begin(), document.end());
    }
    const Reference parse = [](const Files& files) -> std::optional<Documents> {
      const std::string &data = files.at("tokenized.0"), &index = files.at("offset.0");
      if (index.size() % 8 != 0) return {};
      // The right width is the one by which separators and offsets agree, the wider one where both do.
      for (const int candidate : {4, 2}) {
        const Index all_ones = candidate == 2 ? 65535 : 4294967295;
        if (std::ssize(data) % candidate != 0) continue;
        const Ids all = stored_ids(data, 0, candidate, false);
        Documents documents;
        std::string found;
        bool good = all.empty() || all.front() == all_ones;
        for (Index k = 0; good && k < std::ssize(all); ++k) {
          const Index id = all[static_cast<std::size_t>(k)];
          if (id == all_ones) {
            put(found, k * candidate);
            documents.emplace_back();
          } else {
            documents.back().push_back(id);
          }
        }
        if (good && found == index) return if_valid(std::move(documents));
      }
      return {};
    };
    expect_refused_or_right("tokenized.0", {{"tokenized.0", id_bytes(ids, width)}, {"offset.0", offsets}}, Format::infinigram,
                            {"offset.0", "offset.0", "tokenized.0"}, 1500, parse);
  }
}

/// The header's text has many spellings: what is read must at least be what NumPy's own rules allow for these bytes.
TEST(TokenFuzz, NpyHeader) {
  const Ids ids{1, 2, 3, 4, 5, 40000};
  const Reference parse = [](const Files& files) -> std::optional<Documents> {
    const std::string& bytes = files.at("a.npy");
    if (bytes.size() < 6 || bytes.substr(0, 6) != "\x93NUMPY") {  // then it is one without a header
      const Ids raw = stored_ids(bytes, 0, 2, false);
      bool odd_zero = raw.size() >= 4, even_zero = true;
      for (std::size_t k = 0; k + 1 < std::min<std::size_t>(raw.size(), 4096); k += 2) {
        odd_zero = odd_zero && raw[k + 1] == 0;
        even_zero = even_zero && raw[k] == 0;
      }
      if (bytes.size() % 2 != 0 || (odd_zero && !even_zero)) return {};
      return if_valid(raw.empty() ? Documents{} : Documents{raw});
    }
    if (bytes.size() < 10 || bytes[6] < 1 || bytes[6] > 3) return {};
    const bool first = bytes[6] == 1;
    const auto size = first ? Index{at<std::uint16_t>(bytes, 8)} : Index{at<std::uint32_t>(bytes, 8)};
    const Index data_offset = (first ? 10 : 12) + size;
    if (data_offset > std::ssize(bytes) || (!first && bytes.size() < 12)) return {};
    std::string header = bytes.substr(first ? 10 : 12, static_cast<std::size_t>(size));
    const std::string start = "{'descr': '", middle = "', 'fortran_order': ", shape = "False, 'shape': (";
    // Whatever does not follow NumPy's own spelling to the letter is for the reader to judge: see below.
    if (!header.starts_with(start) || header.substr(14, middle.size()) != middle || header.substr(34, shape.size()) != shape) return {};
    const std::string type = header.substr(11, 3);
    if ((type[1] != 'u' && type[1] != 'i') || std::string("1248").find(type[2]) == std::string::npos) return {};
    if (std::string("<|=>").find(type[0]) == std::string::npos || (type[0] == '>' && type[2] != '1')) return {};
    Index rows = 0, columns = 0;
    int used = 0;
    std::string extents = header.substr(34 + shape.size());
    extents.resize(std::min(extents.find_first_not_of("0123456789, )"), extents.size()));  // scanf takes signs too
    if (std::sscanf(extents.c_str(), "%ld, %ld)%n", &rows, &columns, &used) != 2 || used == 0) return {};
    if (rows < 0 || columns < 0 || rows > 1000 || columns > 1000) return {};
    const int width = type[2] - '0';
    if (data_offset + rows * columns * width != std::ssize(bytes)) return {};
    const Ids all = stored_ids(bytes, data_offset, width, type[1] == 'i');
    Documents documents;
    for (Index row = 0; row < rows; ++row) documents.push_back(part(all, row * columns, (row + 1) * columns));
    return if_valid(std::move(documents));
  };
  const TemporaryFolder folder;
  Mutator mutator(7);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Files files{{"a.npy", npy_file(ids, "<u2", "(2, 3)")}};
    if (round > 0) mutator.damage(files.at("a.npy"));
    std::optional<Documents> read;
    std::string refusal;
    try {
      CorpusOptions options = token_options({write_anew(folder, "a.npy", files.at("a.npy"))}, vocab_size, Format::npy);
      options.unit_bytes = 16;
      read = read_units(open_corpus(world(), options), 0, {}).documents;
    } catch (const Error& error) {
      refusal = error.what();
      ++refused;
    }
    const auto expected = parse(files);
    if (expected) {
      ASSERT_TRUE(read.has_value()) << "refused what is valid: " << refusal;
      EXPECT_EQ(*read, *expected);
      ++accepted;
    } else if (read) {
      // Another spelling of a header (blanks, the unused parts): the data must still be all that follows the header.
      EXPECT_EQ(files.at("a.npy").substr(0, 6), "\x93NUMPY");
      EXPECT_TRUE(all_valid(*read));
      const std::string header = files.at("a.npy").substr(0, 128);
      EXPECT_NE(header.find("'shape'"), std::string::npos);
      EXPECT_NE(header.find("'descr'"), std::string::npos);
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 400);
}

/// HDF5's own library reads its headers. What posgeom adds: shapes, types and offsets are checked before memory is asked for.
TEST(TokenFuzz, Hdf5File) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.h5";
  write_dataset(path, "/ids", joined(sample()), 2, false, {13});
  write_dataset(path, "/offsets", {0, 3, 3, 5, 6, 13, 13}, 8, false, {7});
  const std::string good = read_file(path);
  Mutator mutator(11);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 1500 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::string bytes = good;
    if (round > 0) mutator.damage(bytes);
    write_anew(folder, "a.h5", bytes);
    CorpusOptions options = token_options({path + ":/ids:/offsets"}, vocab_size);
    options.unit_bytes = 16;
    try {
      const Corpus corpus = open_corpus(world(), options);
      const ReadBack read = read_units(corpus, 0, {});
      ++accepted;
      EXPECT_TRUE(all_valid(read.documents));
      EXPECT_LE(corpus.files[0].bytes, std::ssize(bytes)) << "more ids than the file can hold";
      EXPECT_EQ(std::ssize(joined(read.documents)), corpus.files[0].token_count);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace posgeom
