#include "posgeom/pipeline/machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Control group files in a folder of this process's own.
class ControlGroup : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  Index memory() const { return control_group_memory(root_ / "cgroup", root_ / "fs"); }

 private:
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("posgeom-cgroup-" + std::to_string(getpid()));
};

TEST_F(ControlGroup, SmallestOfTheGroupAndThoseAbove) {
  write("cgroup", "0::/slurm/job_7/step_0");
  EXPECT_EQ(memory(), 0);
  write("fs/slurm/job_7/step_0/memory.max", "max");
  EXPECT_EQ(memory(), 0);
  write("fs/slurm/job_7/memory.max", "4294967296");
  EXPECT_EQ(memory(), 4294967296);
  write("fs/slurm/memory.max", "1073741824");
  EXPECT_EQ(memory(), 1073741824);
  write("fs/slurm/job_7/step_0/memory.max", "536870912");
  EXPECT_EQ(memory(), 536870912);
}

TEST_F(ControlGroup, VersionOneAndTheRootsOwnLimit) {
  write("cgroup", "9:cpu,cpuacct:/a\n4:memory:/job\nnonsense\n0::/");
  write("fs/memory/job/memory.limit_in_bytes", "2147483648");
  EXPECT_EQ(memory(), 2147483648);
  write("fs/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(memory(), 2147483648);
  write("fs/memory.max", "1048576");
  EXPECT_EQ(memory(), 1048576);
}

TEST(Machine, AllocationIsSharedByTheRanksOfANode) {
  const Communicator comm = Communicator::world();
  EXPECT_EQ(share_of_node(comm, 1000), 900 / comm.split_by_node().size());
  EXPECT_EQ(memory_limit(comm, 12345), 12345);
  EXPECT_GT(memory_limit(comm, 0), 0);
}

TEST(Machine, HeaderSaysCoresMemoryAndRanksThatShareCores) {
  const Communicator comm = Communicator::world();
  const std::vector<std::string> lines = run_header(comm, "1x1", Index{3} << 20);
  ASSERT_GE(lines.size(), 3U);
  EXPECT_NE(lines[2].find("3 MiB a rank"), std::string::npos) << lines[2];
  const bool warned = lines.size() > 3 && lines[3].find("share cores") != std::string::npos;
  EXPECT_EQ(warned, cores_of_node(comm) < comm.split_by_node().size());
}

}  // namespace
}  // namespace posgeom
