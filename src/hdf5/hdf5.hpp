#pragma once
#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

/// What posgeom uses of HDF5: the one place that includes it. Every call is checked; a failure becomes an Error with the innermost text of
/// HDF5's error stack and advice. Names in messages come from HDF5 itself: the file, then the object.
namespace posgeom::hdf5 {

/// HDF5's own printing of errors is off while this exists.
class Silence {
 public:
  Silence();
  ~Silence();
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// An HDF5 identifier and how it is closed. Move-only.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close how) : id_(id), close_(how) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  operator hid_t() const { return id_; }
  /// Closes, and throws where that fails: a file's last bytes are written now.
  void close();

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// "<file>:<object>"
std::string place_of(hid_t location, std::string_view name = {});

/// Throws an Error that says "<doing> <file>:<object>: <HDF5's innermost text>; <advice>". `location` may be -1, `name` empty.
[[noreturn]] void fail(std::string_view doing, hid_t location, std::string_view name);

/// `result` where it is not HDF5's sign of failure.
template <class Result>
Result checked(Result result, std::string_view doing, hid_t location = -1, std::string_view name = {}) {
  if (result < 0) fail(doing, location, name);
  return result;
}

template <class T>
hid_t memory_type() {
  if constexpr (std::is_same_v<T, double>) {
    return H5T_NATIVE_DOUBLE;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return H5T_NATIVE_INT64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return H5T_NATIVE_INT32;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "add the type here");
    return H5T_NATIVE_UINT8;
  }
}

/// The same in files: little-endian on every machine.
template <class T>
hid_t file_type() {
  if constexpr (std::is_same_v<T, double>) {
    return H5T_IEEE_F64LE;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return H5T_STD_I64LE;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return H5T_STD_I32LE;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "add the type here");
    return H5T_STD_U8LE;
  }
}

/// UTF-8 strings of any length, as h5py writes them.
Handle text_type();

/// A file in this process's memory, called `path` in messages; file_image() gives the bytes that it would have on disk.
Handle create_in_memory(const std::string& path);
std::vector<char> file_image(hid_t file);
/// The bytes of the datasets that have no storage yet: they add so much to the file.
Index unwritten_bytes(hid_t file);
Handle open_to_read(const std::string& path);
/// **Collective.** An existing file, to be written by all ranks.
Handle open_to_write_together(const Communicator& comm, const std::string& path);
/// **Collective.** Everything written so far to the disk.
void flush(hid_t file);

/// A contiguous dataset, without storage until it is written, or opened by several ranks (a collective call then). Groups on the way are
/// created.
Handle create_dataset(hid_t file, const std::string& name, hid_t type, std::span<const Index> shape);
Handle open_dataset(hid_t file, const std::string& name);
std::vector<Index> shape_of(hid_t dataset);
bool exists(hid_t file, const std::string& name);
/// The names of all datasets of the file, in an order that is the same on every rank.
std::vector<std::string> dataset_names(hid_t file);
/// The names of a group's members, at most `limit`.
std::vector<std::string> names_in(hid_t file, const std::string& group, std::size_t limit);

/// The whole dataset.
void write(hid_t dataset, hid_t type, const void* values);
void read(hid_t dataset, hid_t type, void* values);
/// Rows first .. first+count-1 of a 2-D dataset.
void read_rows(hid_t dataset, hid_t type, Index first, Index count, void* values);

/// A dataset of integers in one or two dimensions, opened to be read in ranges.
struct IntegerDataset {
  Handle handle;
  std::vector<Index> shape;
  int width = 0;  ///< bytes of an element: 1, 2, 4 or 8
  bool is_signed = false;
};
/// Throws Error that says what it is, where it is not such a dataset, or not all of its elements are stored in the file itself.
IntegerDataset open_integers(hid_t file, const std::string& name);
/// The native type of that width, whatever the byte order in the file.
hid_t native_integer(int width, bool is_signed);
/// Elements first .. first+count-1 in row-major order, as native integers of `width` bytes and the stored sign.
void read_range(const IntegerDataset& dataset, int width, Index first, Index count, void* values);
/// The names of the file's datasets of integers in one or two dimensions, at most `limit`.
std::vector<std::string> integer_datasets(hid_t file, std::size_t limit);

/// **Collective.** Writes, or reads, what is selected in `file_space` from, or into, a dense piece of memory; ranks with an empty selection
/// take part.
void write_together(hid_t dataset, hid_t type, hid_t file_space, const void* values);
void read_together(hid_t dataset, hid_t type, hid_t file_space, void* values);

void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);

/// A one-off dataset with its values.
template <class T>
void write_vector(hid_t file, const std::string& name, std::span<const T> values, std::span<const Index> shape) {
  const Handle dataset = create_dataset(file, name, file_type<T>(), shape);
  write(dataset, memory_type<T>(), values.data());
}
void write_texts(hid_t file, const std::string& name, const std::vector<std::string>& values);
std::vector<std::string> read_texts(hid_t dataset);

}  // namespace posgeom::hdf5
