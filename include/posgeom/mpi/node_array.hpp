#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

namespace detail {
/// **Collective** on `node`. The root's bytes, in memory that all ranks map; each holds its own mapping until the pointer is gone. Null on
/// every rank where the system does not let processes share memory so.
std::shared_ptr<const std::byte> share_bytes(const Communicator& node, std::span<const std::byte> at_root, Index size);
}  // namespace detail

/// An array of trivially copyable elements that is either this process's own (then it can be changed, like a vector) or one that the ranks
/// of a node share (share_on_node; then it can only be read, and copies refer to the same memory).
template <class T>
class NodeArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  NodeArray() = default;
  NodeArray(std::vector<T> own) : own_(std::move(own)) {}  // NOLINT(google-explicit-constructor): a vector is one
  NodeArray(std::initializer_list<T> own) : own_(own) {}
  NodeArray(std::size_t size, const T& value) : own_(size, value) {}
  NodeArray(std::shared_ptr<const std::byte> memory, std::size_t size)
      : memory_(std::move(memory)), shared_(reinterpret_cast<const T*>(memory_.get()), size) {}

  bool is_shared() const { return memory_ != nullptr; }
  std::size_t size() const { return is_shared() ? shared_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const T* data() const { return is_shared() ? shared_.data() : own_.data(); }
  const T& operator[](std::size_t k) const { return data()[k]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size() - 1]; }
  operator std::span<const T>() const { return {data(), size()}; }  // NOLINT(google-explicit-constructor): as of a vector

  /// The elements to change: not of a shared array.
  std::vector<T>& own() {
    expects(!is_shared(), "an array of this process's own");
    return own_;
  }
  void push_back(const T& value) { own().push_back(value); }
  void resize(std::size_t size) { own().resize(size); }
  void reserve(std::size_t size) { own().reserve(size); }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    own().assign(first, last);
  }
  friend bool operator==(const NodeArray& a, const NodeArray& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  std::vector<T> own_;
  std::shared_ptr<const std::byte> memory_;
  std::span<const T> shared_;
};

/// **Collective** on `node`, ranks that share memory. The root's array on every rank, once in memory; where the system does not allow that,
/// a copy on each rank. Of one rank: its own, as it is. The arrays of the other ranks are not read.
template <class T>
NodeArray<T> share_on_node(const Communicator& node, NodeArray<T> at_root) {
  Index size = std::ssize(std::span<const T>(at_root));
  broadcast(node, std::span<Index>(&size, 1));
  if (node.size() == 1 || size == 0) return node.is_root() ? std::move(at_root) : NodeArray<T>();
  auto memory = detail::share_bytes(node, std::as_bytes(std::span<const T>(at_root)), size * static_cast<Index>(sizeof(T)));
  if (memory) return {std::move(memory), static_cast<std::size_t>(size)};
  std::vector<T> copy(at_root.begin(), node.is_root() ? at_root.end() : at_root.begin());
  broadcast_resized(node, copy);
  return copy;
}

}  // namespace posgeom
