
#include "io/known_files.hpp"
#include "io/shared_writer.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

const Provenance provenance = known_provenance(1);

TEST(Geometry, RoundTrip) {
  const Scratch scratch;
  const GeometryFile file = known_geometry();
  write_geometry(world(), scratch.path("g.h5"), file, nullptr, provenance);
  const GeometryFile found = read_geometry(world(), scratch.path("g.h5"));
  EXPECT_EQ(found.length, file.length);
  EXPECT_EQ(found.position, file.position);
  EXPECT_TRUE(same_bits(found.spectrum.eigenvalues, file.spectrum.eigenvalues));
  EXPECT_EQ(found.spectrum.rank, file.spectrum.rank);
  EXPECT_EQ(found.spectrum.trace, file.spectrum.trace);
  EXPECT_EQ(found.spectrum.entropy_rank, file.spectrum.entropy_rank);
  EXPECT_EQ(found.spectrum.participation_ratio, file.spectrum.participation_ratio);
  EXPECT_EQ(found.spectrum.dims_90, file.spectrum.dims_90);
  EXPECT_EQ(found.spectrum.dims_95, file.spectrum.dims_95);
  EXPECT_EQ(found.spectrum.dims_99, file.spectrum.dims_99);
  EXPECT_EQ(found.encoding.rows, file.encoding.rows);
  EXPECT_EQ(found.encoding.components, file.encoding.components);
  EXPECT_EQ(found.encoding.stored, file.encoding.stored);
  EXPECT_TRUE(same_bits(found.encoding.values, file.encoding.values));
  EXPECT_EQ(found.solver, file.solver);
  EXPECT_EQ(found.residual, file.residual);
  EXPECT_EQ(found.orthogonality, file.orthogonality);
  EXPECT_EQ(found.block_size, file.block_size);
  EXPECT_EQ(found.corpus_violation_rate, file.corpus_violation_rate);
  EXPECT_EQ(found.mean_hellinger, file.mean_hellinger);
  EXPECT_EQ(found.sum_hellinger_squared, file.sum_hellinger_squared);
  EXPECT_EQ(found.parameters_full, file.parameters_full);
  EXPECT_EQ(found.parameters_factored, file.parameters_factored);
  EXPECT_EQ(found.unreached, file.unreached);
}

TEST(Geometry, OnePositionRankZero) {
  const Scratch scratch;
  GeometryFile file;
  file.length = 1;
  file.position = {0};
  file.spectrum.eigenvalues = {0.0};
  file.encoding.rows = 1;
  file.encoding.components = 4;
  file.corpus_violation_rate = std::numeric_limits<double>::quiet_NaN();
  write_geometry(world(), scratch.path("g.h5"), file, nullptr, provenance);
  const GeometryFile found = read_geometry(world(), scratch.path("g.h5"));
  EXPECT_EQ(found.encoding.components, 4);
  EXPECT_EQ(found.encoding.stored, 0);
  EXPECT_TRUE(found.encoding.values.empty());
  EXPECT_TRUE(std::isnan(found.corpus_violation_rate));
}

TEST(Geometry, PartOfTheSpectrumHasUndefinedSummaries) {
  const Scratch scratch;
  GeometryFile file = known_geometry();
  file.spectrum.rank = -1;
  file.encoding.stored = file.encoding.components = 3;
  file.spectrum.eigenvalues.resize(3);
  write_geometry(world(), scratch.path("g.h5"), file, nullptr, provenance);
  const GeometryFile found = read_geometry(world(), scratch.path("g.h5"));
  EXPECT_EQ(found.spectrum.rank, -1);
  EXPECT_TRUE(same_bits(found.encoding.values, file.encoding.values));
}

