#include "io/posix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace posgeom::io {

std::string advice_for(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
      return "change its permissions, or choose another folder with --out";
    case EROFS:
      return "the file system is read-only: choose another folder with --out";
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another folder with --out";
    case EFBIG:
      return "the limit on file sizes is too small (ulimit -f, or the file system's own)";
    case ENOENT:
      return "check the path, and that its folder exists";
    case ENOTDIR:
      return "a part of the path is a file where a folder is needed";
    case EISDIR:
      return "there is a folder of that name: remove it, or choose another one with --out";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit (ulimit -n)";
    default:
      return {};
  }
}

Error system_error(const std::string& doing, const std::string& path, int code) {
  const std::string advice = advice_for(code);
  return Error(fmt::format("{} {}: {}{}{}", doing, path, std::generic_category().message(code), advice.empty() ? "" : "; ", advice));
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

bool exists(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw system_error("opening", path, errno);
}

Descriptor open_for_reading(const std::string& path) {
  // Not blocking: a FIFO would wait for its writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) throw system_error("opening", path, errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw system_error("opening", path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(fmt::format("opening {}: {}, expected a file", path, S_ISDIR(status.st_mode) ? "a folder" : "not a regular file"));
  return file;
}

Index file_size(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw system_error("reading", path, errno);
  return status.st_size;
}

void read_at(const Descriptor& file, const std::string& path, Index offset, std::span<char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file.number(), bytes.data(), std::min(bytes.size(), std::size_t{1} << 30), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("reading", path, errno);
    if (got == 0)
      throw Error(fmt::format("reading {}: it ends at byte {}, where {} more were expected; is it still being copied?", path, offset,
                              bytes.size()));
    offset += got;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void write_all(const Descriptor& file, const std::string& path, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.number(), bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw system_error("writing", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void write_at(const Descriptor& file, const std::string& path, Index offset, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file.number(), bytes.data(), std::min(bytes.size(), std::size_t{1} << 30), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw system_error("writing", path, errno);
    offset += put;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void sync_file(const Descriptor& file, const std::string& path) {
  if (::fsync(file.number()) != 0) throw system_error("writing", path, errno);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no fsync for folders (EINVAL); they keep names by themselves.
  if (directory.number() >= 0 && ::fsync(directory.number()) != 0 && errno != EINVAL && errno != EBADF && errno != ENOTSUP) {
    throw system_error("writing the folder", folder, errno);
  }
}

}  // namespace posgeom::io
