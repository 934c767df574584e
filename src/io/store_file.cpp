#include "io/store_file.hpp"

#include <fmt/format.h>

#include <optional>

#include "io/partial_file.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/version.hpp"

namespace posgeom {

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

namespace io {
namespace {

void write_provenance(hid_t file, std::string_view format, const Provenance& p) {
  hdf5::write_attribute(file, "format", std::string(format));
  hdf5::write_attribute(file, "format_version", format_version);
  hdf5::write_attribute(file, "posgeom_version", std::string(version()));
  hdf5::write_attribute(file, "git_revision", std::string(git_revision()));
  hdf5::write_attribute(file, "created", p.created);
  hdf5::write_attribute(file, "command_line", p.command_line);
  hdf5::write_attribute(file, "config", p.config);
  hdf5::write_attribute(file, "ranks", std::int64_t{p.ranks});
  hdf5::write_attribute(file, "process_grid", p.process_grid);
  hdf5::write_attribute(file, "libraries", p.libraries);
  hdf5::write_attribute(file, "fingerprint", p.fingerprint);
  hdf5::write_attribute(file, "fingerprint_lines", p.fingerprint_lines);
  hdf5::write_attribute(file, "corpus_fingerprint", p.corpus_fingerprint);
  hdf5::write_attribute(file, "seed", p.seed);
}

}  // namespace

std::string_view writer_of(std::string_view format) {
  if (format == counts_format || format == checkpoint_format) return "`posgeom count` or `posgeom run`";
  if (format == geometry_format) return "`posgeom embed` or `posgeom run`";
  if (format == stress_format) return "`posgeom stress` or `posgeom run`";
  if (format == sweep_format) return "`posgeom collect` or `posgeom run`";
  if (format == truth_format) return "`posgeom synth`";
  return "posgeom";
}

void write_store(const Communicator& comm, const std::string& path, std::string_view format, const Provenance& provenance,
                 const Layout& layout, const Fill& fill) {
  const hdf5::Silence silence;
  const std::string doing = "writing " + path;
  std::optional<PartialFile> partial;  // the root's
  try {
    collective(comm, doing, [&] {
      if (!comm.is_root()) return;
      const hdf5::Handle file = hdf5::create_in_memory(path);
      write_provenance(file, format, provenance);
      layout(file);
      const std::vector<char> image = hdf5::file_image(file);
      partial.emplace(path);
      partial->reserve(std::ssize(image) + hdf5::unwritten_bytes(file));
      partial->write(image);
      partial->sync();
    });
    if (fill) {
      const std::string name = PartialFile::name_for(path);
      // A node whose folder is its own would wait for ever in the collective opening.
      collective(comm, doing, [&] { open_partial(path, comm.rank()); });
      hdf5::Handle file = collective(comm, doing, [&] { return hdf5::open_to_write_together(comm, name); });
      SharedWriter writer(comm, file, SharedWriter::Pass::write);
      fill(writer);
      collective(comm, doing, [&] { hdf5::flush(file); });
      SharedWriter comparer(comm, file, SharedWriter::Pass::compare);
      fill(comparer);
      collective(comm, doing, [&] { file.close(); });
    }
    collective(comm, doing, [&] {
      if (partial) partial->commit();
      partial.reset();  // its lock goes before anyone goes on
    });
  } catch (const CollectiveError&) {
    // All ranks are here; none tells its caller before the file is gone.
    partial.reset();
    barrier(comm);
    throw;
  }
}

}  // namespace io
}  // namespace posgeom