TEST(Noise, RoundTripOfEveryPart) {
  const Scratch scratch;
  NoiseAnalysis only_shuffle;
  only_shuffle.length = 12;
  only_shuffle.reached = 7;
  only_shuffle.shuffle = true;
  only_shuffle.shuffled_eigenvalues = {1, 0};
  only_shuffle.shuffled_rank = 1;
  only_shuffle.shuffled_trace = 1;
  for (const NoiseAnalysis& noise : {known_noise(), known_empty_noise(), only_shuffle}) {
    write_geometry(world(), scratch.path("g.h5"), known_geometry_with(noise), nullptr, provenance);
    const GeometryFile file = read_geometry(world(), scratch.path("g.h5"));
    EXPECT_TRUE(file.noise.has_value());
    if (!file.noise) continue;
    const NoiseAnalysis& found = *file.noise;
    EXPECT_EQ(found.length, noise.length);
    EXPECT_EQ(found.reached, noise.reached);
    EXPECT_EQ(found.position, noise.position);
    EXPECT_EQ(found.rarefied_total, noise.rarefied_total);
    EXPECT_EQ(found.split, noise.split);
    EXPECT_EQ(found.shuffle, noise.shuffle);
    EXPECT_EQ(found.signal_rank, noise.signal_rank);
    EXPECT_EQ(found.signal_rank_order, noise.signal_rank_order);
    EXPECT_EQ(found.signal_components, noise.signal_components);
    EXPECT_EQ(found.denoised_negative, noise.denoised_negative);
    EXPECT_EQ(found.shuffled_rank, noise.shuffled_rank);
    EXPECT_TRUE(same_bits(found.split_eigenvalues, noise.split_eigenvalues));
    EXPECT_TRUE(same_bits(found.null_largest, noise.null_largest));
    EXPECT_TRUE(same_bits(found.signal_encoding, noise.signal_encoding));
    EXPECT_TRUE(same_bits(found.shuffled_eigenvalues, noise.shuffled_eigenvalues));
    const auto numbers = [](const NoiseAnalysis& n) {
      return std::vector<double>{n.alpha,
                                 n.threshold,
                                 n.signal_trace,
                                 n.denoised_sum,
                                 n.reliability,
                                 n.reliability_of_whole,
                                 n.shuffled_trace,
                                 n.shuffled_violation_rate,
                                 n.shuffled_sum_hellinger_squared,
                                 n.shuffled_share,
                                 n.shuffled_split_largest};
    };
    EXPECT_TRUE(same_bits(numbers(found), numbers(noise)));
  }
  write_geometry(world(), scratch.path("g.h5"), known_geometry(), nullptr, provenance);
  EXPECT_FALSE(read_geometry(world(), scratch.path("g.h5")).noise.has_value());
}

TEST(Provenance, RoundTripOfAnyFileAndNulloptWithoutOne) {
  const Scratch scratch;
  write_sweep(world(), scratch.path("sweep.h5"), known_sweep(), provenance);
  const std::optional<Provenance> found = read_provenance(world(), scratch.path("sweep.h5"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->command_line, provenance.command_line);
  EXPECT_EQ(found->config, provenance.config);
  EXPECT_EQ(found->ranks, provenance.ranks);
  EXPECT_EQ(found->process_grid, provenance.process_grid);
  EXPECT_EQ(found->libraries, provenance.libraries);
  EXPECT_EQ(found->created, provenance.created);
  EXPECT_EQ(found->seed, provenance.seed);
  EXPECT_EQ(found->fingerprint, provenance.fingerprint);
  EXPECT_EQ(found->fingerprint_lines, provenance.fingerprint_lines);
  EXPECT_EQ(found->corpus_fingerprint, provenance.corpus_fingerprint);
  EXPECT_FALSE(read_provenance(world(), scratch.path("none.h5")).has_value());
}

TEST(RankCount, TheSameBytesAsOneRankWrites) {
  const Scratch scratch;
  write_counts(world(), scratch.path("counts.h5"), known_counts(world()), provenance);
  write_geometry(world(), scratch.path("geometry.h5"), known_geometry(), nullptr, provenance);
  write_stress(world(), scratch.path("stress.h5"), known_stress(), known_encodings(), provenance);
  if (world().is_root()) {
    const Communicator self = Communicator::self();
    write_counts(self, scratch.path("counts-1.h5"), known_counts(self), provenance);
    write_geometry(self, scratch.path("geometry-1.h5"), known_geometry(), nullptr, provenance);
    write_stress(self, scratch.path("stress-1.h5"), known_stress(), known_encodings(), provenance);
    for (const std::string name : {"counts", "geometry", "stress"}) {
      EXPECT_TRUE(bytes_of(scratch.path(name + ".h5")) == bytes_of(scratch.path(name + "-1.h5"))) << name;
    }
  }
}

TEST(Compare, ADifferenceOnAnyRankIsAnErrorOnAll) {
  const Scratch scratch;
  const std::vector<Index> shape{23};
  const std::string path = scratch.path("file.h5");
  if (world().is_root()) {
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    hdf5::create_dataset(file, "/vector", hdf5::file_type<std::int32_t>(), shape);
  }
  barrier(world());
  const hdf5::Handle file = hdf5::open_to_write_together(world(), path);
  std::vector<std::int32_t> values(23, 7);
  const OwnedPositions own = owned_positions(23, world().rank(), world().size());
  const auto go = [&](io::SharedWriter::Pass pass) {
    const auto mine =
        std::span<const std::int32_t>(values).subspan(static_cast<std::size_t>(own.first), static_cast<std::size_t>(own.rows));
    io::SharedWriter(world(), file, pass).run("/vector", own.first, mine);
  };
  go(io::SharedWriter::Pass::write);
  hdf5::flush(file);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = 8;
    expect_error([&] { go(io::SharedWriter::Pass::compare); }, {"file.h5:/vector", "reads back"});
    values[k] = 7;
  }
  go(io::SharedWriter::Pass::compare);
}

