#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

/// The check that libarchive leaves out of gzip: each member ends with the CRC-32 and the size modulo 2^32 of its text (RFC 1952), and
/// what was decompressed must agree with them. libarchive hides where members end, so the trailers are found by the member header that
/// follows each, and the CRCs of the members are combined (CRC-32 is linear) to that of the whole text.
class GzipTrailers {
 public:
  /// The next bytes of the file, in order.
  void compressed(std::span<const char> bytes);
  /// The next bytes of the text, in order.
  void decompressed(std::span<const char> bytes);
  /// At the end of the file: whether the text is what the trailers say.
  bool consistent() const;

 private:
  struct Trailer {
    std::uint32_t crc = 0;
    std::uint32_t size = 0;
  };
  static Trailer read_trailer(const char* bytes);
  bool consistent(const std::vector<Trailer>& members) const;

  std::vector<Trailer> trailers_;  ///< of every member but the last
  std::string tail_;               ///< the last bytes of the file so far, where a header may begin
  std::uint32_t crc_ = 0;
  Index size_ = 0;
};

/// CRC-32 (IEEE 802.3, reflected) of a text whose beginning has the CRC `crc` (0: none), continued by `bytes`.
std::uint32_t crc32(std::uint32_t crc, std::span<const char> bytes);
/// The CRC-32 of two texts one after the other, from theirs and the second's size.
std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, Index second_bytes);

}  // namespace posgeom
