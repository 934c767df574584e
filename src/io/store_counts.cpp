#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "io/broadcast.hpp"
#include "io/dimension_scales.hpp"
#include "io/store_file.hpp"
#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

using io::StoreReader;

void lay_out(hid_t h5, const CountsFile& file) {
  const PositionCounts& c = file.counts;
  expects(std::ssize(c.position_total) == c.length && std::ssize(c.indptr) == c.length + 1 && c.token.size() == c.count.size(),
          "counts are compressed sparse rows of `length` positions");
  hdf5::write_attribute(h5, "length", c.length);
  hdf5::write_attribute(h5, "vocab_size", c.vocab_size);
  hdf5::write_attribute(h5, "document_count", c.document_count);
  hdf5::write_attribute(h5, "empty_document_count", c.empty_document_count);
  hdf5::write_attribute(h5, "token_count", c.token_count);
  hdf5::write_attribute(h5, "longest_document", c.longest_document);
  hdf5::write_attribute(h5, "sequences", file.sequences);

  std::vector<std::int32_t> position(c.position_total.size());
  std::iota(position.begin(), position.end(), 0);
  const Index rows[]{c.length};
  const Index bounds[]{c.length + 1};
  const Index nonzeros[]{std::ssize(c.token)};
  hdf5::write_vector(h5, "/position", std::span<const std::int32_t>(position), rows);
  hdf5::write_vector(h5, "/position_total", std::span<const Count>(c.position_total), rows);
  hdf5::write_vector(h5, "/counts/indptr", std::span<const Index>(c.indptr), bounds);
  hdf5::create_dataset(h5, "/counts/token", hdf5::file_type<Token>(), nonzeros);
  hdf5::create_dataset(h5, "/counts/count", hdf5::file_type<Count>(), nonzeros);

  io::DimensionScales scales;
  scales.add("/position");
  scales.attach("/position_total", {"/position"});
  scales.add("/counts/indptr");
  scales.add("/counts/token");
  scales.attach("/counts/count", {"/counts/token"});
  if (!file.vocabulary.empty()) {
    hdf5::write_texts(h5, "/vocabulary", file.vocabulary);
    scales.add("/vocabulary");
  }
  scales.write(h5);
}

/// What the geometry relies on; says where the file breaks it.
void check_rows(const StoreReader& reader, const PositionCounts& c) {
  if (c.indptr.front() != 0 || c.indptr.back() != std::ssize(c.token)) {
    reader.refuse(fmt::format("/counts/indptr runs from {} to {}, expected 0 to {}", c.indptr.front(), c.indptr.back(), c.token.size()));
  }
  for (Index i = 0; i < c.length; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (c.indptr[row] > c.indptr[row + 1] || c.indptr[row + 1] > std::ssize(c.token))
      reader.refuse(fmt::format("/counts/indptr falls at position {}", i));
    Token previous = -1;
    Count total = 0;
    for (auto k = static_cast<std::size_t>(c.indptr[row]); k < static_cast<std::size_t>(c.indptr[row + 1]); ++k) {
      if (c.token[k] <= previous || c.token[k] >= c.vocab_size) {
        reader.refuse(fmt::format("/counts/token at position {} has {} after {}, expected ascending ids below {}", i, c.token[k], previous,
                                  c.vocab_size));
      }
      if (c.count[k] <= 0)
        reader.refuse(fmt::format("/counts/count at position {} has {} for token {}, expected at least 1", i, c.count[k], c.token[k]));
      previous = c.token[k];
      total += c.count[k];
    }
    if (total != c.position_total[row]) {
      reader.refuse(fmt::format("/position_total is {} at position {}, but its counts sum to {}", c.position_total[row], i, total));
    }
  }
}

CountsFile read_on_root(const std::string& path) {
  const StoreReader reader(path, io::counts_format);
  CountsFile file;
  PositionCounts& c = file.counts;
  c.length = reader.integer("length");
  c.vocab_size = reader.integer("vocab_size");
  c.document_count = reader.integer("document_count");
  c.empty_document_count = reader.integer("empty_document_count");
  c.token_count = reader.integer("token_count");
  c.longest_document = reader.integer("longest_document");
  file.sequences = reader.text("sequences");
  if (c.length < 1) reader.refuse(fmt::format("the attribute length is {}, expected at least 1", c.length));
  c.position_total = reader.values<Count>("/position_total", {c.length});
  c.indptr = reader.values<Index>("/counts/indptr", {c.length + 1});
  c.token = reader.values<Token>("/counts/token", {-1});
  c.count = reader.values<Count>("/counts/count", {std::ssize(c.token)});
  check_rows(reader, c);
  if (reader.has("/vocabulary")) {
    file.vocabulary = reader.texts("/vocabulary");
    if (std::ssize(file.vocabulary) != c.vocab_size) {
      reader.refuse(fmt::format("/vocabulary has {} entries, expected vocab_size = {}", file.vocabulary.size(), c.vocab_size));
    }
  }
  return file;
}

}  // namespace

void write_counts(const Communicator& comm, const std::string& path, const CountsFile& file, const Provenance& provenance) {
  io::write_store(
      comm, path, io::counts_format, provenance, [&](hid_t h5) { lay_out(h5, file); },
      [&](io::SharedWriter& writer) {
        writer.vector("/counts/token", std::span<const Token>(file.counts.token));
        writer.vector("/counts/count", std::span<const Count>(file.counts.count));
      });
}

CountsFile read_counts(const Communicator& comm, const std::string& path) {
  CountsFile file = collective(comm, "reading " + path, [&] { return comm.is_root() ? read_on_root(path) : CountsFile{}; });
  PositionCounts& c = file.counts;
  io::broadcast_all(comm, c.length, c.vocab_size, c.document_count, c.empty_document_count, c.token_count, c.longest_document,
                    c.position_total, c.indptr, c.token, c.count, file.vocabulary, file.sequences);
  return file;
}

}  // namespace posgeom