TEST(Pieces, AnySizeOfPieceWritesTheSame) {
  const Scratch scratch;
  // Runs of 0, 1, 2, ... elements, in reverse order of the ranks: a writer is told where its own begins.
  const Index own = world().rank();
  const Index before = exclusive_sum(world(), own);
  const Index total = all_reduce(world(), own);
  const std::vector<Index> vector_shape{total};
  const std::vector<Index> rows_shape{11, 3};
  const std::vector<Index> square_shape{17, 17};
  const DistributedMatrix square = known_hellinger(ProcessGrid::nearest_square(world()), 17, 2);
  std::vector<std::int64_t> values(static_cast<std::size_t>(total));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::int64_t>(k * k);
  const auto mine =
      std::span<const std::int64_t>(values).subspan(static_cast<std::size_t>(total - before - own), static_cast<std::size_t>(own));
  for (const Index piece : {1, 2, 5, 1000}) {
    const std::string path = scratch.path("pieces-" + std::to_string(piece));
    if (world().is_root()) {
      const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
      hdf5::create_dataset(file, "/a/vector", hdf5::file_type<std::int64_t>(), vector_shape);
      hdf5::create_dataset(file, "/rows", hdf5::file_type<double>(), rows_shape);
      hdf5::create_dataset(file, "/square", hdf5::file_type<double>(), square_shape);
    }
    barrier(world());
    {
      const hdf5::Handle file = hdf5::open_to_write_together(world(), path);
      for (const auto pass : {io::SharedWriter::Pass::write, io::SharedWriter::Pass::compare}) {
        io::SharedWriter writer(world(), file, pass, piece);
        writer.run("/a/vector", total - before - own, mine);
        writer.rows("/rows", [](Index first, Index count, std::span<double> rows) {
          for (Index k = 0; k < count * 3; ++k) rows[static_cast<std::size_t>(k)] = static_cast<double>(first * 3 + k);
        });
        writer.symmetric("/square", square);
        hdf5::flush(file);
      }
    }
    barrier(world());
    const hdf5::Handle file = hdf5::open_to_read(path);
    std::vector<std::int64_t> found(values.size());
    hdf5::read(hdf5::open_dataset(file, "/a/vector"), H5T_NATIVE_INT64, found.data());
    EXPECT_EQ(found, values) << "pieces of " << piece;
    std::vector<double> rows(33);
    hdf5::read(hdf5::open_dataset(file, "/rows"), H5T_NATIVE_DOUBLE, rows.data());
    for (std::size_t k = 0; k < rows.size(); ++k) EXPECT_EQ(rows[k], static_cast<double>(k)) << "pieces of " << piece;
    std::vector<double> distances(17 * 17);
    hdf5::read(hdf5::open_dataset(file, "/square"), H5T_NATIVE_DOUBLE, distances.data());
    for (Index k = 0; k < 17 * 17; ++k)
      EXPECT_EQ(distances[static_cast<std::size_t>(k)], known_distance(k / 17, k % 17)) << "pieces of " << piece;
  }
}

/// The value beside `key`; empty where there is none.
std::string line_of(const InspectLines& lines, const std::string& key) {
  for (const auto& [found, value] : lines) {
    if (found == key) return value;
  }
  return {};
}

