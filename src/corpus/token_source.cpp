#include "corpus/token_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <system_error>

#include "hdf5/hdf5.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian and read as they stand");

class FileIds : public IdSource {
 public:
  explicit FileIds(const CorpusFile& file) : file_(file.path), offset_(file.data_offset), width_(file.width) {
    const Index bytes = size_on_disk(file.path);
    if (bytes == file.bytes) return;
    throw Error(fmt::format("reading {}: it has {} bytes, but had {} when the corpus was opened; do not change a corpus that is being read",
                            file.path, bytes, file.bytes));
  }

  void read(Index first, Index count, char* ids) const override {
    read_exactly(file_, offset_ + first * width_, {ids, static_cast<std::size_t>(count * width_)}, "ids");
  }
  void will_read(Index first, Index count) const override { file_.advise(offset_ + first * width_, count * width_); }

 private:
  InputFile file_;
  Index offset_, width_;
};

class DatasetIds : public IdSource {
 public:
  explicit DatasetIds(const CorpusFile& file) : width_(file.width) {
    const hdf5::Silence silence;
    file_ = hdf5::open_to_read(file.path);
    dataset_ = hdf5::open_integers(file_, file.dataset);
    Index elements = 1;
    for (const Index extent : dataset_.shape) elements *= extent;
    if (elements == file.token_count && dataset_.width == file.width) return;
    throw Error(
        fmt::format("reading {}: it has {} elements of {} bytes, but had {} of {} when the corpus was opened; do not change a "
                    "corpus that is being read",
                    name_in_errors(file), elements, dataset_.width, file.token_count, file.width));
  }

  void read(Index first, Index count, char* ids) const override {
    const hdf5::Silence silence;
    hdf5::read_range(dataset_, width_, first, count, ids);
  }
  void will_read(Index, Index) const override {}

 private:
  hdf5::Handle file_;
  hdf5::IntegerDataset dataset_;
  int width_;
};

}  // namespace

std::unique_ptr<IdSource> open_ids(const CorpusFile& file) {
  if (!file.dataset.empty()) return std::make_unique<DatasetIds>(file);
  return std::make_unique<FileIds>(file);
}

void read_exactly(const InputFile& file, Index offset, std::span<char> bytes, std::string_view what) {
  const Index got = file.read_at(offset, bytes);
  if (got == std::ssize(bytes)) return;
  throw Error(fmt::format("reading {}: it ends at byte {}, but {} up to byte {} were expected; do not change a corpus that is being read",
                          file.path(), offset + got, what, offset + std::ssize(bytes)));
}

Index size_on_disk(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) throw Error(fmt::format("the corpus file {}: {}", path, error.message()));
  return static_cast<Index>(bytes);
}

std::string name_in_errors(const CorpusFile& file) { return file.dataset.empty() ? file.path : file.path + ":" + file.dataset; }

}  // namespace posgeom
