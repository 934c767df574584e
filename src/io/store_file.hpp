#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/hdf5.hpp"
#include "io/shared_writer.hpp"
#include "posgeom/io/store.hpp"

/// What all of our HDF5 files have in common.
namespace posgeom::io {

/// Numbers are raised where a reader of the last version would misread the file.
inline constexpr Index format_version = 1;

inline constexpr std::string_view counts_format = "posgeom-counts";
inline constexpr std::string_view checkpoint_format = "posgeom count checkpoint";
inline constexpr std::string_view geometry_format = "posgeom-geometry";
inline constexpr std::string_view stress_format = "posgeom-stress";
inline constexpr std::string_view sweep_format = "posgeom-sweep";
inline constexpr std::string_view truth_format = "posgeom-truth";
/// The command that writes files of a format, for messages: "`posgeom count`"; "posgeom" for others.
std::string_view writer_of(std::string_view format);

/// Puts everything small into the file: groups, datasets, attributes, scales, and the (still empty) large datasets. On the root only.
using Layout = std::function<void(hid_t file)>;
/// **Collective.** Fills the large datasets. Called twice: see SharedWriter.
using Fill = std::function<void(SharedWriter& writer)>;

/// **Collective.** Writes PATH by way of PATH.partial (partial_file.hpp). The root lays the file out in memory, with strings of variable
/// length, which parallel HDF5 cannot write, and attributes that need not be alike on all ranks; then all ranks open it and fill the large
/// datasets. Throws the same Error on every rank.
void write_store(const Communicator& comm, const std::string& path, std::string_view format, const Provenance& provenance,
                 const Layout& layout, const Fill& fill = {});

/// An opened file of ours, on one rank. Every function throws an Error that names file and object, what was found and what was expected.
class StoreReader {
 public:
  /// `format`: what it must be; empty: any of ours.
  StoreReader(std::string path, std::string_view format);

  const std::string& path() const { return path_; }
  const std::string& format() const { return format_; }
  bool has(const std::string& name) const { return hdf5::exists(file_, name); }
  /// Attributes of / by their names, those of a group as "/group/name".
  bool has_attribute(const std::string& name) const;
  std::string text(const std::string& attribute) const;
  Index integer(const std::string& attribute) const;
  double real(const std::string& attribute) const;
  std::vector<Index> shape(const std::string& dataset) const;
  /// The whole dataset, of exactly this type and shape (-1: any extent).
  template <class T>
  std::vector<T> values(const std::string& dataset, const std::vector<Index>& shape) const;
  /// Elements first .. first + count - 1 of the 1-D dataset of `extent` elements, of exactly this type.
  template <class T>
  std::vector<T> run(const std::string& dataset, Index extent, Index first, Index count) const;
  std::vector<std::string> texts(const std::string& dataset) const;
  /// The 2-D dataset of doubles, a piece of rows at a time: take(first, count, rows).
  void rows(const std::string& dataset, Index row_count, Index column_count,
            const std::function<void(Index first, Index count, const double* rows)>& take) const;
  Provenance provenance() const;
  std::vector<std::string> names_in(const std::string& group) const { return hdf5::names_in(file_, group, 1000000); }
  /// Throws the Error "reading PATH: <text>; the file is damaged: <advice>".
  [[noreturn]] void refuse(const std::string& text) const;

 private:
  hdf5::Handle open(const std::string& dataset, hid_t type, const std::vector<Index>& shape) const;
  void read_run(hid_t dataset, hid_t type, Index first, Index count, void* values) const;
  hdf5::Handle attribute(const std::string& name, H5T_class_t type, const char* expected) const;

  hdf5::Silence silence_;
  std::string path_;
  std::string format_;
  hdf5::Handle file_;
};

template <class T>
std::vector<T> StoreReader::values(const std::string& dataset, const std::vector<Index>& shape) const {
  const hdf5::Handle opened = open(dataset, hdf5::file_type<T>(), shape);
  std::size_t count = 1;
  for (const Index extent : hdf5::shape_of(opened)) count *= static_cast<std::size_t>(extent);
  std::vector<T> all(count);
  hdf5::read(opened, hdf5::memory_type<T>(), all.data());
  return all;
}

template <class T>
std::vector<T> StoreReader::run(const std::string& dataset, Index extent, Index first, Index count) const {
  const hdf5::Handle opened = open(dataset, hdf5::file_type<T>(), {extent});
  std::vector<T> values(static_cast<std::size_t>(count));
  read_run(opened, hdf5::memory_type<T>(), first, count, values.data());
  return values;
}

}  // namespace posgeom::io
