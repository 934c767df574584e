#include "hdf5/hdf5.hpp"
#include "io/known_files.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

GeometryFile geometry_of(Index m) {
  GeometryFile file;
  file.length = m;
  for (Index i = 0; i < m; ++i) file.position.push_back(static_cast<std::int32_t>(i));
  file.spectrum.eigenvalues.assign(static_cast<std::size_t>(m), 0.0);
  file.encoding.rows = m;
  file.encoding.components = 1;
  return file;
}

/// What is stored, read whole on every rank with serial HDF5; row-major.
std::vector<double> stored_matrix(const std::string& path, Index m) {
  const hdf5::Handle file = hdf5::open_to_read(path);
  const hdf5::Handle dataset = hdf5::open_dataset(file, "/hellinger");
  EXPECT_EQ(hdf5::shape_of(dataset), (std::vector<Index>{m, m}));
  std::vector<double> values(static_cast<std::size_t>(m * m));
  hdf5::read(dataset, H5T_NATIVE_DOUBLE, values.data());
  return values;
}

void expect_stored(const ProcessGrid& grid, Index m, Index block) {
  const Scratch scratch;
  const std::string path = scratch.path("geometry.h5");
  const DistributedMatrix h = known_hellinger(grid, m, block);
  write_geometry(world(), path, geometry_of(m), &h, known_provenance(world().size()));
  const std::vector<double> values = stored_matrix(path, m);
  Index wrong = 0;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) wrong += values[static_cast<std::size_t>(i * m + j)] != known_distance(i, j) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0) << "m = " << m << ", block " << block << ", grid " << grid.text();
}

TEST(Hellinger, EveryRaggedShapeOfTheNearestSquare) {
  const ProcessGrid grid = ProcessGrid::nearest_square(world());
  for (const Index block : {1, 3, 4}) {
    for (const Index m : {1, 2, 3, 7, 12, 13, 25}) expect_stored(grid, m, block);
  }
}

TEST(Hellinger, FlatAndTallGrids) {
  expect_stored(ProcessGrid(world(), 1, world().size()), 13, 2);
  expect_stored(ProcessGrid(world(), world().size(), 1), 13, 2);
}

TEST(Hellinger, MoreRanksThanRows) {
  expect_stored(ProcessGrid::nearest_square(world()), 3, 64);
  expect_stored(ProcessGrid(world(), 1, world().size()), 3, 1);
}

TEST(Hellinger, LargerThanOneBufferOfCollectiveWriting) { expect_stored(ProcessGrid::nearest_square(world()), 700, 64); }

}  // namespace
}  // namespace posgeom
