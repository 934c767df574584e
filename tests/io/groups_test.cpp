
#include "io/known_files.hpp"
#include "io/shared_writer.hpp"
#include "io/support.hpp"

/// Groups of result files that may be absent.
namespace posgeom {
namespace {

const Provenance group_provenance = known_provenance(1);

TEST(Stress, RoundTrip) {
  const Scratch scratch;
  const StressFile file = known_stress();
  write_stress(world(), scratch.path("s.h5"), file, known_encodings(), group_provenance);
  const StressFile found = read_stress(world(), scratch.path("s.h5"));
  EXPECT_EQ(found.length, file.length);
  EXPECT_EQ(found.table.dimensions, file.table.dimensions);
  EXPECT_EQ(found.table.encoding_names, file.table.encoding_names);
  EXPECT_EQ(found.table.not_unique, file.table.not_unique);
  for (std::size_t k = 0; k < cell_tables.size(); ++k) {
    ASSERT_NE(cells_of(found)[k], nullptr);
    EXPECT_TRUE(same_bits(*cells_of(found)[k], *cells_of(file)[k])) << k;
  }
  EXPECT_EQ(found.table.constant_baseline, file.table.constant_baseline);
  EXPECT_EQ(found.table.corpus_violation_rate, file.table.corpus_violation_rate);
  EXPECT_EQ(found.shuffled->constant_baseline, 0.125);
  EXPECT_EQ(found.shuffled->corpus_violation_rate, 0.5);
  EXPECT_EQ(found.denoised->constant_baseline, 0.0625);
  ASSERT_TRUE(found.weighted.has_value());
  EXPECT_EQ(found.weighted->weights, "tokens");
  EXPECT_TRUE(same_bits(found.weighted->smacof, file.weighted->smacof));
  EXPECT_TRUE(same_bits(found.weighted->mds, file.weighted->mds));
}

TEST(Stress, RoundTripWithoutGroups) {
  const Scratch scratch;
  StressFile file = known_stress();
  file.shuffled.reset();
  file.denoised.reset();
  file.weighted.reset();
  write_stress(world(), scratch.path("s.h5"), file, {}, group_provenance);
  const StressFile found = read_stress(world(), scratch.path("s.h5"));
  EXPECT_FALSE(found.shuffled.has_value());
  EXPECT_FALSE(found.denoised.has_value());
  EXPECT_FALSE(found.weighted.has_value());
  EXPECT_TRUE(read_stored_encodings(world(), scratch.path("s.h5")).empty());
}

TEST(Stress, StoredEncodingsAreReadBack) {
  const Scratch scratch;
  write_stress(world(), scratch.path("s.h5"), known_stress(), known_encodings(), group_provenance);
  const std::vector<StoredEncoding> found = read_stored_encodings(world(), scratch.path("s.h5"));
  const std::vector<StoredEncoding> known = known_encodings();
  ASSERT_EQ(found.size(), known.size());
  for (std::size_t k = 0; k < known.size(); ++k) {
    EXPECT_EQ(found[k].name, known[k].name);
    EXPECT_EQ(found[k].d, known[k].d);
    EXPECT_EQ(found[k].rows, known[k].rows);
    EXPECT_EQ(found[k].columns, known[k].columns);
    EXPECT_TRUE(same_bits(found[k].values, known[k].values));
  }
}

TEST(Geometry, RoundTripOfFactorsAndRarefaction) {
  const Scratch scratch;
  GeometryFile file = known_geometry();
  EXPECT_EQ(file.rarefied_total, 0);
  file.rarefied_total = 12345;
  FactoredEncoding& f = file.factored.emplace();
  f.rows = 7;
  f.columns = 5;
  f.rank = 2;
  f.error = 0.01;
  for (int k = 0; k < 14; ++k) f.a.push_back(k / 3.0);
  for (int k = 0; k < 10; ++k) f.b.push_back(-k / 7.0);
  file.factored_tolerance = 0.02;
  write_geometry(world(), scratch.path("g.h5"), file, nullptr, group_provenance);
  const GeometryFile found = read_geometry(world(), scratch.path("g.h5"));
  EXPECT_EQ(found.rarefied_total, 12345);
  EXPECT_EQ(found.fewest_tokens, 17);
  EXPECT_EQ(found.most_tokens, Count{1} << 40);
  EXPECT_FALSE(found.has_hellinger);
  ASSERT_TRUE(found.factored.has_value());
  EXPECT_TRUE(same_bits(found.factored->a, f.a));
  EXPECT_TRUE(same_bits(found.factored->b, f.b));
  EXPECT_EQ(found.factored->rank, 2);
  EXPECT_EQ(found.factored->columns, 5);
  EXPECT_EQ(found.factored->error, 0.01);
  EXPECT_EQ(found.factored_tolerance, 0.02);
}

TEST(Bootstrap, RoundTrip) {
  const Scratch scratch;
  GeometryFile geometry = known_geometry();
  geometry.bootstrap = GeometryBootstrap{.seed = 7, .alpha = 0.5, .rank = {3, 2, 3}, .trace = {1, 4, 2}, .violation_rate = {0.1, 0.2, 0.3}};
  write_geometry(world(), scratch.path("g.h5"), geometry, nullptr, group_provenance);
  const auto found = read_geometry(world(), scratch.path("g.h5")).bootstrap;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->seed, 7U);
  EXPECT_EQ(found->alpha, 0.5);
  EXPECT_EQ(found->rank, geometry.bootstrap->rank);
  EXPECT_EQ(found->trace, geometry.bootstrap->trace);
  EXPECT_EQ(found->violation_rate, geometry.bootstrap->violation_rate);
  StressFile stress = known_stress();
  StressBootstrap& b = stress.bootstrap.emplace();
  b.replicates = 2;
  for (auto* values : {&b.raw, &b.scaled, &b.violation_rate}) {
    for (int k = 0; k < 18; ++k) values->push_back(k / 7.0);
  }
  b.scaled[3] = std::numeric_limits<double>::quiet_NaN();
  write_stress(world(), scratch.path("s.h5"), stress, {}, group_provenance);
  const auto replicates = read_stress(world(), scratch.path("s.h5")).bootstrap;
  ASSERT_TRUE(replicates.has_value());
  EXPECT_EQ(replicates->replicates, 2);
  EXPECT_TRUE(same_bits(replicates->raw, b.raw));
  EXPECT_TRUE(same_bits(replicates->scaled, b.scaled));
  EXPECT_TRUE(same_bits(replicates->violation_rate, b.violation_rate));
}

}  // namespace
}  // namespace posgeom
