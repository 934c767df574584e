#include "io/partial_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace posgeom::io {
namespace {

constexpr mode_t file_mode = 0666;  // less what umask takes away

/// Whether `file` is what `path` names now: another process may have removed it between our open and our lock.
bool still_named(const Descriptor& file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.number(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::string host_and_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

/// What the holder of a lock wrote into it.
std::string holder_of(const Descriptor& lock) {
  std::array<char, 300> text{};
  const ssize_t got = ::pread(lock.number(), text.data(), text.size() - 1, 0);
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "another process";
}

}  // namespace

PartialFile::PartialFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) throw system_error("writing", path_, EISDIR);
  lock();
  const std::string name = name_for(path_);
  // A stale one is removed, not overwritten: it may be a link, or not ours to write.
  if (::unlink(name.c_str()) != 0 && errno != ENOENT) {
    const int code = errno;
    ::unlink(lock_name_for(path_).c_str());
    throw system_error("replacing", name, code);
  }
  partial_ = Descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, file_mode));
  if (partial_.number() < 0) {
    const int code = errno;
    ::unlink(lock_name_for(path_).c_str());
    throw system_error("creating", name, code);
  }
}

PartialFile::~PartialFile() {
  if (!committed_) ::unlink(name_for(path_).c_str());
  // Removed while it is still held: whoever opened it meanwhile sees that it no longer has its name.
  ::unlink(lock_name_for(path_).c_str());
}

void PartialFile::lock() {
  const std::string name = lock_name_for(path_);
  for (;;) {
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode));
    if (file.number() < 0) throw system_error("creating", name, errno);
    int result = 0;
    do {
      result = ::flock(file.number(), LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno == EWOULDBLOCK) {
      throw Error(fmt::format("writing {}: {} is writing it now ({} is locked); wait until it is done, or choose another folder with --out",
                              path_, holder_of(file), name));
    }
    if (result == 0 && !still_named(file, name)) continue;
    // Any other failure: a file system without locks (ENOSYS, ENOLCK, EOPNOTSUPP); a lock is a precaution, not a condition.
    const std::string holder = host_and_process();
    if (::ftruncate(file.number(), 0) == 0 && ::pwrite(file.number(), holder.data(), holder.size(), 0) < 0) {
      // The text only serves the message of a second writer; a full disk shows at the file itself.
    }
    lock_ = std::move(file);
    return;
  }
}

void PartialFile::reserve(Index bytes) {
  int result = 0;
  do {
    result = ::fallocate(partial_.number(), 0, 0, bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) result = ::ftruncate(partial_.number(), bytes);
  if (result != 0) throw system_error("reserving space for", name_for(path_), errno);
}

void PartialFile::sync() { sync_file(partial_, name_for(path_)); }

void PartialFile::commit() {
  sync();
  if (std::rename(name_for(path_).c_str(), path_.c_str()) != 0) throw system_error("renaming to its final name", path_, errno);
  committed_ = true;
  sync_folder_of(path_);
}

Descriptor open_partial(const std::string& path, int rank) {
  const std::string partial = PartialFile::name_for(path);
  Descriptor file(::open(partial.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() >= 0) return file;
  const int code = errno;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  throw Error(fmt::format("{}, on rank {} ({}), while the root could create it: the folder must be on a file system that all nodes share",
                          system_error("opening", partial, code).what(), rank, host.data()));
}

}  // namespace posgeom::io