TEST(Inspect, SummarisesEveryFormat) {
  const Scratch scratch;
  write_counts(world(), scratch.path("counts.h5"), known_counts(world()), provenance);
  write_geometry(world(), scratch.path("geometry.h5"), known_geometry(), nullptr, provenance);
  write_stress(world(), scratch.path("stress.h5"), known_stress(), known_encodings(), provenance);
  write_sweep(world(), scratch.path("sweep.h5"), known_sweep(), provenance);
  const InspectLines counts = inspect_file(world(), scratch.path("counts.h5"));
  EXPECT_EQ(line_of(counts, "format"), "posgeom-counts, version 1");
  EXPECT_EQ(line_of(counts, "command line"), provenance.command_line);
  EXPECT_EQ(line_of(counts, "documents"), "100, 3 of them empty");
  EXPECT_EQ(line_of(counts, "n = 5"),
            "14 nonzero counts, 4 positions reached: N_0 = 1099511627791, N_1 = 42, N_2 = 96, N_3 = 102, N_4 = 0");
  EXPECT_EQ(line_of(counts, "halves"), "not stored");
  EXPECT_EQ(line_of(counts, "shuffled"), "not stored");
  const CorpusCounts noise = known_whole(Sequences::document, {3, 5}, true, true);
  write_counts(world(), scratch.path("noise.h5"), {share_of(noise, world()), known_vocabulary()}, provenance);
  const InspectLines with_noise = inspect_file(world(), scratch.path("noise.h5"));
  EXPECT_EQ(line_of(with_noise, "sequences"), "document");
  EXPECT_EQ(line_of(with_noise, "vocabulary"), "V = 7, stored");
  EXPECT_EQ(line_of(with_noise, "halves"), "stored");
  EXPECT_EQ(line_of(with_noise, "shuffled"), "n = 3, 5");
  EXPECT_EQ(line_of(with_noise, "shuffled, n = 3"), "11 nonzero counts");
  write_count_checkpoint(world(), scratch.path("check.h5"), known_checkpoint(world()), provenance);
  const InspectLines checkpoint = inspect_file(world(), scratch.path("check.h5"));
  EXPECT_EQ(line_of(checkpoint, "format"), "posgeom count checkpoint, version 1");
  EXPECT_EQ(line_of(checkpoint, "sequences"), "chunk");
  EXPECT_EQ(line_of(checkpoint, "n = 3"), "7 nonzero counts, 2 positions reached: N_0 = 1099511627791, N_1 = 42, N_2 = 0");
  EXPECT_EQ(line_of(checkpoint, "n = 8").substr(0, 39), "25 nonzero counts, 7 positions reached:");
  EXPECT_EQ(line_of(checkpoint, "units done"), "6");
  const InspectLines geometry = inspect_file(world(), scratch.path("geometry.h5"));
  EXPECT_EQ(line_of(geometry, "positions"), "7 of 12, unreached: drop");
  EXPECT_EQ(line_of(geometry, "rank"), "3");
  EXPECT_EQ(line_of(geometry, "encoding"), "7 x 5");
  EXPECT_EQ(line_of(geometry, "Hellinger matrix"), "not stored");
  EXPECT_EQ(line_of(geometry, "noise"), "not analysed");
  EXPECT_EQ(line_of(geometry, "in words").substr(0, 29), "positions hold 17 to 10995116");
  write_geometry(world(), scratch.path("geometry.h5"), known_geometry_with(known_noise()), nullptr, provenance);
  const InspectLines analysed = inspect_file(world(), scratch.path("geometry.h5"));
  EXPECT_EQ(line_of(analysed, "noise"),
            "3 components stand above sampling noise (M = 1099511627776 tokens a half at 4 positions; threshold 0.375, at most 20 % false "
            "alarms by 5 replicates), with a trace of 6.25");
  EXPECT_EQ(line_of(analysed, "eigenvalues across halves"), "3.5 2.25 0.5 -0.125");
  EXPECT_EQ(line_of(analysed, "eigenvalues, shuffled"), "1.5 0.75 0.25 0.125 0.0625 0 -1e-17");
  write_geometry(world(), scratch.path("geometry.h5"), known_geometry_with(known_empty_noise()), nullptr, provenance);
  EXPECT_EQ(line_of(inspect_file(world(), scratch.path("geometry.h5")), "noise"),
            "none of 12 positions holds M = 5000 tokens in both halves: nothing can be said about sampling noise");
  const InspectLines stress = inspect_file(world(), scratch.path("stress.h5"));
  EXPECT_EQ(line_of(stress, "raw stress"), "        d=1        d=2        d=4");
  EXPECT_EQ(line_of(stress, "  my.file-1"), "        inf    0.26562    0.28125");
  EXPECT_EQ(line_of(stress, "stored encodings"), "mds, my.file-1");
  EXPECT_EQ(line_of(stress, "in words").substr(0, 36), "against the de-noised distances the ");
  const InspectLines sweep = inspect_file(world(), scratch.path("sweep.h5"));
  EXPECT_EQ(line_of(sweep, "lengths x encodings x dimensions"), "2 x 2 x 3");
  EXPECT_EQ(line_of(sweep, "  n = 8"), "       3         1.5        0.25         0.1            2  1099511627776");
  EXPECT_EQ(line_of(sweep, "  n = 12"), "       4         2.5        0.26         0.2            -              -");
}

}  // namespace
}  // namespace posgeom
