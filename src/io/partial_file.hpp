#pragma once
#include <span>
#include <string>

#include "io/posix.hpp"

namespace posgeom::io {

/// PATH while it is being written, on one rank: its bytes go to PATH.partial, and commit() gives it its name once they are on the disk.
/// Without commit() PATH stays as it was, and PATH.partial goes with this object.
///
/// PATH.lock is locked (flock) meanwhile, so that a second writer is refused; one that a killed run left behind is not locked and is taken
/// over, as is its PATH.partial. A file of its own, since MPI-IO and HDF5 put locks of their own on the data. Where the file system has no
/// locks, none is taken.
class PartialFile {
 public:
  /// Throws Error: the folder does not exist or cannot be written, PATH is a folder, somebody else is writing it.
  explicit PartialFile(std::string path);
  ~PartialFile();
  PartialFile(PartialFile&&) = delete;

  static std::string name_for(const std::string& path) { return path + ".partial"; }
  static std::string lock_name_for(const std::string& path) { return path + ".lock"; }

  /// Appends to PATH.partial.
  void write(std::span<const char> bytes) { write_all(partial_, name_for(path_), bytes); }
  /// Makes the file so large, and sets disk space aside where the file system can: a full disk, a quota or a limit shows now, on one rank.
  /// Later, HDF5 could not close the file, and a failed H5Fclose makes it crash at the end of the program.
  void reserve(Index bytes);
  /// Brings what was written so far to the disk, so that other nodes see it.
  void sync();
  /// fsync, rename, fsync of the folder.
  void commit();

 private:
  void lock();

  std::string path_;
  Descriptor lock_;
  Descriptor partial_;
  bool committed_ = false;
};

/// PATH.partial, which the root's PartialFile has created, on any rank. Throws Error: this node does not see the root's folder.
Descriptor open_partial(const std::string& path, int rank);

}  // namespace posgeom::io
