#include "corpus/token_boundaries.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "corpus/token_source.hpp"
#include "hdf5/hdf5.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index window_documents = 4096;

/// Rows of equal length, or the whole file.
class RowBoundaries : public Boundaries {
 public:
  RowBoundaries(Index count, Index row_length, Index tokens, const std::string& path)
      : Boundaries(count, tokens, path), row_length_(row_length) {}

 private:
  void load(Index first, std::span<Index> begins) override {
    for (Index& begin : begins) begin = first++ * row_length_;
  }
  Index row_length_;
};

/// u64 values in a file: begins in bytes (infini-gram), or ends in tokens (datatrove).
class FileBoundaries : public Boundaries {
 public:
  FileBoundaries(const CorpusFile& file, bool ends, Index unit)
      : Boundaries(file.document_count, file.token_count, file.index_path), index_(file.index_path), ends_(ends), unit_(unit) {}

 private:
  void load(Index first, std::span<Index> begins) override {
    if (ends_ && first == 0 && !begins.empty()) {
      begins.front() = 0;
      begins = begins.subspan(1);
    } else if (ends_) {
      --first;
    }
    read_exactly(index_, first * 8, {reinterpret_cast<char*>(begins.data()), begins.size_bytes()}, "the documents' places");
    if (unit_ > 1) std::transform(begins.begin(), begins.end(), begins.begin(), [this](Index bytes) { return bytes / unit_; });
  }
  InputFile index_;
  bool ends_;
  Index unit_;
};

class DatasetBoundaries : public Boundaries {
 public:
  explicit DatasetBoundaries(const CorpusFile& file)
      : Boundaries(file.document_count, file.token_count, file.path + ":" + file.offsets_dataset) {
    const hdf5::Silence silence;
    file_ = hdf5::open_to_read(file.path);
    offsets_ = hdf5::open_integers(file_, file.offsets_dataset);
    if (offsets_.shape.size() != 1 || offsets_.shape[0] < count()) {
      throw Error(fmt::format("reading {}:{}: it has become shorter since the corpus was opened", file.path, file.offsets_dataset));
    }
  }

 private:
  void load(Index first, std::span<Index> begins) override {
    const hdf5::Silence silence;
    hdf5::read_range(offsets_, 8, first, std::ssize(begins), begins.data());
  }
  hdf5::Handle file_;
  hdf5::IntegerDataset offsets_;
};

}  // namespace

Index Boundaries::looked_up(Index k) {
  if (k < window_begin_ || k >= window_begin_ + std::ssize(window_)) {
    // A jump, as a binary search makes them, asks for one value; the next one in line for a window.
    const bool onwards = k == window_begin_ + std::ssize(window_);
    window_.resize(static_cast<std::size_t>(onwards ? std::min(window_documents, count_ - k) : 1));
    window_begin_ = k;
    load(k, window_);
  }
  return window_[static_cast<std::size_t>(k - window_begin_)];
}

Index Boundaries::begin_of(Index k) {
  if (k >= count_) return tokens_;
  const Index begin = looked_up(k);
  if (begin < 0 || begin > tokens_) {
    throw Error(fmt::format(
        "reading {}: document {} begins at token {} of {}, which it did not when the corpus was opened; do not change a corpus that is "
        "being read",
        path_, k, begin, tokens_));
  }
  return begin;
}

Index Boundaries::first_from(Index token) {
  Index low = 0, high = count_;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (begin_of(middle) < token) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::unique_ptr<Boundaries> open_boundaries(Format format, const CorpusFile& file) {
  switch (format) {
    case Format::megatron:
      return open_megatron_boundaries(file);
    case Format::datatrove:
      return std::make_unique<FileBoundaries>(file, true, 1);
    case Format::infinigram:
      return std::make_unique<FileBoundaries>(file, false, file.width);
    default:
      break;
  }
  if (!file.offsets_dataset.empty()) return std::make_unique<DatasetBoundaries>(file);
  if (file.document_count >= 0) return std::make_unique<RowBoundaries>(file.document_count, file.row_length, file.token_count, file.path);
  return std::make_unique<RowBoundaries>(file.token_count > 0 ? 1 : 0, 0, file.token_count, file.path);
}

}  // namespace posgeom
