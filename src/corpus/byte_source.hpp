#pragma once
#include <memory>
#include <span>
#include <string>

#include "posgeom/types.hpp"

namespace posgeom {

/// The bytes of a file's text, front to back, decompressed where need be.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `bytes` (not empty) from the front and returns how many there were, 0 only at the end. Throws Error that names the file.
  virtual Index read(std::span<char> bytes) = 0;
  /// Bytes of the file on disk that were consumed, from its beginning.
  virtual Index bytes_done() const = 0;
};

/// An open file, read at offsets. Move-only.
class InputFile {
 public:
  /// Throws Error that names the file and what the system says.
  explicit InputFile(std::string path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  /// As many bytes as there are from `offset`, at most bytes.size(). Throws Error that names the file.
  Index read_at(Index offset, std::span<char> bytes) const;
  /// These bytes will be read soon, front to back; the system may fetch them meanwhile.
  void advise(Index offset, Index bytes) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// The bytes from `begin` of a file that is `bytes` long; a file that has become shorter is an Error.
std::unique_ptr<ByteSource> plain_source(const std::string& path, Index begin, Index bytes);

/// The decompressed bytes of a gz, xz, zst or bz2 file of `bytes` bytes; concatenated streams are read one after the other. Throws Error
/// where the file is truncated or corrupt, or something else follows the last stream.
std::unique_ptr<ByteSource> compressed_source(const std::string& path, Index bytes);

}  // namespace posgeom
