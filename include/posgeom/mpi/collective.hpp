#pragma once
#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "posgeom/error.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// The largest number of elements handed to one MPI call: below 2^31, and a piece that progress can be made on.
inline constexpr Index default_chunk = Index{1} << 26;

enum class Reduction { sum, minimum, maximum };

namespace detail {

template <class T>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return MPI_INT64_T;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return MPI_UINT64_T;
  } else if constexpr (std::is_same_v<T, int>) {
    return MPI_INT;
  } else {
    static_assert(sizeof(T) == 1 && std::is_trivially_copyable_v<T>, "add the type here");
    return MPI_BYTE;
  }
}

/// What went wrong on this rank, for agree().
struct Failure {
  std::string text;
  ErrorKind kind = ErrorKind::run;
};
std::optional<Failure> describe(std::exception_ptr error, std::string_view doing);
/// **Collective.** Throws the lowest failing rank's text as a CollectiveError on every rank, where any rank has one.
void agree(const Communicator& comm, const std::optional<Failure>& failure);

void reduce_in_place(const Communicator& comm, void* values, int count, MPI_Datatype type, Reduction reduction);
void broadcast_bytes(const Communicator& comm, void* bytes, Index count, int root);
std::vector<char> all_gather_bytes(const Communicator& comm, std::span<const char> mine);
int exchange(const Communicator& comm, const void* send, int send_count, int to, void* receive, int receive_count, int from,
             MPI_Datatype type);

}  // namespace detail

/// **Collective.** Runs `body` (which must not communicate) on every rank; where it throws on any rank, the same CollectiveError is thrown
/// on all of them, with the lowest failing rank's text. `doing` completes "while ...", used for exceptions that are not posgeom's own.
/// Returns what `body` returned on this rank.
template <class Body>
auto collective(const Communicator& comm, std::string_view doing, Body&& body) {
  using Result = std::invoke_result_t<Body>;
  std::optional<detail::Failure> failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Body>(body)();
    } catch (...) {
      failure = detail::describe(std::current_exception(), doing);
    }
    detail::agree(comm, failure);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<Body>(body)());
    } catch (...) {
      failure = detail::describe(std::current_exception(), doing);
    }
    detail::agree(comm, failure);
    return std::move(*result);
  }
}

/// **Collective.** Element-wise reduction over the ranks, in place, in pieces of at most `chunk` elements.
template <class T>
void all_reduce(const Communicator& comm, std::span<T> values, Reduction reduction = Reduction::sum, Index chunk = default_chunk) {
  for (Index begin = 0; begin < std::ssize(values); begin += chunk) {
    const Index count = std::min(chunk, std::ssize(values) - begin);
    detail::reduce_in_place(comm, values.data() + begin, narrow_to_int(count, "the chunk of a reduction"), detail::mpi_type<T>(),
                            reduction);
  }
}

/// **Collective.** The reduction of one value over the ranks.
template <class T>
T all_reduce(const Communicator& comm, T value, Reduction reduction = Reduction::sum) {
  all_reduce(comm, std::span<T>(&value, 1), reduction);
  return value;
}

/// **Collective.** The root's values on every rank; the spans have the same size.
template <class T>
void broadcast(const Communicator& comm, std::span<T> values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::broadcast_bytes(comm, values.data(), std::ssize(values) * static_cast<Index>(sizeof(T)), root);
}

/// **Collective.** The root's vector (of trivially copyable elements) or string on every rank.
template <class Container>
void broadcast_resized(const Communicator& comm, Container& values, int root = 0) {
  Index size = std::ssize(values);
  broadcast(comm, std::span<Index>(&size, 1), root);
  values.resize(static_cast<std::size_t>(size));
  broadcast(comm, std::span(values.data(), values.size()), root);
}

/// **Collective.** The ranks' spans one after the other, in rank order, on every rank. Sizes may differ.
template <class T>
std::vector<T> all_gather(const Communicator& comm, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<char> bytes = detail::all_gather_bytes(comm, {reinterpret_cast<const char*>(mine.data()), mine.size_bytes()});
  std::vector<T> all(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(all.data()));
  return all;
}

/// No rank, for exchange().
inline constexpr int nobody = -1;

/// **Collective** among the ranks that name each other. Sends `send` to rank `to` while it receives from rank `from` (either may be nobody)
/// what that rank sends, at most receive.size() elements; returns how many came. The spans do not overlap. Throws Error, before anything is
/// sent, where a span is too long for one MPI call.
template <class T>
Index exchange(const Communicator& comm, std::span<const T> send, int to, std::span<T> receive, int from) {
  return detail::exchange(comm, send.data(), narrow_to_int(std::ssize(send), "the elements of a message"), to, receive.data(),
                          narrow_to_int(std::ssize(receive), "the room for a message"), from, detail::mpi_type<T>());
}

/// **Collective.** The sum of `value` over the ranks before this one; 0 on rank 0.
Index exclusive_sum(const Communicator& comm, Index value);

/// **Collective.** Returns when every rank has called it.
void barrier(const Communicator& comm);

}  // namespace posgeom
