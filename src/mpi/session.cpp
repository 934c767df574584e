#include "posgeom/mpi/session.hpp"

#include <mpi.h>

#include <exception>

#include "posgeom/error.hpp"

namespace posgeom {

Session::Session(int& argc, char**& argv) : exceptions_at_start_(std::uncaught_exceptions()) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw Error("MPI_Init_thread failed; is this MPI installed for this machine?");
}

Session::~Session() {
  if (std::uncaught_exceptions() == exceptions_at_start_) MPI_Finalize();
}

}  // namespace posgeom
