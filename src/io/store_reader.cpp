#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "io/posix.hpp"
#include "io/store_file.hpp"

namespace posgeom::io {
namespace {

/// "float64", "int32", as h5py would say.
std::string type_text(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return fmt::format("float{}", bits);
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_STRING:
      return "text";
    default:
      return "another type";
  }
}

std::string shape_text(const std::vector<Index>& shape) {
  std::vector<std::string> extents;
  extents.reserve(shape.size());
  for (const Index extent : shape) extents.push_back(extent < 0 ? "any" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

bool matches(const std::vector<Index>& found, const std::vector<Index>& wanted) {
  return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(), [](Index a, Index b) { return b == -1 || a == b; });
}

/// The object that an attribute belongs to, and the attribute's own name.
std::pair<std::string, std::string> owner_of(const std::string& attribute) {
  const std::size_t slash = attribute.find_last_of('/');
  if (slash == std::string::npos) return {".", attribute};
  return {attribute.substr(0, slash), attribute.substr(slash + 1)};
}

}  // namespace

StoreReader::StoreReader(std::string path, std::string_view format) : path_(std::move(path)), format_(format) {
  const std::string_view writer = writer_of(format);
  if (!exists(path_)) {
    throw Error(
        fmt::format("opening {}: there is no such file{}", path_, format.empty() ? std::string() : fmt::format("; {} writes it", writer)));
  }
  if (const Descriptor file = open_for_reading(path_); file_size(file, path_) == 0) {
    throw Error(fmt::format("opening {}: the file is empty; write it again with {}", path_, writer));
  }
  file_ = hdf5::open_to_read(path_);
  if (hdf5::checked(H5Aexists(file_, "format"), "reading", file_, "format") == 0) {
    throw Error(fmt::format("opening {}: an HDF5 file without the attribute `format`: not one that posgeom wrote", path_));
  }
  const std::string found = text("format");
  const auto known = {counts_format, checkpoint_format, geometry_format, stress_format, sweep_format, truth_format};
  if (found == "posgeom-training") {  // of jobs/downstream/train.py
    throw Error(fmt::format("opening {}: it holds the position table of a training run; --encodings NAME=file:{}:/position_table scores it",
                            path_, path_));
  }
  if (format.empty() ? std::find(known.begin(), known.end(), found) == known.end() : found != format) {
    throw Error(fmt::format("opening {}: its format is `{}`, expected {}; {}", path_, found,
                            format.empty() ? "one of posgeom's" : fmt::format("`{}`", format),
                            format.empty() ? "was it written by a newer posgeom?" : fmt::format("{} writes that", writer)));
  }
  format_ = found;
  const Index found_version = integer("format_version");
  if (found_version > format_version || found_version < 1) {
    throw Error(fmt::format(
        "opening {}: its format_version is {}, this posgeom reads {}; use the posgeom that wrote it (posgeom_version {}), or a newer one",
        path_, found_version, format_version, text("posgeom_version")));
  }
}

void StoreReader::refuse(const std::string& text) const {
  throw Error(format_ == checkpoint_format
                  ? fmt::format("reading {}: {}; the file is damaged: remove it, and {} starts anew", path_, text, writer_of(format_))
                  : fmt::format("reading {}: {}; the file is damaged: write it again with {}", path_, text, writer_of(format_)));
}

bool StoreReader::has_attribute(const std::string& name) const {
  const auto [owner, own_name] = owner_of(name);
  if (owner != "." && !has(owner)) return false;
  return hdf5::checked(H5Aexists_by_name(file_, owner.c_str(), own_name.c_str(), H5P_DEFAULT), "reading", file_, name) > 0;
}

hdf5::Handle StoreReader::attribute(const std::string& name, H5T_class_t type, const char* expected) const {
  if (!has_attribute(name)) refuse(fmt::format("the attribute {} is missing", name));
  const auto [owner, own_name] = owner_of(name);
  hdf5::Handle attribute(
      hdf5::checked(H5Aopen_by_name(file_, owner.c_str(), own_name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "reading", file_, name), H5Aclose);
  const hdf5::Handle stored(hdf5::checked(H5Aget_type(attribute), "reading", file_, name), H5Tclose);
  const hdf5::Handle space(hdf5::checked(H5Aget_space(attribute), "reading", file_, name), H5Sclose);
  const bool scalar = H5Sget_simple_extent_npoints(space) == 1;
  if (!scalar || H5Tget_class(stored) != type || (type == H5T_STRING && H5Tis_variable_str(stored) <= 0)) {
    refuse(fmt::format("the attribute {} is {}{}, expected {}", name, scalar ? "" : "a list of ", type_text(stored), expected));
  }
  return attribute;
}

std::string StoreReader::text(const std::string& name) const {
  const hdf5::Handle opened = attribute(name, H5T_STRING, "text of variable length");
  const hdf5::Handle type(hdf5::checked(H5Aget_type(opened), "reading", file_, name), H5Tclose);
  char* text = nullptr;
  hdf5::checked(H5Aread(opened, type, &text), "reading", file_, name);
  std::string value = text == nullptr ? "" : text;
  H5free_memory(text);
  return value;
}

Index StoreReader::integer(const std::string& name) const {
  std::int64_t value = 0;
  hdf5::checked(H5Aread(attribute(name, H5T_INTEGER, "an integer"), H5T_NATIVE_INT64, &value), "reading", file_, name);
  return value;
}

double StoreReader::real(const std::string& name) const {
  double value = 0;
  hdf5::checked(H5Aread(attribute(name, H5T_FLOAT, "a float"), H5T_NATIVE_DOUBLE, &value), "reading", file_, name);
  return value;
}

std::vector<Index> StoreReader::shape(const std::string& dataset) const {
  if (!has(dataset)) refuse(fmt::format("the dataset {} is missing", dataset));
  return hdf5::shape_of(hdf5::open_dataset(file_, dataset));
}

hdf5::Handle StoreReader::open(const std::string& dataset, hid_t type, const std::vector<Index>& wanted) const {
  const std::vector<Index> found = shape(dataset);
  if (!matches(found, wanted))
    refuse(fmt::format("the dataset {} has shape {}, expected {}", dataset, shape_text(found), shape_text(wanted)));
  hdf5::Handle opened = hdf5::open_dataset(file_, dataset);
  const hdf5::Handle stored(hdf5::checked(H5Dget_type(opened), "reading", opened), H5Tclose);
  if (hdf5::checked(H5Tequal(stored, type), "reading", opened) == 0) {
    refuse(fmt::format("the dataset {} holds {}, expected little-endian {}", dataset, type_text(stored), type_text(type)));
  }
  return opened;
}

void StoreReader::read_run(hid_t dataset, hid_t type, Index first, Index count, void* values) const {
  if (count == 0) return;
  const hdf5::Handle file_space(hdf5::checked(H5Dget_space(dataset), "reading", dataset), H5Sclose);
  const auto start = static_cast<hsize_t>(first);
  const auto extent = static_cast<hsize_t>(count);
  hdf5::checked(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, nullptr, &extent, nullptr), "reading", dataset);
  const hdf5::Handle memory_space(hdf5::checked(H5Screate_simple(1, &extent, nullptr), "reading", dataset), H5Sclose);
  hdf5::checked(H5Dread(dataset, type, memory_space, file_space, H5P_DEFAULT, values), "reading", dataset);
}

std::vector<std::string> StoreReader::texts(const std::string& dataset) const {
  if (const std::vector<Index> found = shape(dataset); found.size() != 1) {
    refuse(fmt::format("the dataset {} has shape {}, expected one dimension", dataset, shape_text(found)));
  }
  const hdf5::Handle opened = hdf5::open_dataset(file_, dataset);
  const hdf5::Handle stored(hdf5::checked(H5Dget_type(opened), "reading", opened), H5Tclose);
  if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) <= 0) {
    refuse(fmt::format("the dataset {} holds {}, expected texts of variable length", dataset, type_text(stored)));
  }
  return hdf5::read_texts(opened);
}

void StoreReader::rows(const std::string& dataset, Index row_count, Index column_count,
                       const std::function<void(Index first, Index count, const double* rows)>& take) const {
  const hdf5::Handle opened = open(dataset, H5T_IEEE_F64LE, {row_count, column_count});
  const Index step = std::max<Index>(1, (Index{1} << 22) / std::max<Index>(1, column_count));
  std::vector<double> piece;
  for (Index first = 0; first < row_count; first += step) {
    const Index count = std::min(step, row_count - first);
    piece.resize(static_cast<std::size_t>(count * column_count));
    hdf5::read_rows(opened, H5T_NATIVE_DOUBLE, first, count, piece.data());
    take(first, count, piece.data());
  }
}

Provenance StoreReader::provenance() const {
  Provenance p;
  p.command_line = text("command_line");
  p.config = text("config");
  p.ranks = narrow_to_int(integer("ranks"), "the attribute ranks");
  p.process_grid = text("process_grid");
  p.libraries = text("libraries");
  p.created = text("created");
  p.seed = integer("seed");
  p.fingerprint = text("fingerprint");
  p.fingerprint_lines = text("fingerprint_lines");
  p.corpus_fingerprint = text("corpus_fingerprint");
  return p;
}

}  // namespace posgeom::io
