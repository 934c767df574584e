#include "corpus/token_refusals.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

TEST_F(TokenErrors, Megatron) {
  const Documents documents{{1, 2}, {3}, {}, {4, 5, 6}};
  const Ids ids = joined(documents);
  const std::string good = megatron_index(documents, 8, 2);
  const std::size_t pointers = 34 + 4 * 4, boundaries = 34 + 12 * 4;
  expect_contains(error_of_index(std::string("TNTIDX\0\0", 8) + good.substr(8), ids), {"m.idx", "TNTIDX", "mmap"});
  expect_contains(error_of_index("XMIDIDX" + good.substr(7), ids), {"m.idx", "MMIDIDX"});
  expect_contains(error_of_index(good.substr(0, 30), ids), {"m.idx", "30 bytes", "34"});
  expect_contains(error_of_index("", ids), {"m.idx", "MMIDIDX"});
  expect_contains(error_of_index(with<std::uint64_t>(good, 9, 2), ids), {"m.idx", "version 2", "expected 1"});
  expect_contains(error_of_index(with<std::uint64_t>(good, 9, std::uint64_t{1} << 56), ids), {"m.idx", "big-endian"});
  expect_contains(error_of_index(with<std::uint8_t>(good, 17, 6), ids), {"m.idx", "float64", "8 u16"});
  expect_contains(error_of_index(with<std::uint8_t>(good, 17, 7), ids), {"m.idx", "float32"});
  expect_contains(error_of_index(with<std::uint8_t>(good, 17, 0), ids), {"m.idx", "type 0"});
  expect_contains(error_of_index(with<std::uint8_t>(good, 17, 200), ids), {"m.idx", "type 200"});
  for (const std::uint64_t claim : {std::uint64_t{5}, std::uint64_t{1} << 31, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    expect_contains(error_of_index(with(good, 18, claim), ids), {"m.idx", std::to_string(claim) + " sequences", "take"});
    expect_contains(error_of_index(with(good, 26, claim + 1), ids), {"m.idx", "document boundaries", "take"});
  }
  expect_contains(error_of_index(good + "x", ids), {"m.idx", std::to_string(good.size() + 1) + " bytes", std::to_string(good.size())});
  expect_contains(error_of_index(good.substr(0, good.size() - 8), ids), {"m.idx", "truncated"});
  expect_contains(error_of_index(with<std::int32_t>(good, 34 + 4, -1), ids), {"m.idx", "sequence 1", "length -1"});
  expect_contains(error_of_index(with<Index>(good, pointers + 8, 5), ids), {"m.idx", "sequence 1", "byte 5", "byte 4", "m.bin"});
  expect_contains(error_of_index(with<Index>(good, pointers + 8, -4), ids), {"sequence 1", "byte -4"});
  expect_contains(error_of_index(with<std::int32_t>(good, 34, 2000000000), ids), {"sequence 0", "beyond the end of", "m.bin", "12 bytes"});
  expect_contains(error_of_index(with<Index>(good, boundaries, 1), ids), {"boundary 0", "sequence 1", "expected 0 first"});
  expect_contains(error_of_index(with<Index>(good, boundaries + 16, 0), ids), {"boundary 2", "sequence 0 after 1"});
  expect_contains(error_of_index(with<Index>(good, boundaries + 16, 5), ids), {"boundary 2", "sequence 5", "at most 4"});
  expect_contains(error_of_index(with<Index>(good, boundaries + 32, 3), ids), {"end at sequence 3 of 4"});
  expect_contains(error_of_index(good, {1, 2, 3, 4, 5}), {"sequence 3", "beyond the end of", "10 bytes"});
  expect_contains(error_of_index(good, {1, 2, 3, 4, 5, 6, 7}), {"m.bin", "14 bytes", "take 12"});
  expect_contains(error_of("m.bin", id_bytes(ids, 2) + "x"), {"m.bin", "13 bytes", "2 bytes of an id", "m.idx"});
  std::filesystem::remove(folder_ / "m.idx");
  expect_contains(error_of("m.bin", id_bytes(ids, 2), Format::megatron), {"m.bin", "m.idx"});
  expect_contains(error_of("m.bin", id_bytes({10, 20, 30}, 2)), {"m.bin", "--format raw16 or --format raw32", "looks like raw16"});
  expect_contains(error_of("m.bin", id_bytes(ids, 4)), {"looks like raw32"});
  std::filesystem::remove(folder_ / "m.bin");
  expect_contains(error_of("m.idx", good), {"m.idx", "m.bin"});
  expect_contains(error_of_opening(token_options({folder_ / "m"}, 100)), {"m.idx", "m.bin"});
  expect_contains(error_of("index", good), {"index", ".bin"});
}

/// Offsets as writers left them that added them up in 32 bits: 3 GiB of ids, as holes.
TEST_F(TokenErrors, MegatronOffsetsThatWrapped) {
  const Index length = 805306368, count = 3;
  std::string index("MMIDIDX\0\0", 9);
  put<std::uint64_t>(index, 1);
  put<std::uint8_t>(index, 8);
  put<std::uint64_t>(index, count);
  put<std::uint64_t>(index, 2);
  for (Index k = 0; k < count; ++k) put(index, static_cast<std::int32_t>(length));
  std::string good = index;
  for (Index k = 0; k < count; ++k) put(index, Index{static_cast<std::int32_t>(static_cast<std::uint32_t>(2 * k * length))});
  for (Index k = 0; k < count; ++k) put(good, 2 * k * length);
  for (std::string* bytes : {&index, &good}) {
    put<Index>(*bytes, 0);
    put<Index>(*bytes, count);
  }
  const std::string path = folder_.write("m.bin", "");
  std::filesystem::resize_file(path, 6 * length);
  folder_.write("m.idx", index);
  expect_contains(error_of_opening(token_options({path}, 100)),
                  {"m.idx", "sequence 2", "byte -1073741824", "3221225472", "32-bit overflow"});
  folder_.write("m.idx", good);
  EXPECT_EQ(open_corpus(world(), token_options({path}, 100)).files[0].token_count, 3 * length);
}

TEST_F(TokenErrors, Llmc) {
  const std::string good = llmc_file({1, 2, 3}, 2), wide = llmc_file({1, 2, 3}, 4);
  expect_contains(error_of("a.bin", with<std::int32_t>(good, 4, 2)), {"a.bin", "version 2", "expected version 1"});
  expect_contains(error_of("a.bin", with<std::int32_t>(wide, 4, 1)), {"version 1", "expected version 7"});
  for (const std::string& magic : {std::string("\x01\x34\xD8\x88"), std::string("\x01\x34\xD9\xA1")}) {
    expect_contains(error_of("a.bin", magic + good.substr(4)), {"a.bin", "big-endian"});
  }
  expect_contains(error_of("a.bin", good + "xx"), {"a.bin", "1032 bytes", "3 ids", "take 1030"});
  expect_contains(error_of("a.bin", good.substr(0, 1029)), {"1029 bytes", "take 1030"});
  expect_contains(error_of("a.bin", good.substr(0, 500)), {"500 bytes", "1024"});
  for (const std::int32_t claim : {-1, 0, 2147483647}) {
    expect_contains(error_of("a.bin", with(good, 8, claim)), {std::to_string(claim) + " ids"});
  }
  expect_contains(error_of("a.bin", id_bytes(Ids(600, 1), 2), Format::llmc), {"a.bin", "no llm.c token file", "20240520"});
  CorpusOptions both = token_options({folder_.write("a.bin", good), folder_.write("b.bin", wide)}, 0);
  expect_contains(error_of_opening(both), {"16-bit", "a.bin", "32-bit", "b.bin"});
}

TEST_F(TokenErrors, Raw) {
  expect_contains(error_of("a", "abc", Format::raw16), {"a has 3 bytes", "2 bytes of an id"});
  expect_contains(error_of("a", "abcdef", Format::raw32), {"6 bytes", "4 bytes of an id", "--format raw16"});
  Ids ids(5000);
  std::iota(ids.begin(), ids.end(), Index{1});
  expect_contains(error_of("a", id_bytes(ids, 4), Format::raw16, 70000), {"a was", "every second one", "4096", "--format raw32"});
  expect_contains(error_of("a.npy", id_bytes(ids, 4), Format::automatic, 70000), {"every second one", "--format raw32"});
  expect_contains(error_of("a", id_bytes(ids, 2), Format::raw32, 50257), {"not below", "50257", "--format raw16"});
  // Zeros are ids too.
  EXPECT_NO_THROW(open_corpus(world(), token_options({folder_.write("z", std::string(64, '\0'))}, 10, Format::raw16)));
  EXPECT_NO_THROW(open_corpus(world(), token_options({folder_.write("z", id_bytes({0, 5, 0, 6, 0, 7}, 2))}, 10, Format::raw16)));
  expect_contains(error_of("a.bin.gz", compress(id_bytes(ids, 2), "gz"), Format::raw16, 5001), {"a.bin.gz", "compressed", "unpack"});
  expect_contains(error_of("a.bin.zst", compress(id_bytes(ids, 2), "zst"), Format::automatic, 5001), {"a.bin.zst", "unpack"});
  expect_contains(error_of("a.npy.gz", compress(npy_file(ids, "<u2", "(5000,)"), "gz")), {"a.npy.gz", "NumPy", "unpack"});
  EXPECT_NO_THROW(open_corpus(world(), token_options({folder_.write("g", id_bytes({0x8B1F, 0x1234}, 2))}, 50257, Format::raw16)))
      << "the two bytes of gzip's magic are an id";
}

TEST_F(TokenErrors, Datatrove) {
  const Documents documents{{1, 2}, {}, {3, 4, 5}};
  const std::string data = id_bytes(joined(documents), 2), index = ends_of(documents);
  folder_.write("a.ds.index", index + "x");
  expect_contains(error_of("a.ds", data), {"a.ds.index", "25 bytes", "multiple of 8"});
  for (const Index bad : {Index{1}, Index{6}, Index{-1}, Index{1} << 62}) {
    folder_.write("a.ds.index", with(index, 8, bad));
    expect_contains(error_of("a.ds", data), {"a.ds.index", "document 1 ends at token", "never fall"});
  }
  folder_.write("a.ds.index", index);
  expect_contains(error_of("a.ds", data + "xx"), {"a.ds has 12 bytes", "token 5", "10 bytes", "20"});
  folder_.write("a.ds.metadata", "gpt2|4\n5\n");
  expect_contains(error_of("a.ds", data), {"a.ds.metadata", "4 bytes", "2 each"});
  std::filesystem::remove(folder_ / "a.ds.metadata");
  EXPECT_EQ(open_corpus(world(), token_options({folder_ / "a.ds.index"}, 10)).files[0].path, folder_ / "a.ds");
  std::filesystem::remove(folder_ / "a.ds.index");
  expect_contains(error_of("a.ds", data), {"a.ds", "a.ds.index", "--format raw16"});
}

TEST_F(TokenErrors, Npy) {
  const Ids ids{1, 2, 3, 4, 5, 6};
  const auto of = [&](const std::string& bytes) { return error_of("a.npy", bytes); };
  expect_contains(of(npy_file(ids, ">u2", "(6,)")), {"a.npy", "big-endian", ">u2"});
  expect_contains(of(npy_file(ids, "<f4", "(6,)")), {"a.npy", "<f4", "integers"});
  expect_contains(of(npy_file(ids, "<u2", "(6,)").substr(0, 130)), {"a.npy", "2 bytes of data", "6 elements"});
  expect_contains(of(npy_file(ids, "<u2", "(5,)")), {"12 bytes of data", "5 elements"});
  expect_contains(of(npy_file(ids, "<u2", "(9223372036854775807, 2)")), {"12 bytes of data", "9223372036854775807 x 2"});
  expect_contains(of(npy_file(ids, "<u2", "(99999999999999999999,)")), {"shape"});
  expect_contains(of(npy_file(ids, "<u2", "(1, 2, 3)")), {"shape (1, 2, 3)", "one dimension, or two"});
  expect_contains(of(npy_file(ids, "<u2", "()")), {"shape ()"});
  expect_contains(of(npy_file(ids, "<u2", "(-6,)")), {"shape (-6,)"});
  expect_contains(of(npy_file(ids, "<u2", "(2, 3)", "True")), {"by columns", "ascontiguousarray"});
  expect_contains(of("\x93NUMPY"), {"a.npy", "6 bytes", "truncated"});
  expect_contains(of(npy_file(ids, "<u2", "(6,)").substr(0, 60)), {"60 bytes", "truncated"});
  expect_contains(of(with<std::uint8_t>(npy_file(ids, "<u2", "(6,)"), 6, 9)), {"version 9"});
  std::string without = npy_file(ids, "<u2", "(6,)");
  without.replace(without.find("shape"), 5, "sharp");
  expect_contains(of(without), {"no 'shape'"});
  expect_contains(of("abc"), {"a.npy has 3 bytes", "Dolma"});
}

TEST_F(TokenErrors, Infinigram) {
  const Ids ids{65535, 1, 2, 65535, 65535, 3};
  std::string offsets;
  for (const Index offset : {0, 6, 8}) put(offsets, offset);
  const auto of = [&](const std::string& index, const Ids& data) {
    folder_.write("offset.0", index);
    return error_of("tokenized.0", id_bytes(data, 2));
  };
  expect_contains(of(offsets + "x", ids), {"offset.0", "25 bytes", "multiple of 8"});
  expect_contains(of("", ids), {"offset.0", "empty", "12 bytes"});
  for (const Index bad : {Index{0}, Index{12}, Index{-2}, Index{1} << 62}) {
    expect_contains(of(with(offsets, 8, bad), ids), {"offset.0", "document 1", "tokenized.0", "12 bytes"});
  }
  expect_contains(of(with<Index>(offsets, 0, 2), ids), {"document 0", "byte 2", "0 first"});
  expect_contains(of(with<Index>(offsets, 8, 7), ids), {"tokenized.0", "no multiple"});
  expect_contains(of(with<Index>(offsets, 8, 4), ids), {"no separator", "byte 4", "document 1"});
  folder_.write("offset.0", with<Index>(offsets, 16, 10).substr(0, 16));
  folder_.write("tokenized.0", id_bytes(ids, 2));
  expect_contains(error_of_reading(token_options({folder_ / "tokenized.0"}, 100)),
                  {"tokenized.0", "token 4", "document 1", "offset.0", "65535"});
  std::filesystem::remove(folder_ / "offset.0");
  expect_contains(error_of("tokenized.0", id_bytes(ids, 2), Format::infinigram), {"tokenized.0", "offset.0"});
  folder_.write("offset.0", offsets);
  CorpusOptions options = token_options({folder_ / "tokenized.0"}, 100);
  options.separator.choice = Separator::Choice::none;
  expect_contains(error_of_opening(options, ErrorKind::usage), {"--separator none", "infinigram", "no token"});
}

/// Beyond the first documents, which are looked at when the corpus is opened.
TEST_F(TokenErrors, InfinigramIndexThatDoesNotFitLater) {
  Ids ids;
  std::string offsets;
  for (Index k = 0; k < 5000; ++k) {
    put(offsets, std::ssize(ids) * 4);
    ids.insert(ids.end(), {k == 4500 ? 7 : 4294967295, 1});
  }
  folder_.write("offset.7", offsets);
  folder_.write("tokenized.7", id_bytes(ids, 4));
  expect_contains(error_of_reading(token_options({folder_ / "tokenized.7"}, 100)),
                  {"tokenized.7", "token 9000", "is 7", "document 4500 begins"});
}

TEST_F(TokenErrors, Hdf5) {
  const std::string path = folder_ / "a.h5";
  write_dataset(path, "/g/ids", {1, 2, 3, 4}, 2, false, {4});
  write_dataset(path, "/g/more", {1, 2, 3, 4}, 2, false, {2, 2});
  write_dataset(path, "/deep", {1, 2, 3, 4}, 2, false, {1, 2, 2});
  write_dataset(path, "/unwritten", {}, 2, false, {1000000});
  write_dataset(path, "/chunks", {}, 2, false, {1000000}, 100);
  write_dataset(path, "/falling", {0, 3, 2}, 8, false, {3});
  write_dataset(path, "/beyond", {0, 5}, 8, false, {2});
  write_dataset(path, "/late", {1, 4}, 8, false, {2});
  write_dataset(path, "/none", {}, 8, false, {0});
  const auto of = [&](const std::string& name) { return error_of_opening(token_options({path + name}, 100)); };
  expect_contains(of(""), {"a.h5", "a.h5:/", "/g/ids, /g/more"});
  expect_contains(of(":/nothing"), {"a.h5", "/nothing", "/g/ids"});
  expect_contains(of(":/g"), {"a.h5"});
  expect_contains(of(":/deep"), {"a.h5:/deep", "3 dimensions"});
  expect_contains(of(":/unwritten"), {"/unwritten", "0 of its 2000000 bytes"});
  expect_contains(of(":/chunks"), {"/chunks", "0 of its 10000 chunks"});
  expect_contains(of(":/g/ids:/falling"), {"/falling", "number 2 is 2 after 3"});
  expect_contains(of(":/g/ids:/beyond"), {"/beyond", "number 1 is 5", "of 4 tokens"});
  expect_contains(of(":/g/ids:/late"), {"/late", "number 0 is 1", "0 first"});
  expect_contains(of(":/g/ids:/none"), {"/none", "empty", "4 tokens"});
  expect_contains(of(":/g/more:/late"), {"/g/more", "two dimensions", "/late"});
  {
    const std::string doubles = folder_ / "d.h5";
    const hdf5::Handle memory = hdf5::create_in_memory(doubles);
    hdf5::write_vector<double>(memory, "/x", std::vector<double>{1, 2}, std::vector<Index>{2});
    const std::vector<char> image = hdf5::file_image(memory);
    folder_.write("d.h5", {image.data(), image.size()});
    expect_contains(error_of_opening(token_options({doubles + ":/x"}, 100)), {"d.h5:/x", "no integers"});
  }
  expect_contains(error_of("t.h5", "no HDF5 at all"), {"t.h5", "not an HDF5 file"});
  CorpusOptions options = token_options({path + ":/g/ids"}, 100, Format::raw16);
  expect_contains(error_of_opening(options), {"a.h5:/g/ids", "raw16"});
  options = token_options({path + ":/g/ids", path + ":/g/ids"}, 100);
  expect_contains(error_of_opening(options), {"twice"});
}

}  // namespace
}  // namespace posgeom
