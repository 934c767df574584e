#include "posgeom/io/encoding_file.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "hdf5/hdf5.hpp"
#include "io/known_files.hpp"
#include "io/npy.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

/// The lowest `size` bytes of `value`.
std::string bytes_of_integer(std::uint64_t value, int size, bool big_endian) {
  std::string bytes;
  for (int k = 0; k < size; ++k) bytes += static_cast<char>(value >> 8 * (big_endian ? size - 1 - k : k) & 255);
  return bytes;
}

/// Where an element of doubles begins.
std::size_t byte_of_element(std::size_t element) { return element * sizeof(double); }

/// A .npy file, as numpy.save writes it.
std::string npy(const std::string& type, const std::string& shape, const std::string& data, int version = 1, const char* order = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} + bytes_of_integer(header.size(), version == 1 ? 2 : 4, false) +
         header + data;
}

std::uint64_t bits_of(double value, int width) {
  if (width == 8) return std::bit_cast<std::uint64_t>(value);
  if (width == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (value == 0) return 0;
  const int exponent = std::ilogb(std::abs(value));  // a half: sign, exponent + 15, 10 bits
  const auto fraction = static_cast<std::uint64_t>((std::ldexp(std::abs(value), -exponent) - 1) * 1024);
  return (value < 0 ? 0x8000U : 0U) | static_cast<std::uint64_t>(exponent + 15) << 10 | fraction;
}

std::string matrix_data(int width, bool big_endian, bool fortran) {
  std::string data;
  for (Index k = 0; k < 6; ++k)
    data += bytes_of_integer(bits_of(fortran ? quarter_entry(k % 3, k / 3) : quarter_entry(k / 2, k % 2), width), width, big_endian);
  return data;
}

void expect_matrix(const std::string& path, const std::string& dataset = {}) {
  const FileMatrix matrix = read_encoding_file(world(), path, dataset);
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 2);
  ASSERT_EQ(matrix.values.size(), 6U);
  for (Index k = 0; k < 6; ++k) EXPECT_EQ(matrix.values[static_cast<std::size_t>(k)], quarter_entry(k / 2, k % 2)) << k;
}

void expect_refused(const std::string& path, const std::vector<std::string>& parts) {
  expect_error([&] { read_encoding_file(world(), path, ""); }, parts);
}

TEST(Npy, EveryVersionWidthOrderAndEndianness) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  for (const int version : {1, 2, 3}) {
    for (const int width : {2, 4, 8}) {
      for (const bool big_endian : {false, true}) {
        for (const bool fortran : {false, true}) {
          put_bytes(path, npy((big_endian ? ">f" : "<f") + std::to_string(width), "(3, 2)", matrix_data(width, big_endian, fortran),
                              version, fortran ? "True" : "False"));
          expect_matrix(path);
          barrier(world());
        }
      }
    }
  }
}

TEST(Npy, HeaderIsReadAsPythonMayWriteIt) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  const std::string header = R"({"shape":(3L,2L),"fortran_order":False,"descr":"<f8"})";
  put_bytes(path,
            "\x93NUMPY" + std::string("\x01\x00", 2) + bytes_of_integer(header.size(), 2, false) + header + matrix_data(8, false, false));
  expect_matrix(path);
}

TEST(Npy, EmptyMatrix) {
  const Scratch scratch;
  put_bytes(scratch.path("p.npy"), npy("<f8", "(0, 4)", ""));
  const FileMatrix matrix = read_encoding_file(world(), scratch.path("p.npy"), "");
  EXPECT_EQ(matrix.rows, 0);
  EXPECT_EQ(matrix.columns, 4);
}

TEST(Npy, Half) {
  EXPECT_EQ(io::half_to_double(0x3C00), 1.0);
  EXPECT_EQ(io::half_to_double(0xC000), -2.0);
  EXPECT_EQ(io::half_to_double(0x7BFF), 65504.0);
  EXPECT_EQ(io::half_to_double(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(io::half_to_double(0x03FF), std::ldexp(1023.0, -24));
  EXPECT_EQ(io::half_to_double(0x0400), std::ldexp(1.0, -14));
  EXPECT_TRUE(std::signbit(io::half_to_double(0x8000)));
  EXPECT_TRUE(std::isinf(io::half_to_double(0x7C00)));
  EXPECT_TRUE(std::isnan(io::half_to_double(0x7C01)));
}

TEST(Npy, OtherTypesAndDimensionsAreNamed) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  const std::string data(48, '\0');
  for (const char* type : {"<i4", "<i8", "|b1", "<c16", "|S8", "<f16", "|O", "<U4", ""}) {
    put_bytes(path, npy(type, "(3, 2)", data));
    expect_refused(path, {"p.npy", std::string("'") + type + "'", "floats of 16, 32 or 64 bits"});
  }
  for (const char* shape : {"(6,)", "()", "(3, 2, 1)"}) {
    put_bytes(path, npy("<f8", shape, data));
    expect_refused(path, {"p.npy", "expected a matrix"});
  }
}

TEST(Npy, DataOfAnotherLength) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  const std::string good = npy("<f8", "(3, 2)", matrix_data(8, false, false));
  for (std::size_t length = 0; length < good.size(); length += 7) {
    put_bytes(path, good.substr(0, length));
    expect_refused(path, {"p.npy"});
  }
  put_bytes(path, good + 'x');
  expect_refused(path, {"49 bytes of data", "3 x 2"});
  put_bytes(path, npy("<f8", "(4294967296, 4294967296)", ""));
  expect_refused(path, {"0 bytes of data"});
  put_bytes(path, npy("<f8", "(1152921504606846976, 2)", ""));
  expect_refused(path, {"0 bytes of data"});
  put_bytes(path, npy("<f8", "(99999999999999999999, 2)", ""));
  expect_refused(path, {"shape"});
}

