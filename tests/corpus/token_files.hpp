#pragma once
// Token files of every format, written by hand, and what must be read from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "corpus_files.hpp"
#include "hdf5/hdf5.hpp"
#include "posgeom/corpus/corpus.hpp"

namespace posgeom::testing_support {

using Ids = std::vector<Index>;
using Documents = std::vector<Ids>;

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

/// Ids of 1, 2, 4 or 8 bytes, little-endian.
inline std::string id_bytes(const Ids& ids, int width) {
  std::string bytes;
  for (const Index id : ids) {
    for (int k = 0; k < width; ++k) bytes += static_cast<char>(static_cast<std::uint64_t>(id) >> (8 * k));
  }
  return bytes;
}

inline Ids joined(const Documents& documents) {
  Ids ids;
  for (const Ids& document : documents) ids.insert(ids.end(), document.begin(), document.end());
  return ids;
}

/// `begins`: sequences at which documents begin; `type`: Megatron's code of ids of `width` bytes.
inline std::string megatron_index(const Documents& sequences, const Ids& begins, int type, int width) {
  std::string index("MMIDIDX\0\0", 9);
  put<std::uint64_t>(index, 1);
  put<std::uint8_t>(index, static_cast<std::uint8_t>(type));
  put<std::uint64_t>(index, sequences.size());
  put<std::uint64_t>(index, begins.size() + 1);
  for (const Ids& sequence : sequences) put(index, static_cast<std::int32_t>(sequence.size()));
  Index offset = 0;
  for (const Ids& sequence : sequences) {
    put(index, offset);
    offset += std::ssize(sequence) * width;
  }
  for (const Index begin : begins) put(index, begin);
  put(index, std::ssize(sequences));
  return index;
}

/// One sequence a document.
inline std::string megatron_index(const Documents& documents, int type, int width) {
  Ids begins(documents.size());
  std::iota(begins.begin(), begins.end(), Index{0});
  return megatron_index(documents, begins, type, width);
}

inline std::string llmc_file(const Ids& ids, int width) {
  std::string bytes;
  put<std::int32_t>(bytes, width == 2 ? 20240520 : 20240801);
  put<std::int32_t>(bytes, width == 2 ? 1 : 7);
  put<std::int32_t>(bytes, static_cast<std::int32_t>(ids.size()));
  bytes.resize(1024);
  return bytes + id_bytes(ids, width);
}

/// The ends of documents, or (with the separators counted in) their begins in bytes.
inline std::string ends_of(const Documents& documents) {
  std::string bytes;
  Index end = 0;
  for (const Ids& document : documents) put(bytes, end += std::ssize(document));
  return bytes;
}

inline std::string npy_file(const Ids& ids, const std::string& type, const std::string& shape, const std::string& order = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  put(bytes, static_cast<std::uint16_t>(header.size()));
  return bytes + header + id_bytes(ids, type.back() - '0');
}

/// Writes a data set into a new file, or one more into `path`. `chunk`: 0: contiguous, else compressed chunks of so many (rows).
inline void write_dataset(const std::string& path, const std::string& name, const Ids& values, int width, bool is_signed,
                          std::vector<hsize_t> shape, hsize_t chunk = 0, bool big_endian = false) {
  const hid_t file = std::filesystem::exists(path) ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                                                   : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE),
              type = H5Tcopy(hdf5::native_integer(width, is_signed));
  H5Tset_order(type, big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
  H5Pset_create_intermediate_group(links, 1);
  if (chunk > 0) {
    std::vector<hsize_t> chunks = shape;
    for (hsize_t& extent : chunks) extent = std::max<hsize_t>(std::min(extent, chunk), 1);
    H5Pset_chunk(creation, static_cast<int>(shape.size()), chunks.data());
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 4);
  }
  const hid_t dataset = H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0);
  if (!values.empty()) {
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  }
  H5Dclose(dataset);
  H5Tclose(type);
  H5Pclose(links);
  H5Pclose(creation);
  H5Sclose(space);
  H5Fclose(file);
}

/// How the documents of an index, or the whole file as one, are split further: written down as the rules say, one id after the other.
struct Splitting {
  Index separator = -1;
  bool begins = false;
  bool keep = false;
  Ids ignored;
  Index max_tokens = 0;
};

inline Documents split(const Documents& indexed, bool by_index, const Splitting& rule) {
  Documents result;
  for (const Ids& whole : indexed) {
    Documents parts;
    if (whole.empty() && by_index) parts.emplace_back();
    bool open = false;
    for (const Index id : whole) {
      const bool separates = rule.separator >= 0 && id == rule.separator;
      if (!open || (separates && rule.begins)) parts.emplace_back();
      open = !(separates && !rule.begins);
      if (!separates || rule.keep) parts.back().push_back(id);
    }
    result.insert(result.end(), parts.begin(), parts.end());
  }
  for (Ids& document : result) {
    std::erase_if(document, [&](Index id) { return std::find(rule.ignored.begin(), rule.ignored.end(), id) != rule.ignored.end(); });
    if (rule.max_tokens > 0 && std::ssize(document) > rule.max_tokens) document.resize(static_cast<std::size_t>(rule.max_tokens));
  }
  return result;
}

}  // namespace posgeom::testing_support
