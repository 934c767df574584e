#pragma once

namespace posgeom {

/// MPI from MPI_Init_thread to MPI_Finalize; one per process, in main.
class Session {
 public:
  /// **Collective.** Initialises MPI (MPI_THREAD_FUNNELED). Throws Error if the library refuses.
  Session(int& argc, char**& argv);
  /// Finalises, but not while an exception passes: the other ranks may be waiting in a collective, and the caller aborts.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  int exceptions_at_start_;
};

}  // namespace posgeom