TEST(Npy, BrokenHeaders) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  const std::string start = "\x93NUMPY" + std::string("\x01\x00", 2);
  for (const std::string header :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 2)}", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 2)}", "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2", "{'descr': '<f8", "{'descr': '<f8' 'fortran_order': False}",
        "{'other': '<f8'}", "[1]"}) {
    std::string bytes = start;
    bytes += bytes_of_integer(header.size(), 2, false);
    bytes += header;
    put_bytes(path, bytes);
    expect_refused(path, {"p.npy", "header has"});
  }
  put_bytes(path, start + bytes_of_integer(60000, 2, false) + "{}");
  expect_refused(path, {"p.npy", "ends within its .npy header"});
  put_bytes(path, npy("<f8", "(3, 2)", matrix_data(8, false, false), 4));
  expect_refused(path, {"p.npy", "version 4"});
}

TEST(NonFinite, IsNamedByRowAndColumn) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  for (const bool fortran : {false, true}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      std::string data = matrix_data(8, false, fortran);
      data.replace(byte_of_element(5), 8, bytes_of_integer(std::bit_cast<std::uint64_t>(bad), 8, false));
      data.replace(byte_of_element(fortran ? 4 : 3), 8, bytes_of_integer(std::bit_cast<std::uint64_t>(bad), 8, false));
      put_bytes(path, npy("<f8", "(3, 2)", data, 1, fortran ? "True" : "False"));
      expect_refused(path, {"p.npy", "row 1, column 1"});
    }
  }
}

/// **Collective.** The root writes the matrix as `name`, of the type `stored`.
void put_hdf5(const std::string& path, const std::string& name, hid_t stored, const std::vector<Index>& shape) {
  if (world().is_root()) {
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    std::vector<double> values(6);
    for (Index k = 0; k < 6; ++k) values[static_cast<std::size_t>(k)] = quarter_entry(k / 2, k % 2);
    hdf5::write(hdf5::create_dataset(file, name, stored, shape), H5T_NATIVE_DOUBLE, values.data());
  }
  barrier(world());
}

