#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "corpus/byte_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

InputFile::InputFile(std::string path) : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ >= 0) return;
  throw Error(fmt::format("opening {}: {}; every rank must be able to read it: check the name, its permissions and that the node mounts it",
                          path_, std::generic_category().message(errno)));
}

InputFile::InputFile(InputFile&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::advise(Index offset, Index bytes) const {
  // A hint: where it is not taken, reading is only slower.
  static_cast<void>(::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED));
}

Index InputFile::read_at(Index offset, std::span<char> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done, offset + static_cast<Index>(done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw Error(
          fmt::format("reading {} at byte {}: {}", path_, offset + static_cast<Index>(done), std::generic_category().message(errno)));
    }
  }
  return static_cast<Index>(done);
}

namespace {

class PlainSource : public ByteSource {
 public:
  PlainSource(const std::string& path, Index begin, Index bytes) : file_(path), offset_(begin), bytes_(bytes) {}

  Index read(std::span<char> bytes) override {
    // Never beyond the size that the corpus was opened with: a file that grows meanwhile is read as it was, on every rank.
    const auto wanted = static_cast<std::size_t>(std::min(std::ssize(bytes), bytes_ - offset_));
    const Index got = file_.read_at(offset_, bytes.first(wanted));
    if (got < static_cast<Index>(wanted)) {
      throw Error(fmt::format(
          "reading {}: it ends at byte {}, but was {} bytes long when the corpus was opened; do not change a corpus that is being read",
          file_.path(), offset_ + got, bytes_));
    }
    offset_ += got;
    return got;
  }
  Index bytes_done() const override { return offset_; }

 private:
  InputFile file_;
  Index offset_;
  Index bytes_;
};

}  // namespace

std::unique_ptr<ByteSource> plain_source(const std::string& path, Index begin, Index bytes) {
  return std::make_unique<PlainSource>(path, begin, bytes);
}

}  // namespace posgeom
