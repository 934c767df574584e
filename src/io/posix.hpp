#pragma once
#include <span>
#include <string>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/types.hpp"

namespace posgeom::io {

/// The one line of a failed system call: "<doing> <path>: <errno's text>; <what to do>". `code` is errno.
Error system_error(const std::string& doing, const std::string& path, int code);

/// What a user can do about the system's error number; empty where nothing in particular.
std::string advice_for(int code);

/// A file descriptor that is closed with its owner. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  void close() noexcept;

 private:
  int number_ = -1;
};

/// Whether something has this name. Throws Error where the system does not say (no permission for a folder on the way, ...).
bool exists(const std::string& path);
/// Opens a regular file for reading. Throws Error: no such file, a directory, no permission.
Descriptor open_for_reading(const std::string& path);
Index file_size(const Descriptor& file, const std::string& path);
/// Fills `bytes` from the file's position `offset` on. Throws Error where the file ends before.
void read_at(const Descriptor& file, const std::string& path, Index offset, std::span<char> bytes);
/// Appends all of `bytes` at the descriptor's position. Throws Error: no space, quota, I/O error.
void write_all(const Descriptor& file, const std::string& path, std::span<const char> bytes);
/// Puts all of `bytes` at the file's position `offset`; the descriptor's own position stays. Throws as write_all().
void write_at(const Descriptor& file, const std::string& path, Index offset, std::span<const char> bytes);
/// Brings what this process wrote to the disk. Throws Error: what a write could not tell before.
void sync_file(const Descriptor& file, const std::string& path);

/// The folder that holds `path`: "." where it names none.
std::string folder_of(const std::string& path);
/// Brings the names in the folder that holds `path` to the disk.
void sync_folder_of(const std::string& path);

}  // namespace posgeom::io
