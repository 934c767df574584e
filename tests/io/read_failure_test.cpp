#include "hdf5/hdf5.hpp"
#include "io/edit.hpp"
#include "io/known_files.hpp"
#include "io/support.hpp"

namespace posgeom {
namespace {

const Provenance provenance = known_provenance(1);

using Read = std::function<void(const std::string& path)>;

/// One good file of each kind, and how it is read.
struct Kind {
  std::string name;
  std::string command;
  std::function<void(const std::string& path)> write;
  Read read;
  std::vector<std::string> datasets;
};

std::vector<Kind> kinds() {
  return {{"posgeom-counts",
           "posgeom count",
           [](const std::string& path) { write_counts(world(), path, known_counts(world()), provenance); },
           [](const std::string& path) { read_counts(world(), path, 5); },
           {"/position_total", "/counts/indptr", "/counts/token", "/counts/count"}},
          {"posgeom count checkpoint",
           "posgeom count",
           [](const std::string& path) { write_count_checkpoint(world(), path, known_checkpoint(world()), provenance); },
           [](const std::string& path) { read_count_checkpoint(world(), path); },
           {"/length_3/position_total", "/length_8/counts/indptr", "/length_8/counts/token", "/length_3/counts_half_a/count",
            "/length_3/counts_shuffled/indptr", "/length_8/counts_shuffled_half_a/token", "/units_done"}},
          {"posgeom-geometry",
           "posgeom embed",
           [](const std::string& path) { write_geometry(world(), path, known_geometry(), nullptr, provenance); },
           [](const std::string& path) { read_geometry(world(), path); },
           {"/position", "/eigenvalues", "/encoding"}},
          {"posgeom-stress",
           "posgeom stress",
           [](const std::string& path) { write_stress(world(), path, known_stress(), known_encodings(), provenance); },
           [](const std::string& path) { read_stress(world(), path); },
           {"/dimension", "/encoding_name", "/not_unique", "/raw", "/scaled", "/scale", "/violation_rate", "/min_separation", "/pearson",
            "/spearman"}},
          {"posgeom-geometry",
           "posgeom embed",
           [](const std::string& path) { write_geometry(world(), path, known_geometry_with(known_noise()), nullptr, provenance); },
           [](const std::string& path) { read_geometry(world(), path); },
           {"/noise/split_eigenvalues", "/noise/null_largest", "/noise/signal_component", "/noise/signal_encoding"}}};
}

TEST(Missing, FileNamesTheCommandThatWritesIt) {
  const Scratch scratch;
  for (const Kind& kind : kinds()) {
    expect_error([&] { kind.read(scratch.path("none.h5")); }, {"none.h5", "no such file", kind.command});
    expect_error([&] { kind.read(scratch.path("none.h5/deeper")); }, {"no such file"});
    expect_error([&] { kind.read(scratch.path(".")); }, {"a folder, expected a file"});
  }
  expect_error([&] { inspect_file(world(), scratch.path("none.h5")); }, {"none.h5", "no such file"});
}

TEST(NotOurs, TextEmptyOrAnotherProgramsHdf5) {
  const Scratch scratch;
  put_bytes(scratch.path("text.h5"), "not HDF5 at all, but long enough to hold a superblock's signature if there were one\n");
  put_bytes(scratch.path("empty.h5"), "");
  if (world().is_root())
    hdf5::Handle(H5Fcreate(scratch.path("other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose).close();
  barrier(world());
  for (const Kind& kind : kinds()) {
    expect_error([&] { kind.read(scratch.path("text.h5")); }, {"text.h5", "not an HDF5 file"});
    expect_error([&] { kind.read(scratch.path("empty.h5")); }, {"empty.h5", "empty"});
    expect_error([&] { kind.read(scratch.path("other.h5")); }, {"other.h5", "`format`"});
  }
  for (const char* name : {"text.h5", "empty.h5", "other.h5"}) {
    expect_error([&] { read_provenance(world(), scratch.path(name)); }, {name});
    expect_error([&] { inspect_file(world(), scratch.path(name)); }, {name});
  }
}

TEST(Format, OfAnotherKindOrVersion) {
  const Scratch scratch;
  const std::vector<Kind> all = kinds();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string path = scratch.path("file.h5");
    all[k].write(path);
    const Kind& other = all[(k + 1) % all.size()];
    expect_error([&] { other.read(path); }, {"file.h5", all[k].name, other.name, other.command});
    edit(path, [](hid_t file) {
      H5Adelete(file, "format_version");
      hdf5::write_attribute(file, "format_version", std::int64_t{2});
    });
    expect_error([&] { all[k].read(path); }, {"file.h5", "format_version is 2", "posgeom_version"});
    edit(path, [](hid_t file) {
      H5Adelete(file, "format");
      hdf5::write_attribute(file, "format", std::int64_t{2});
    });
    expect_error([&] { all[k].read(path); }, {"file.h5", "the attribute format is int64", "expected text"});
  }
}

TEST(Attributes, EachIsNeeded) {
  const Scratch scratch;
  const std::string path = scratch.path("file.h5");
  write_geometry(world(), path, known_geometry(), nullptr, provenance);
  const std::string good = bytes_of(path);
  for (const char* name : {"length", "rank", "trace", "entropy_rank", "dims_95", "solver", "unreached", "parameters_factored"}) {
    put_bytes(path, good);
    edit(path, [&](hid_t file) { H5Adelete(file, name); });
    expect_error([&] { read_geometry(world(), path); }, {"file.h5", name, "missing", "posgeom embed"});
  }
  put_bytes(path, good);
  edit(path, [&](hid_t file) { H5Adelete(file, "fingerprint"); });
  expect_error([&] { read_provenance(world(), path); }, {"file.h5", "fingerprint", "missing"});
}

TEST(Attributes, OfAGroupTooAreNeeded) {
  const Scratch scratch;
  const std::string path = scratch.path("file.h5");
  write_geometry(world(), path, known_geometry_with(known_noise()), nullptr, provenance);
  const std::string good = bytes_of(path);
  for (const char* name : {"signal_rank", "threshold", "rarefied_total", "shuffled_violation_rate", "signal_rank_order"}) {
    put_bytes(path, good);
    edit(path, [&](hid_t file) { H5Adelete_by_name(file, "/noise", name, H5P_DEFAULT); });
    const std::string attribute = std::string("/noise/") + name;
    expect_error([&] { read_geometry(world(), path); }, {"file.h5", "the attribute " + attribute + " is missing", "posgeom embed"});
    expect_error([&] { inspect_file(world(), path); }, {"file.h5", attribute});
  }
  put_bytes(path, good);
  edit(path, [](hid_t file) {
    H5Adelete_by_name(file, "/noise", "signal_rank", H5P_DEFAULT);
    const hdf5::Handle group(H5Gopen2(file, "/noise", H5P_DEFAULT), H5Gclose);
    hdf5::write_attribute(group, "signal_rank", std::int64_t{1});
  });
  expect_error([&] { read_geometry(world(), path); }, {"/noise/signal_component has 2 columns", "/noise/signal_rank is 1"});
  put_bytes(path, good);
  edit(path, [](hid_t f) { replace<std::int32_t>(f, "/noise/position", {0, 2, 2, 8}, {4}); });
  expect_error([&] { read_geometry(world(), path); }, {"/noise/position has 2 in row 2", "below 12"});
  put_bytes(path, good);
  edit(path, [](hid_t f) { replace<std::int32_t>(f, "/noise/position", {0, 2, 8}, {3}); });
  expect_error([&] { read_geometry(world(), path); }, {"/noise/split_eigenvalues has shape [4], expected [3]"});
}

TEST(Datasets, MissingOrOfAnotherShapeOrType) {
  const Scratch scratch;
  const std::string path = scratch.path("file.h5");
  for (const Kind& kind : kinds()) {
    kind.write(path);
    const std::string good = bytes_of(path);
    for (const std::string& name : kind.datasets) {
      put_bytes(path, good);
      edit(path, [&](hid_t file) { H5Ldelete(file, name.c_str(), H5P_DEFAULT); });
      expect_error([&] { kind.read(path); }, {"file.h5", name, "missing", kind.command});
      put_bytes(path, good);
      edit(path, [&](hid_t file) { replace(file, name, std::vector<double>(24, 1.0), {2, 3, 4}); });
      expect_error([&] { kind.read(path); }, {"file.h5", name, "shape [2, 3, 4]"});
    }
  }
  write_stress(world(), path, known_stress(), {}, provenance);
  edit(path, [](hid_t file) { replace(file, "/raw", std::vector<std::int32_t>(9, 1), {3, 3}); });
  expect_error([&] { read_stress(world(), path); }, {"/raw", "int32", "float64"});
  write_stress(world(), path, known_stress(), {}, provenance);
  edit(path, [](hid_t file) { replace(file, "/raw", std::vector<double>(12, 1), {3, 4}); });
  expect_error([&] { read_stress(world(), path); }, {"/raw", "[3, 4]", "[3, 3]"});
  write_stress(world(), path, known_stress(), {}, provenance);
  edit(path, [](hid_t file) { replace(file, "/encoding_name", std::vector<double>(3, 1), {3}); });
  expect_error([&] { read_stress(world(), path); }, {"/encoding_name", "float64", "texts"});
}

TEST(Geometry, ThatContradictsItself) {
  const Scratch scratch;
  const std::string path = scratch.path("g.h5");
  write_geometry(world(), path, known_geometry(), nullptr, provenance);
  edit(path, [](hid_t f) { replace<std::int32_t>(f, "/position", {0, 2, 2, 5, 8, 9, 11}, {7}); });
  expect_error([&] { read_geometry(world(), path); }, {"/position has 2 in row 2"});
  edit(path, [](hid_t f) { replace<std::int32_t>(f, "/position", {0, 2, 3, 5, 8, 9, 12}, {7}); });
  expect_error([&] { read_geometry(world(), path); }, {"/position has 12 in row 6", "below 12"});
  write_geometry(world(), path, known_geometry(), nullptr, provenance);
  edit(path, [](hid_t f) {
    H5Adelete(f, "rank");
    hdf5::write_attribute(f, "rank", std::int64_t{2});
  });
  expect_error([&] { read_geometry(world(), path); }, {"/encoding has values beyond column 2 in row 0"});
}

TEST(Truncated, AtEveryEighth) {
  const Scratch scratch;
  for (const Kind& kind : kinds()) {
    const std::string path = scratch.path("file.h5");
    kind.write(path);
    const std::string good = bytes_of(path);
    for (std::size_t eighth = 0; eighth < 8; ++eighth) {
      put_bytes(path, good.substr(0, good.size() * eighth / 8));
      expect_error([&] { kind.read(path); }, {"file.h5"});
      expect_error([&] { inspect_file(world(), path); }, {"file.h5"});
    }
    put_bytes(path, good.substr(0, good.size() - 1));
    expect_error([&] { kind.read(path); }, {"file.h5", "its end is missing"});
    put_bytes(path, good);
    kind.read(path);
  }
}

}  // namespace
}  // namespace posgeom
