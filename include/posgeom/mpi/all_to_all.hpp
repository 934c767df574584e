#pragma once
#include <span>
#include <type_traits>
#include <vector>

#include "posgeom/mpi/collective.hpp"

namespace posgeom {

namespace detail {
void all_to_all_bytes(const Communicator& comm, const char* send, std::span<const Index> send_sizes, char* receive,
                      std::span<const Index> receive_sizes, Index chunk);
}  // namespace detail

/// **Collective.** counts[r] of every rank for this one, in rank order, where each rank gives one count for each rank r.
std::vector<Index> all_to_all_counts(const Communicator& comm, std::span<const Index> counts);

/// **Collective.** Sends send_counts[r] elements of `send` to rank r, in rank order, and receives receive_counts[r] from it likewise:
/// what all_to_all_counts() gives for send_counts. The spans hold exactly those elements. In pieces of at most `chunk` bytes.
template <class T>
void all_to_all(const Communicator& comm, std::span<const T> send, std::span<const Index> send_counts, std::span<T> receive,
                std::span<const Index> receive_counts, Index chunk = default_chunk) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<Index> send_sizes(send_counts.begin(), send_counts.end());
  std::vector<Index> receive_sizes(receive_counts.begin(), receive_counts.end());
  for (Index& size : send_sizes) size *= static_cast<Index>(sizeof(T));
  for (Index& size : receive_sizes) size *= static_cast<Index>(sizeof(T));
  detail::all_to_all_bytes(comm, reinterpret_cast<const char*>(send.data()), send_sizes, reinterpret_cast<char*>(receive.data()),
                           receive_sizes, chunk);
}

}  // namespace posgeom
