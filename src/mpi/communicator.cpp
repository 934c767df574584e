#include "posgeom/mpi/communicator.hpp"

#include <utility>

namespace posgeom {

Communicator::Communicator(MPI_Comm handle, bool owned) : handle_(handle), owned_(owned) {
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_COMM_NULL)),
      owned_(std::exchange(other.owned_, false)),
      rank_(other.rank_),
      size_(other.size_) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::exchange(other.handle_, MPI_COMM_NULL);
    owned_ = std::exchange(other.owned_, false);
    rank_ = other.rank_;
    size_ = other.size_;
  }
  return *this;
}

Communicator::~Communicator() { release(); }

void Communicator::release() noexcept {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owned_ && finalized == 0) MPI_Comm_free(&handle_);
  owned_ = false;
}

Communicator Communicator::split(int color) const {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(handle_, color, rank_, &part);
  return {part, true};
}

Communicator Communicator::split_by_node() const {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part);
  return {part, true};
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

}  // namespace posgeom
