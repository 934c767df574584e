#include "posgeom/mpi/all_to_all.hpp"

#include <mpi.h>

#include <numeric>

namespace posgeom {

std::vector<Index> all_to_all_counts(const Communicator& comm, std::span<const Index> counts) {
  expects(std::ssize(counts) == comm.size(), "a count for each rank");
  std::vector<Index> received(counts.size());
  MPI_Alltoall(counts.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T, comm.handle());
  return received;
}

namespace detail {

void all_to_all_bytes(const Communicator& comm, const char* send, std::span<const Index> send_sizes, char* receive,
                      std::span<const Index> receive_sizes, Index chunk) {
  constexpr int tag = 0;
  std::vector<Index> send_begin(send_sizes.size());
  std::vector<Index> receive_begin(receive_sizes.size());
  std::exclusive_scan(send_sizes.begin(), send_sizes.end(), send_begin.begin(), Index{0});
  std::exclusive_scan(receive_sizes.begin(), receive_sizes.end(), receive_begin.begin(), Index{0});
  // One partner after the other, at growing distance: MPI_Alltoallv's displacements are 32-bit.
  std::vector<MPI_Request> requests;
  for (int step = 0; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size();
    const int from = (comm.rank() - step + comm.size()) % comm.size();
    requests.clear();
    const Index incoming = receive_sizes[static_cast<std::size_t>(from)];
    for (Index begin = 0; begin < incoming; begin += chunk) {
      MPI_Irecv(receive + receive_begin[static_cast<std::size_t>(from)] + begin,
                narrow_to_int(std::min(chunk, incoming - begin), "the chunk of an all-to-all"), MPI_BYTE, from, tag, comm.handle(),
                &requests.emplace_back());
    }
    const Index outgoing = send_sizes[static_cast<std::size_t>(to)];
    for (Index begin = 0; begin < outgoing; begin += chunk) {
      MPI_Isend(send + send_begin[static_cast<std::size_t>(to)] + begin,
                narrow_to_int(std::min(chunk, outgoing - begin), "the chunk of an all-to-all"), MPI_BYTE, to, tag, comm.handle(),
                &requests.emplace_back());
    }
    MPI_Waitall(narrow_to_int(std::ssize(requests), "the chunks of an all-to-all"), requests.data(), MPI_STATUSES_IGNORE);
  }
}

}  // namespace detail
}  // namespace posgeom
