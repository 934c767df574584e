#include "corpus/part_reader.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Range whole_text{0, std::numeric_limits<Index>::max()};

/// floor(total * part / parts) without overflow.
Index cut(Index total, Index part, Index parts) { return total / parts * part + total % parts * part / parts; }

/// The rank of each compressed file, by its index among them.
std::vector<int> assign_whole_files(const std::vector<Index>& bytes, int ranks) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::vector<Index> load(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owner(bytes.size());
  for (const std::size_t k : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bytes[k];
    owner[k] = static_cast<int>(least - load.begin());
  }
  return owner;
}

}  // namespace

std::vector<Part> parts_of(const std::vector<CorpusFile>& files, int rank, int ranks) {
  expects(0 <= rank && rank < ranks, "0 <= rank < ranks");
  Index plain_bytes = 0;
  std::vector<Index> compressed_bytes;
  for (const CorpusFile& file : files) {
    if (file.compressed) {
      compressed_bytes.push_back(file.bytes);
    } else {
      plain_bytes += file.bytes;
    }
  }
  const Index begin = cut(plain_bytes, rank, ranks), end = cut(plain_bytes, rank + 1, ranks);
  const bool in_turn = std::ssize(compressed_bytes) < ranks;
  const std::vector<int> owner = assign_whole_files(compressed_bytes, ranks);

  std::vector<Part> parts;
  Index file_begin = 0;
  std::size_t compressed = 0;
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (files[k].compressed) {
      if (in_turn) {
        parts.push_back({k, whole_text, rank, ranks});
      } else if (owner[compressed] == rank) {
        parts.push_back({k, whole_text});
      }
      ++compressed;
      continue;
    }
    const Range range{std::max(begin - file_begin, Index{0}), std::min(end - file_begin, files[k].bytes)};
    if (range.begin < range.end) parts.push_back({k, range});
    file_begin += files[k].bytes;
  }
  return parts;
}

PartReader::PartReader(const Corpus& corpus, int rank, int ranks)
    : options_(corpus.options), files_(corpus.files), parts_(parts_of(corpus.files, rank, ranks)) {
  for (const Part& part : parts_) bytes_total_ += bytes_of(part);
}

bool PartReader::next(Record& record) {
  for (; part_ < parts_.size(); ++part_) {
    const Part& part = parts_[part_];
    if (!reader_) {
      reader_.emplace(options_, files_[part.file], part.range);
      record_ = 0;
    }
    while (reader_->next(record)) {
      if (record_++ % part.stride != part.first) continue;
      offset_ = record.offset;
      return true;
    }
    reader_.reset();
    bytes_before_ += bytes_of(part);
  }
  return false;
}

std::string PartReader::place() const { return place_of(files_[parts_[part_].file], offset_); }

Index PartReader::bytes_done() const { return bytes_before_ + (reader_ ? reader_->bytes_done() : 0); }

Index PartReader::bytes_of(const Part& part) const {
  const CorpusFile& file = files_[part.file];
  return file.compressed ? file.bytes : part.range.end - part.range.begin;
}

}  // namespace posgeom
