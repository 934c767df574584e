#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/posix.hpp"

namespace posgeom::io {

static_assert(std::endian::native == std::endian::little, "token files are little-endian, and written as numbers lie in memory");

/// Numbers put one after the other into a file from `offset` on, through a buffer of bounded size. flush() at the end.
class OffsetWriter {
 public:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

  /// `buffer`: the caller's, so that it is made once.
  OffsetWriter(const Descriptor& file, std::string path, Index offset, std::vector<char>& buffer)
      : file_(file), path_(std::move(path)), offset_(offset), buffer_(buffer) {
    buffer_.resize(buffer_bytes);
  }

  /// Each value as a number of type Stored, which it fits.
  template <class Stored, class Value>
  void put(std::span<const Value> values) {
    while (!values.empty()) {
      const std::size_t count = std::min(values.size(), (buffer_.size() - used_) / sizeof(Stored));
      char* to = buffer_.data() + used_;
      for (std::size_t k = 0; k < count; ++k) {
        const auto stored = static_cast<Stored>(values[k]);
        std::memcpy(to + k * sizeof(Stored), &stored, sizeof(Stored));
      }
      used_ += count * sizeof(Stored);
      values = values.subspan(count);
      if (buffer_.size() - used_ < sizeof(Stored)) flush();
    }
  }
  template <class Stored, class Value>
  void put(Value value) {
    put<Stored>(std::span<const Value>(&value, 1));
  }

  void flush() {
    write_at(file_, path_, offset_, std::span<const char>(buffer_.data(), used_));
    offset_ += static_cast<Index>(used_);
    used_ = 0;
  }

 private:
  const Descriptor& file_;
  std::string path_;
  Index offset_;
  std::vector<char>& buffer_;
  std::size_t used_ = 0;
};

}  // namespace posgeom::io
