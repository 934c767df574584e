// Writes the files that check_files.py reads.
#include "io/known_files.hpp"

#include "io/support.hpp"

namespace posgeom {
namespace {

TEST(KnownFiles, AreWritten) {
  const std::string folder = KNOWN_FILES_FOLDER + std::to_string(world().size());
  if (world().is_root()) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  barrier(world());
  const Provenance provenance = known_provenance(world().size());
  const DistributedMatrix h = known_hellinger(ProcessGrid::nearest_square(world()), 7, 2);
  write_counts(world(), folder + "/counts.h5", known_counts(world()), provenance);
  const CountsFile noise{share_of(known_whole(Sequences::document, {3, 5}, true, true), world()), {}};
  write_counts(world(), folder + "/counts-noise.h5", noise, provenance);
  const CountsFile packed{share_of(known_whole(Sequences::packed, {1, 3, 8}, true, true), world()), known_vocabulary()};
  write_counts(world(), folder + "/counts-packed.h5", packed, provenance);
  write_count_checkpoint(world(), folder + "/checkpoint.h5", known_checkpoint(world()), provenance);
  write_geometry(world(), folder + "/geometry-12.h5", known_geometry(), &h, provenance);
  write_geometry(world(), folder + "/geometry-noise.h5", known_geometry_with(known_noise()), nullptr, provenance);
  write_geometry(world(), folder + "/geometry-no-position.h5", known_geometry_with(known_empty_noise()), nullptr, provenance);
  write_stress(world(), folder + "/stress-12.h5", known_stress(), known_encodings(), provenance);
  write_sweep(world(), folder + "/sweep.h5", known_sweep(), provenance);
  write_sweep_csv(world(), folder + "/sweep.csv", known_sweep());
}

}  // namespace
}  // namespace posgeom