hdf5::Handle half_type() {
  hdf5::Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

TEST(Hdf5, EveryWidthAndAnyDataset) {
  const Scratch scratch;
  const std::string path = scratch.path("p.h5");
  const hdf5::Handle half = half_type();
  for (const hid_t type : {hid_t{half}, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE}) {
    put_hdf5(path, "encoding", type, {3, 2});
    expect_matrix(path);
    put_hdf5(path, "/model/embeddings/position", type, {3, 2});
    expect_matrix(path, "/model/embeddings/position");
    expect_matrix(path, "model/embeddings/position");
  }
}

TEST(Hdf5, OurOwnGeometry) {
  const Scratch scratch;
  write_geometry(world(), scratch.path("g.h5"), known_geometry(), nullptr, known_provenance(1));
  const FileMatrix matrix = read_encoding_file(world(), scratch.path("g.h5"), "");
  EXPECT_EQ(matrix.rows, 7);
  EXPECT_EQ(matrix.columns, 5);
  EXPECT_EQ(matrix.values[5 * 2 + 1], known_geometry().encoding.at(2, 1));
}

TEST(Hdf5, OtherTypesDimensionsAndNames) {
  const Scratch scratch;
  const std::string path = scratch.path("p.h5");
  put_hdf5(path, "encoding", H5T_STD_I32LE, {3, 2});
  expect_refused(path, {"p.h5", "encoding", "integers of 32 bits"});
  put_hdf5(path, "encoding", H5T_IEEE_F64LE, {6});
  expect_refused(path, {"p.h5", "(6)", "expected a matrix"});
  put_hdf5(path, "encoding", H5T_IEEE_F64LE, {3, 2, 1});
  expect_refused(path, {"p.h5", "(3, 2, 1)"});
  put_hdf5(path, "weights/pos", H5T_IEEE_F64LE, {3, 2});
  expect_refused(path, {"p.h5", "no dataset `encoding`", "weights"});
  expect_error([&] { read_encoding_file(world(), path, "weights/none/deep"); }, {"no dataset `weights/none/deep`"});
  expect_error([&] { read_encoding_file(world(), path, "weights"); }, {"p.h5", "weights"});
}

TEST(Rows, AreThoseAskedFor) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  put_bytes(path, npy("<f8", "(3, 2)", matrix_data(8, false, false)));
  put_hdf5(scratch.path("p.h5"), "encoding", H5T_IEEE_F64LE, {3, 2});
  for (const std::string& file : {path, scratch.path("p.h5")}) {
    for (const RowRange rows :
         {RowRange{1, 3}, RowRange{1, -1}, RowRange{0, 2}, RowRange{2, 3}, RowRange{0, -1}, RowRange{0, 3}, RowRange{3, -1}}) {
      const FileMatrix matrix = read_encoding_file(world(), file, "", rows);
      EXPECT_EQ(matrix.rows, (rows.end == -1 ? 3 : rows.end) - rows.begin);
      ASSERT_EQ(std::ssize(matrix.values), 2 * matrix.rows);
      for (Index k = 0; k < 2 * matrix.rows; ++k)
        EXPECT_EQ(matrix.values[static_cast<std::size_t>(k)], quarter_entry(rows.begin + k / 2, k % 2));
    }
    expect_error([&] { read_encoding_file(world(), file, "", {1, 4}); }, {file, "rows [1:4] were asked for", "it has 3"});
    expect_error([&] { read_encoding_file(world(), file, "", {4, -1}); }, {file, "rows [4:] were asked for", "it has 3"});
  }
}

TEST(Rows, OthersMayHoldAnything) {
  const Scratch scratch;
  const std::string path = scratch.path("p.npy");
  std::string data = matrix_data(8, false, false);
  data.replace(0, 8, bytes_of_integer(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()), 8, false));
  data.replace(byte_of_element(5), 8, bytes_of_integer(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()), 8, false));
  put_bytes(path, npy("<f8", "(3, 2)", data));
  EXPECT_EQ(read_encoding_file(world(), path, "", {1, 2}).values, (std::vector<double>{quarter_entry(1, 0), quarter_entry(1, 1)}));
  expect_error([&] { read_encoding_file(world(), path, "", {1, 3}); }, {"p.npy", "row 2, column 1", "inf"});
}

TEST(OtherFiles, AreRefusedByName) {
  const Scratch scratch;
  expect_refused(scratch.path("none.npy"), {"none.npy", "No such file or directory"});
  expect_refused(scratch.path("."), {"a folder, expected a file"});
  put_bytes(scratch.path("empty"), "");
  expect_refused(scratch.path("empty"), {"empty", "neither a .npy nor an HDF5 nor a safetensors file"});
  put_bytes(scratch.path("text"), "1 2 3\n4 5 6\n");
  expect_refused(scratch.path("text"), {"text", "neither a .npy nor an HDF5 nor a safetensors file"});
  put_bytes(scratch.path("p.npz"), std::string("PK\x03\x04") + std::string(30, '\0'));
  expect_refused(scratch.path("p.npz"), {"p.npz", "zip archive", "numpy.save", "numpy.load"});
  for (const char* name : {"m.pt", "m.pth", "pytorch_model.bin", "last.ckpt", "unknown"}) {
    for (const std::string start : {"PK\x03\x04", "\x80\x02}q", "\x80\x04\x95"}) {
      put_bytes(scratch.path(name), start + std::string(30, '\0'));
      expect_refused(scratch.path(name), {name, "PyTorch", "torch.load('" + scratch.path(name) + "'", "numpy.save", "safetensors"});
    }
  }
  put_bytes(scratch.path("renamed.pt"), npy("<f8", "(3, 2)", matrix_data(8, false, false)));
  expect_matrix(scratch.path("renamed.pt"));
  put_bytes(scratch.path("p.npy"), npy("<f8", "(3, 2)", matrix_data(8, false, false)));
  expect_error([&] { read_encoding_file(world(), scratch.path("p.npy"), "encoding"); }, {"p.npy", "no datasets"});
}

TEST(Inspect, ShowsTheShapeOfNpy) {
  const Scratch scratch;
  put_bytes(scratch.path("p.npy"), npy("<f4", "(3, 2)", matrix_data(4, false, true), 1, "True"));
  const InspectLines expected{{"format", "NumPy array (.npy)"}, {"shape", "3 x 2"}, {"type", "<f4, Fortran order"}};
  EXPECT_EQ(inspect_file(world(), scratch.path("p.npy")), expected);
}

}  // namespace
}  // namespace posgeom
