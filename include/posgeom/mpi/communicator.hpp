#pragma once
#include <mpi.h>

#include <string>

namespace posgeom {

/// A group of ranks that call collective functions together. Move-only; frees the communicator that it owns.
class Communicator {
 public:
  /// All ranks of the job; not owned.
  static Communicator world() { return {MPI_COMM_WORLD, false}; }
  /// This rank alone; not owned.
  static Communicator self() { return {MPI_COMM_SELF, false}; }

  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  /// **Collective.** The ranks that gave the same colour, ordered by their present rank.
  Communicator split(int color) const;
  /// **Collective.** The ranks that share this rank's memory (its node).
  Communicator split_by_node() const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  MPI_Comm handle() const { return handle_; }

 private:
  Communicator(MPI_Comm handle, bool owned);
  void release() noexcept;

  MPI_Comm handle_;
  bool owned_;
  int rank_ = 0;
  int size_ = 1;
};

/// The MPI library as it names itself, "Open MPI v4.1.4".
std::string mpi_version();

}  // namespace posgeom
