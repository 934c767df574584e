#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <vector>

#include "corpus/byte_source.hpp"
#include "corpus/gzip_trailers.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// One file through libarchive: the "raw" format, which holds a single entry, behind one decompression filter.
class CompressedSource : public ByteSource {
 public:
  CompressedSource(const std::string& path, Index bytes)
      : file_(path), bytes_(bytes), block_(static_cast<std::size_t>(std::clamp(bytes, Index{1}, Index{1} << 20))) {
    archive* const a = archive_.get();
    expect_memory(a != nullptr);
    std::array<char, 2> magic{};
    if (file_.read_at(0, magic) == 2 && magic == std::array<char, 2>{'\x1F', '\x8B'}) trailers_.emplace();
    // A filter that libarchive was built without runs its command-line program instead and returns a warning.
    for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_xz, archive_read_support_filter_zstd,
                               archive_read_support_filter_bzip2, archive_read_support_format_raw}) {
      if (support(a) < ARCHIVE_WARN) fail();
    }
    const int opened = archive_read_open(a, this, nullptr, &CompressedSource::read_block, nullptr);
    if (opened != ARCHIVE_OK && !empty_text()) fail();
    at_end_ = opened != ARCHIVE_OK;
    archive_entry* entry = nullptr;
    if (!at_end_ && archive_read_next_header(a, &entry) != ARCHIVE_OK) fail();
    if (archive_filter_count(a) > 2) {
      throw Error(fmt::format("reading {}: it is compressed twice; decompress it once", file_.path()));
    }
    if (archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE) fail("its first bytes are cut off or damaged");
    if (at_end_) check_end();
  }

  Index read(std::span<char> bytes) override {
    if (at_end_) return 0;
    const la_ssize_t got = archive_read_data(archive_.get(), bytes.data(), bytes.size());
    if (got < 0) fail();
    if (got == 0) {
      at_end_ = true;
      check_end();
    } else if (trailers_) {
      trailers_->decompressed(bytes.first(static_cast<std::size_t>(got)));
    }
    return got;
  }
  /// What the filter has consumed: the blocks that it is given are larger than many a file.
  Index bytes_done() const override { return std::clamp<Index>(archive_filter_bytes(archive_.get(), -1), 0, offset_); }

 private:
  struct Free {
    void operator()(archive* a) const { archive_read_free(a); }
  };

  static void expect_memory(bool there) {
    if (!there) throw std::bad_alloc();
  }

  /// libarchive's raw format does not know an entry without data: the filter came to a clean end, but no format was recognised.
  bool empty_text() const { return !error_ && archive_filter_count(archive_.get()) == 2 && archive_errno(archive_.get()) == EILSEQ; }

  [[noreturn]] void fail(const char* said = nullptr) const {
    if (error_) std::rethrow_exception(error_);
    if (said == nullptr) said = archive_error_string(archive_.get());
    throw Error(fmt::format("decompressing {}: the file is truncated or corrupt ({}); nothing of it was used: copy or make it anew",
                            file_.path(), said != nullptr ? said : "its last bytes are missing"));
  }

  void check_end() const {
    const Index consumed = archive_filter_bytes(archive_.get(), -1);
    if (consumed < bytes_)
      fail(fmt::format("{} bytes that are no compressed stream follow at byte {}", bytes_ - consumed, consumed).c_str());
    if (trailers_ && !trailers_->consistent()) fail("its text does not have the checksum and size that the file gives");
  }

  /// libarchive's read callback; C code calls it, so that no exception may leave it.
  static la_ssize_t read_block(archive* a, void* self, const void** block) noexcept {
    auto& source = *static_cast<CompressedSource*>(self);
    try {
      const Index got = source.file_.read_at(source.offset_, source.block_);
      source.offset_ += got;
      const auto bytes = std::span<const char>(source.block_).first(static_cast<std::size_t>(got));
      if (source.trailers_) source.trailers_->compressed(bytes);
      *block = source.block_.data();
      return got;
    } catch (...) {
      source.error_ = std::current_exception();
      archive_set_error(a, EIO, "read error");
      return ARCHIVE_FATAL;
    }
  }

  InputFile file_;
  Index bytes_;
  Index offset_ = 0;
  std::vector<char> block_;
  std::exception_ptr error_;              ///< of the read callback
  std::optional<GzipTrailers> trailers_;  ///< gzip only
  bool at_end_ = false;
  std::unique_ptr<archive, Free> archive_{archive_read_new()};
};

}  // namespace

std::unique_ptr<ByteSource> compressed_source(const std::string& path, Index bytes) {
  return std::make_unique<CompressedSource>(path, bytes);
}

}  // namespace posgeom
