#include "posgeom/linalg/blas_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "linalg/grids.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using test::world;

/// Restricts this process to one CPU while it lives.
class OneCpu {
 public:
  explicit OneCpu(int which) {
    sched_getaffinity(0, sizeof before_, &before_);
    int seen = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      if (seen++ == which % CPU_COUNT(&before_)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(CoresPerRank, RanksTimesThreadsAreAtMostTheCores) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  const int cpus = CPU_COUNT(&set);
  const int threads = cores_per_rank(world());
  EXPECT_GE(threads, 1);
  EXPECT_EQ(all_reduce(world(), threads, Reduction::maximum), threads);  // one node
  EXPECT_LE(threads, std::max(1, cpus / world().size()));
  // Twice as many ranks have half the threads each.
  const Communicator self = Communicator::self();
  EXPECT_EQ(threads, std::max(1, cores_per_rank(self) / world().size()));
}

TEST(CoresPerRank, ALaunchersBindingCounts) {
  const OneCpu bound(world().rank());
  EXPECT_EQ(cores_per_rank(world()), 1);
  EXPECT_EQ(cores_per_rank(Communicator::self()), 1);
}

TEST(BlasThreads, AreTakenOnlyWhereTheyGain) {
  const int before = blas_threads();
  const bool gains = blas_gains_by_threads(2);
  EXPECT_EQ(blas_threads(), gains ? 2 : 1);
  // Two threads on one core wait for each other at every product.
  const OneCpu bound(world().rank());
  EXPECT_FALSE(blas_gains_by_threads(2));
  EXPECT_EQ(blas_threads(), 1);
  set_blas_threads(before);
}

TEST(BlasThreads, AreWhatTheLibrarySays) {
  const int before = blas_threads();
  const int two = set_blas_threads(2);
  EXPECT_TRUE(two == 1 || two == 2);  // 1: a serial library
  EXPECT_EQ(blas_threads(), two);
  EXPECT_EQ(measure_blas().threads, two);
  EXPECT_EQ(set_blas_threads(1), 1);
  EXPECT_EQ(measure_blas().threads, 1);
  EXPECT_THROW(set_blas_threads(0), std::logic_error);
  set_blas_threads(before);
}

TEST(BlasThreads, GiveTheSameProduct) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  const auto product = [&](int threads) {
    set_blas_threads(threads);
    DistributedMatrix a(grid, 300, 300, 64);
    fill(a, [](Index i, Index j) { return static_cast<double>((3 * i + 5 * j) % 11 - 5); });
    DistributedMatrix c(grid, 300, 300, 64);
    multiply(a, a, c);
    set_blas_threads(1);
    return std::vector<double>(c.data().begin(), c.data().end());
  };
  EXPECT_EQ(product(1), product(3));  // integers: exact
}

}  // namespace
}  // namespace posgeom
