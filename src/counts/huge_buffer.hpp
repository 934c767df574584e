#pragma once
#include <cstddef>
#include <utility>

#include "posgeom/types.hpp"

namespace posgeom {

/// Zeroed memory in huge pages where the system has them: buffers that are written at many places in turn would miss the TLB otherwise.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  /// Throws std::bad_alloc.
  explicit HugeBuffer(Index bytes);
  ~HugeBuffer();
  HugeBuffer(HugeBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HugeBuffer& operator=(HugeBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* data() const { return data_; }
  Index bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  Index bytes_ = 0;
};

}  // namespace posgeom
