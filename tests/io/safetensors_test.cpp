#include "io/safetensors.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "io/support.hpp"
#include "support/scale.hpp"

namespace posgeom {
namespace {

std::string little_endian(std::uint64_t value, int size) {
  std::string bytes;
  for (int k = 0; k < size; ++k) bytes += static_cast<char>(value >> 8 * k & 255);
  return bytes;
}

/// A file with that header and data.
std::string file_of(const std::string& header, const std::string& data) { return little_endian(header.size(), 8) + header + data; }

std::string tensor(const std::string& name, const std::string& type, const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape + "],\"data_offsets\":[" + offsets + "]}";
}

/// `value`, one of quarter_entry()'s, in the bits of a type.
std::string number(double value, const std::string& type) {
  if (type == "F64") return little_endian(std::bit_cast<std::uint64_t>(value), 8);
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "F32") return little_endian(single, 4);
  if (type == "BF16") return little_endian(single >> 16, 2);
  if (value == 0) return little_endian(0, 2);
  // F16 of a small number: the exponent's bias is 15 in place of 127, the fraction has 13 bits fewer.
  return little_endian((single >> 16 & 0x8000) | ((single >> 23 & 255) - 112) << 10 | (single >> 13 & 1023), 2);
}

std::string matrix_data(const std::string& type) {
  std::string data;
  for (Index k = 0; k < 6; ++k) data += number(quarter_entry(k / 2, k % 2), type);
  return data;
}

std::string one_matrix(const std::string& type = "F32") {
  const std::string data = matrix_data(type);
  return file_of("{" + tensor("wpe", type, "3,2", "0," + std::to_string(data.size())) + "}", data);
}

class Safetensors : public ::testing::Test {
 protected:
  Scratch scratch;
  const std::string path = scratch.path("m.safetensors");

