#include "corpus/token_fuzz.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

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
  for (int round = 0; round < testing_support::scaled(2000, 300) && !testing::Test::HasFailure(); ++round) {
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
  EXPECT_GT(accepted, testing_support::scaled(100, 15));
  EXPECT_GT(refused, testing_support::scaled(400, 60));
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
  for (int round = 0; round < testing_support::scaled(1500, 300) && !testing::Test::HasFailure(); ++round) {
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
  EXPECT_GT(accepted, testing_support::scaled(100, 20));
  EXPECT_GT(refused, testing_support::scaled(100, 20));
}

}  // namespace
}  // namespace posgeom
