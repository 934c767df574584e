#include "posgeom/mpi/collective.hpp"

#include <fmt/format.h>

#include <new>
#include <numeric>

namespace posgeom {
namespace {

MPI_Op mpi_operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::minimum:
      return MPI_MIN;
    case Reduction::maximum:
      return MPI_MAX;
    case Reduction::sum:
      break;
  }
  return MPI_SUM;
}

}  // namespace

namespace detail {

std::optional<Failure> describe(std::exception_ptr error, std::string_view doing) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Error& e) {
    return Failure{e.what(), e.kind()};
  } catch (const std::bad_alloc&) {
    return Failure{fmt::format("while {}: out of memory; use more ranks or nodes, or a smaller --lengths (see `posgeom plan`)", doing)};
  } catch (const std::exception& e) {
    return Failure{fmt::format("while {}: {}", doing, e.what())};
  } catch (...) {
    return Failure{fmt::format("while {}: an unknown exception", doing)};
  }
}

void agree(const Communicator& comm, const std::optional<Failure>& failure) {
  const int lowest = all_reduce(comm, failure ? comm.rank() : comm.size(), Reduction::minimum);
  if (lowest == comm.size()) return;
  std::string text = failure ? failure->text : std::string();
  int kind = failure ? static_cast<int>(failure->kind) : 0;
  broadcast_resized(comm, text, lowest);
  broadcast(comm, std::span<int>(&kind, 1), lowest);
  throw CollectiveError(text, static_cast<ErrorKind>(kind), lowest);
}

void reduce_in_place(const Communicator& comm, void* values, int count, MPI_Datatype type, Reduction reduction) {
  MPI_Allreduce(MPI_IN_PLACE, values, count, type, mpi_operation(reduction), comm.handle());
}

void broadcast_bytes(const Communicator& comm, void* bytes, Index count, int root) {
  for (Index begin = 0; begin < count; begin += default_chunk) {
    const Index piece = std::min(default_chunk, count - begin);
    MPI_Bcast(static_cast<char*>(bytes) + begin, static_cast<int>(piece), MPI_BYTE, root, comm.handle());
  }
}

std::vector<char> all_gather_bytes(const Communicator& comm, std::span<const char> mine) {
  std::vector<Index> sizes(static_cast<std::size_t>(comm.size()));
  const Index size = std::ssize(mine);
  MPI_Allgather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, comm.handle());
  std::vector<char> all(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), Index{0})));
  // One broadcast a rank: MPI_Allgatherv's displacements are 32-bit.
  char* place = all.data();
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Index part = sizes[static_cast<std::size_t>(rank)];
    if (rank == comm.rank()) std::copy(mine.begin(), mine.end(), place);
    broadcast_bytes(comm, place, part, rank);
    place += part;
  }
  return all;
}

int exchange(const Communicator& comm, const void* send, int send_count, int to, void* receive, int receive_count, int from,
             MPI_Datatype type) {
  const auto rank_of = [](int rank) { return rank == nobody ? MPI_PROC_NULL : rank; };
  MPI_Status status;
  MPI_Sendrecv(send, send_count, type, rank_of(to), 0, receive, receive_count, type, rank_of(from), 0, comm.handle(), &status);
  int received = 0;
  MPI_Get_count(&status, type, &received);
  return received;
}

}  // namespace detail

Index exclusive_sum(const Communicator& comm, Index value) {
  Index before = 0;
  MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, comm.handle());
  return comm.is_root() ? 0 : before;
}

void barrier(const Communicator& comm) { MPI_Barrier(comm.handle()); }

}  // namespace posgeom
