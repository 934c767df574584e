#include "counts/huge_buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace posgeom {
namespace {

constexpr Index huge_page = Index{1} << 21;

}  // namespace

HugeBuffer::HugeBuffer(Index bytes) {
  // Whole huge pages are worth it from a few of them on; the kernel aligns the mapping of a small buffer as it likes.
  const bool huge = bytes > huge_page / 2;
  const Index rounded = huge ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
  if (rounded == 0) return;
  const auto size = static_cast<std::size_t>(rounded);
  const std::size_t slack = huge ? static_cast<std::size_t>(huge_page) : 0;
  void* mapped = mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(mapped);
  if (huge) {
    const std::size_t head = (slack - reinterpret_cast<std::uintptr_t>(begin) % slack) % slack;
    if (head > 0) munmap(begin, head);
    if (slack > head) munmap(begin + head + size, slack - head);
    begin += head;
#ifdef MADV_HUGEPAGE
    madvise(begin, size, MADV_HUGEPAGE);  // advice: without it everything works, slower
#endif
  }
  data_ = begin;
  bytes_ = rounded;
}

HugeBuffer::~HugeBuffer() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

}  // namespace posgeom
