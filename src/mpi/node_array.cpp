#include "posgeom/mpi/node_array.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace posgeom::detail {
namespace {

/// A mapping that ends with the last pointer to it; null where the file cannot be mapped.
std::shared_ptr<std::byte> map(int file, std::size_t size, int protection) {
  void* const memory = mmap(nullptr, size, protection, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [size](std::byte* begin) { munmap(begin, size); }};
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

}  // namespace

// A file in memory without a name, which the others open through the root's process: nothing is left behind whenever a process dies, and
// no limit of /dev/shm holds.
std::shared_ptr<const std::byte> share_bytes(const Communicator& node, std::span<const std::byte> at_root, Index size) {
  const auto bytes = static_cast<std::size_t>(size);
  std::shared_ptr<std::byte> memory;
  const File root_file(node.is_root() ? memfd_create("posgeom", MFD_CLOEXEC) : -1);
  // Space first: a write to a page that cannot be had would be a signal.
  if (node.is_root() && root_file.is_open() && posix_fallocate(root_file.descriptor(), 0, static_cast<off_t>(size)) == 0) {
    memory = map(root_file.descriptor(), bytes, PROT_READ | PROT_WRITE);
    if (memory) std::memcpy(memory.get(), at_root.data(), bytes);
  }
  std::array<Index, 2> where{static_cast<Index>(getpid()), root_file.descriptor()};
  broadcast(node, std::span<Index>(where));
  if (!node.is_root() && where[1] >= 0) {
    const File file(open(("/proc/" + std::to_string(where[0]) + "/fd/" + std::to_string(where[1])).c_str(), O_RDONLY | O_CLOEXEC));
    // In another process namespace the number may be another process's, and its file another size.
    if (file.is_open() && lseek(file.descriptor(), 0, SEEK_END) == static_cast<off_t>(size))
      memory = map(file.descriptor(), bytes, PROT_READ);
  }
  const Index all = all_reduce(node, Index{memory ? 1 : 0}, Reduction::minimum);  // and the root keeps its file open until here
  return all == 1 ? memory : nullptr;
}

}  // namespace posgeom::detail
