#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "posgeom/mpi/collective.hpp"

namespace posgeom::io {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// **Collective.** The root's value on every rank: a number, a string, a vector of these. A rank without the memory for it stops all.
template <class T>
void broadcast_value(const Communicator& comm, T& value) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    broadcast(comm, std::span<T>(&value, 1));
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    std::vector<Index> sizes;
    std::string together;
    collective(comm, "handing a file's texts to all ranks", [&] {
      if (!comm.is_root()) return;
      for (const std::string& text : value) {
        sizes.push_back(std::ssize(text));
        together += text;
      }
    });
    broadcast_value(comm, sizes);
    broadcast_value(comm, together);
    collective(comm, "handing a file's texts to all ranks", [&] {
      if (comm.is_root()) return;
      value.clear();
      std::size_t place = 0;
      for (const Index size : sizes) {
        value.push_back(together.substr(place, static_cast<std::size_t>(size)));
        place += static_cast<std::size_t>(size);
      }
    });
  } else {
    static_assert(IsVector<T>::value || std::is_same_v<T, std::string>);
    Index size = std::ssize(value);
    broadcast(comm, std::span<Index>(&size, 1));
    collective(comm, "handing a file's numbers to all ranks", [&] { value.resize(static_cast<std::size_t>(size)); });
    broadcast(comm, std::span(value.data(), value.size()));
  }
}

/// **Collective.** broadcast_value() of each, in this order.
template <class... T>
void broadcast_all(const Communicator& comm, T&... values) {
  (broadcast_value(comm, values), ...);
}

}  // namespace posgeom::io
