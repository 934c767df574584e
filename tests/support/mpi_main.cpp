// main() of every MPI test: all ranks agree on the failures, and the root alone reports what passed, each what failed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

/// After each test, every rank learns how many ranks failed it; a failure elsewhere becomes one here, so that all exit alike.
class AgreeOnFailure : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed() && rank_ != 0)
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, part.file_name() == nullptr ? "?" : part.file_name(), part.line_number(),
                   part.summary());
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    int failed = info.result()->Failed() ? 1 : 0;
    const bool failed_here = failed != 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (failed > 0 && !failed_here) other_rank_failed_ = true;
  }

 public:
  explicit AgreeOnFailure(int rank) : rank_(rank) {}
  bool other_rank_failed() const { return other_rank_failed_; }

 private:
  bool other_rank_failed_ = false;
  int rank_;
};

/// Whether this process has lost memory, where the sanitizers watch (LSAN_OPTIONS has leak_check_at_exit=0). A forked child looks, so
/// that a checker that crashes fails no test: GCC 12's does now and then ("Tracer caught signal 11"; why is not known). Before MPI ends,
/// while its plugins are loaded.
bool leaks() {
#if defined(__SANITIZE_ADDRESS__)
  constexpr int found = 23;
  const pid_t child = fork();
  if (child == 0) _exit(__lsan_do_recoverable_leak_check() != 0 ? found : 0);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != found)) {
    std::fputs("memory leaks were not looked for: the checker failed\n", stderr);
    return false;
  }
  return WEXITSTATUS(status) == found;
#else
  return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(shuffle)) {
    std::fputs("MPI tests run in one order on all ranks; do not shuffle them\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  auto* agree = new AgreeOnFailure(rank);
  listeners.Append(agree);
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  int result = RUN_ALL_TESTS();
  if (agree->other_rank_failed()) result = 1;
  if (leaks()) result = 1;
  MPI_Finalize();
  return result;
}