  void expect_matrix(const std::string& name = {}) {
    const FileMatrix matrix = read_encoding_file(world(), path, name);
    EXPECT_EQ(matrix.rows, 3);
    EXPECT_EQ(matrix.columns, 2);
    ASSERT_EQ(matrix.values.size(), 6U);
    for (Index k = 0; k < 6; ++k) EXPECT_EQ(matrix.values[static_cast<std::size_t>(k)], quarter_entry(k / 2, k % 2)) << k;
  }
  void expect_refused(const std::string& bytes, std::vector<std::string> parts, const std::string& name = {}) {
    put_bytes(path, bytes);
    parts.emplace_back("m.safetensors");
    expect_error([&] { read_encoding_file(world(), path, name); }, parts);
  }
};

TEST_F(Safetensors, EveryFloatType) {
  for (const char* type : {"F64", "F32", "F16", "BF16"}) {
    put_bytes(path, one_matrix(type));
    expect_matrix();
    expect_matrix("wpe");
    const std::vector<io::SafeTensor> tensors = io::read_safetensors_header(path);
    ASSERT_EQ(tensors.size(), 1U);
    EXPECT_EQ(tensors[0].type, type);
    EXPECT_EQ(tensors[0].shape, (std::vector<Index>{3, 2}));
    barrier(world());
  }
}

TEST_F(Safetensors, OneOfManyTensorsInAnyOrder) {
  const std::string data = std::string(24, '\1') + matrix_data("F32") + std::string(5, '\2');
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + tensor("tail", "U8", "5", "48,53") + "," +
                             tensor("h.0/pos \\u00e4", "F32", "3,2", "24,48") + "," + tensor("h.0.attn", "F64", "3", "0,24") + "," +
                             tensor("nothing", "F32", "0,7", "24,24") + "}   ";
  put_bytes(path, file_of(header, data));
  expect_matrix("h.0/pos \u00e4");
  EXPECT_EQ(io::read_safetensors_header(path).size(), 4U);
  const FileMatrix nothing = read_encoding_file(world(), path, "nothing");
  EXPECT_EQ(nothing.rows, 0);
  EXPECT_EQ(nothing.columns, 7);
  expect_error([&] { read_encoding_file(world(), path, ""); }, {"which tensor", "h.0/pos \u00e4 (3 x 2)", "nothing (0 x 7)"});
  expect_error([&] { read_encoding_file(world(), path, "h.0.attn"); }, {"h.0.attn", "(3)", "expected a matrix"});
  expect_error([&] { read_encoding_file(world(), path, "tail"); }, {"tail", "of type U8", "BF16"});
  expect_error([&] { read_encoding_file(world(), path, "wpe"); }, {"no tensor `wpe`", "h.0/pos", "NAME=file:PATH:TENSOR"});
}

TEST_F(Safetensors, CandidatesThatSpeakOfPositionsComeFirst) {
  std::string header = "{";
  for (int k = 0; k < 20; ++k)
    header += tensor("layer." + std::to_string(k), "F32", "1,1", std::to_string(4 * k) + "," + std::to_string(4 * k + 4)) + ",";
  header += tensor("embed_positions.weight", "F32", "1,1", "80,84") + "}";
  put_bytes(path, file_of(header, std::string(84, '\0')));
  const std::string text = expect_error([&] { read_encoding_file(world(), path, ""); }, {"embed_positions.weight (1 x 1)", "and 9 more"});
  EXPECT_LT(text.find("embed_positions"), text.find("layer.0"));
}

TEST_F(Safetensors, IsKnownByItsBeginningToo) {
  const std::string other = scratch.path("table");
  put_bytes(other, one_matrix());
  EXPECT_EQ(read_encoding_file(world(), other, "").rows, 3);
  EXPECT_EQ(read_encoding_file(world(), other, "wpe", {1, -1}).values,
            (std::vector<double>{quarter_entry(1, 0), quarter_entry(1, 1), quarter_entry(2, 0), quarter_entry(2, 1)}));
}

TEST_F(Safetensors, HeadersThatLie) {
  const std::string data(24, '\0');
  const auto with = [&](const std::string& entries) { return file_of("{" + entries + "}", data); };
  expect_refused(with(tensor("a", "F32", "3,2", "0,20")), {"tensor `a`", "20 bytes of data, expected 24", "(3, 2)"});
  expect_refused(with(tensor("a", "F64", "3,2", "0,24")), {"24 bytes of data, expected 48"});
  expect_refused(with(tensor("a", "F32", "3,2", "24,0")), {"data_offsets [24, 0]"});
  expect_refused(with(tensor("a", "F32", "3,2", "4,28")), {"data_offsets [4, 28]", "0 to 24"});
  expect_refused(with(tensor("a", "F32", "3,2", "0,24,24")), {"data_offsets [0, 24, 24]"});
  expect_refused(with(tensor("a", "F32", "3,2", "0")), {"data_offsets [0]"});
  expect_refused(with(tensor("a", "F32", "3,2", "-24,0")), {"data_offsets of tensor `a`", "integer from 0"});
  expect_refused(with(tensor("a", "F32", "3,2", "0,18446744073709551615")), {"integer from 0"});
  expect_refused(with(tensor("a", "F32", "3,2", "0,24.0")), {"integer from 0"});
  expect_refused(with(tensor("a", "F32", "3.5,2", "0,24")), {"the shape of tensor `a`", "integer from 0"});
  expect_refused(with(tensor("a", "F32", "4294967296,4294967296", "0,24")), {"2^63"});
  expect_refused(with(tensor("a", "F32", "4611686018427387904,2", "0,24")), {"2^63"});
  expect_refused(with(tensor("a", "F32", "4611686018427387904,0", "0,24")), {"2^63"});
  expect_refused(with(tensor("a", "F33", "3,2", "0,24")), {"unknown type 'F33'"});
  expect_refused(with(tensor("a", "F32", "3", "0,12") + "," + tensor("b", "F32", "4", "8,24")), {"tensor `b` overlaps"});
  expect_refused(with(tensor("a", "F32", "3", "0,12") + "," + tensor("b", "F32", "2", "16,24")), {"4 bytes before the data of tensor `b`"});
  expect_refused(with(tensor("a", "F32", "3", "0,12")), {"last 12 bytes belong to no tensor"});
  expect_refused(with(tensor("a", "F32", "6", "0,24") + "," + tensor("a", "F32", "6", "0,24")), {"`a` is there twice"});
  expect_refused(with(R"("a":{"dtype":"F32","dtype":"F32","shape":[6],"data_offsets":[0,24]})"), {"`dtype` twice"});
  expect_refused(with(R"("a":{"dtype":"F32","shape":[6]})"), {"has no data_offsets"});
  expect_refused(with(R"("a":{"dtype":"F32","data_offsets":[0,24]})"), {"has no shape"});
  expect_refused(with(R"("a":{"shape":[6],"data_offsets":[0,24]})"), {"has no dtype"});
  expect_refused(with(R"("a":{"dtype":3,"shape":[6],"data_offsets":[0,24]})"), {"dtype that is no text"});
  expect_refused(with(R"("a":{"dtype":"F32","shape":6,"data_offsets":[0,24]})"), {"shape of tensor `a`", "not a list"});
  expect_refused(with(R"("a":{"dtype":"F32","shape":[6],"data_offsets":[0,24],"extra":1})"), {"unknown key `extra`"});
  expect_refused(with(R"("a":[1,2])"), {"not described by an object"});
  expect_refused(with(R"("line\nbreak":[1,2])"), {"line?break"});
}

TEST_F(Safetensors, BrokenFiles) {
  const std::string good = one_matrix();
  for (std::size_t length = 0; length < good.size(); length += 5) expect_refused(good.substr(0, length), {});
  expect_refused(good + "x", {"last 1 bytes"});
  expect_refused(good.substr(0, 4), {"4 bytes, too few"});
  expect_refused(good.substr(0, 40), {"ends within its header"});
  expect_refused(good.substr(0, good.size() - 3), {"data_offsets [0, 24]", "0 to 21", "copied only in part"});
  expect_refused(little_endian(std::uint64_t{1} << 62, 8) + "{}", {"a header of 4611686018427387904 bytes", "at most 100000000"});
  expect_refused(little_endian(~std::uint64_t{0}, 8) + "{}", {"at most 100000000"});
  expect_refused(little_endian(100'000'000, 8) + "{}", {"ends within its header"});
  expect_refused(file_of(" {}", ""), {"does not begin with '{'"});
  expect_refused(file_of("", ""), {"does not begin with '{'"});
  for (const std::string header : {"{", "{\"a\"}", "{]", "{\"a\":1,}", "{\"a\":\xff}", "{}{}"})
    expect_refused(file_of(header, ""), {"JSON"});
  expect_refused(file_of(std::string(5000, '{'), ""), {"JSON"});
  std::string deep = "{\"a\":";
  for (int k = 0; k < 5000; ++k) deep += '[';
  expect_refused(file_of(deep, ""), {"JSON"});
  expect_refused(file_of("{}", ""), {"which tensor", "no matrix of floats"});
}

TEST_F(Safetensors, NonFiniteEntriesAreNamed) {
  std::string data = matrix_data("BF16");
  data.replace(2 * 3, 2, little_endian(0x7F80, 2));
  expect_refused(file_of("{" + tensor("a", "BF16", "3,2", "0,12") + "}", data), {"row 1, column 1", "inf"});
}

/// Any change of a byte is either refused in one line or gives another matrix: nothing crashes.
TEST_F(Safetensors, ChangedBytes) {
  const std::string good = one_matrix();
  std::mt19937 generator(1);
  const int changes = testing_support::scaled(300, 60);
  for (int k = 0; k < changes; ++k) {
    std::string bad = good;
    for (int times = 0; times < 1 + k % 3; ++times) bad[generator() % bad.size()] = static_cast<char>(generator() % 256);
    put_bytes(path, bad);
    try {
      const FileMatrix matrix = read_encoding_file(Communicator::self(), path, "");
      EXPECT_EQ(std::ssize(matrix.values), matrix.rows * matrix.columns);
    } catch (const CollectiveError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
    barrier(world());
  }
}

}  // namespace
}  // namespace posgeom
