#include "corpus/gzip_trailers.hpp"

#include <algorithm>
#include <array>

namespace posgeom {
namespace {

constexpr std::uint32_t polynomial = 0xEDB88320;
constexpr std::size_t trailer_bytes = 8, header_bytes = 10;

/// tables[k][b]: the remainder of byte b followed by k zero bytes.
constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> result{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? (c >> 1) ^ polynomial : c >> 1;
    result[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) result[k][b] = (result[k - 1][b] >> 8) ^ result[0][result[k - 1][b] & 0xFF];
  }
  return result;
}();

std::uint32_t little_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (int k = 3; k >= 0; --k) value = value << 8 | static_cast<unsigned char>(bytes[k]);
  return value;
}

/// a * b modulo the polynomial; bit 31 is the coefficient of x^0.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1U) != 0 ? (b >> 1) ^ polynomial : b >> 1;
  }
  return product;
}

/// Whether a gzip member begins here: magic, deflate, no reserved flag, and the extra flags and systems that writers use.
bool is_header(const char* bytes) {
  const auto byte = [bytes](int k) { return static_cast<unsigned char>(bytes[k]); };
  return byte(0) == 0x1F && byte(1) == 0x8B && byte(2) == 8 && (byte(3) & 0xE0) == 0 && (byte(8) == 0 || byte(8) == 2 || byte(8) == 4) &&
         (byte(9) <= 13 || byte(9) == 255);
}

}  // namespace

std::uint32_t crc32(std::uint32_t crc, std::span<const char> bytes) {
  std::uint32_t c = ~crc;
  std::size_t k = 0;
  for (; k + 8 <= bytes.size(); k += 8) {
    const std::uint32_t low = c ^ little_endian(&bytes[k]), high = little_endian(&bytes[k + 4]);
    c = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^ tables[3][high & 0xFF] ^
        tables[2][high >> 8 & 0xFF] ^ tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
  }
  for (; k < bytes.size(); ++k) c = (c >> 8) ^ tables[0][(c ^ static_cast<unsigned char>(bytes[k])) & 0xFF];
  return ~c;
}

std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, Index second_bytes) {
  std::uint32_t shift = 0x80000000, power = 0x00800000;  // x^0, x^8
  for (Index n = second_bytes; n > 0; n >>= 1) {
    if ((n & 1) != 0) shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return multiply(shift, first) ^ second;
}

GzipTrailers::Trailer GzipTrailers::read_trailer(const char* bytes) { return {little_endian(bytes), little_endian(bytes + 4)}; }

void GzipTrailers::compressed(std::span<const char> bytes) {
  tail_.append(bytes.data(), bytes.size());
  constexpr std::size_t window = trailer_bytes + header_bytes;
  if (tail_.size() < window) return;
  const char* const last = tail_.data() + (tail_.size() - window);
  for (const char* place = tail_.data(); place <= last; ++place) {
    place = std::find(place + trailer_bytes, last + trailer_bytes + 1, '\x1F') - trailer_bytes;
    if (place <= last && is_header(place + trailer_bytes)) trailers_.push_back(read_trailer(place));
  }
  tail_.erase(0, tail_.size() - (window - 1));
}

void GzipTrailers::decompressed(std::span<const char> bytes) {
  crc_ = crc32(crc_, bytes);
  size_ += std::ssize(bytes);
}

bool GzipTrailers::consistent() const {
  if (tail_.size() < trailer_bytes) return false;
  const Trailer last = read_trailer(tail_.data() + tail_.size() - trailer_bytes);
  if (last.crc == crc_ && last.size == static_cast<std::uint32_t>(size_)) return true;  // one member, as most files are
  std::vector<Trailer> members = trailers_;
  members.push_back(last);
  if (consistent(members)) return true;
  // Compressed data may look like a header by chance, about once in 10^11 bytes: the one whose size is too much is no trailer.
  std::uint32_t excess = 0;
  for (const Trailer& member : members) excess += member.size;
  excess -= static_cast<std::uint32_t>(size_);
  for (std::size_t k = 0; k + 1 < members.size(); ++k) {
    if (members[k].size != excess) continue;
    std::vector<Trailer> others = members;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    if (consistent(others)) return true;
  }
  return false;
}

bool GzipTrailers::consistent(const std::vector<Trailer>& members) const {
  std::uint32_t crc = 0;
  Index size = 0;
  for (const Trailer& member : members) {
    crc = crc32_combine(crc, member.crc, member.size);
    size += member.size;
  }
  // Several members of which one is over 4 GiB: its true size is not written anywhere, and only the sum can be checked.
  if (size != size_) return size < size_ && (size_ - size) % (Index{1} << 32) == 0;
  return crc == crc_;
}

}  // namespace posgeom
