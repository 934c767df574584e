#include "hdf5/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "posgeom/error.hpp"

namespace posgeom::hdf5 {
namespace {

/// HDF5's description of what failed first; clears the stack.
std::string innermost_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned place, const H5E_error2_t* error, void* out) -> herr_t {
        if (place == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "HDF5 gives no reason" : text;
}

std::string_view advice_for(std::string_view text) {
  const auto says = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (says("lock file")) {
    return "; another program has it open: wait or close it there. Where the file system has no locks, set HDF5_USE_FILE_LOCKING=FALSE";
  }
  if (says("signature not found")) return "; it is not an HDF5 file, or its beginning is damaged";
  if (says("truncated file")) return "; its end is missing: was it copied only in part?";
  if (says("No space left") || says("NO_SPACE") || says("quota")) return "; free some space, or choose another folder with --out";
  if (says("Permission denied") || says("MPI_ERR_ACCESS")) return "; change its permissions, or choose another folder with --out";
  if (says("Read-only") || says("READ_ONLY")) return "; choose another folder with --out";
  if (says("File too large")) return "; the limit on file sizes is too small (ulimit -f)";
  return {};
}

template <class Ask>
std::string name_from(Ask ask) {
  const ssize_t size = ask(nullptr, std::size_t{0});
  if (size <= 0) return {};
  std::string name(static_cast<std::size_t>(size), '\0');
  ask(name.data(), name.size() + 1);
  return name;
}

/// Calls visit(dataset) for every dataset of the file.
void for_each_dataset(hid_t file, const std::function<void(hid_t dataset)>& visit) {
  for (const std::string& name : dataset_names(file)) visit(open_dataset(file, name));
}

}  // namespace

Silence::Silence() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Silence::~Silence() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    if (id_ >= 0) close_(id_);
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}

Handle::~Handle() {
  if (id_ >= 0) close_(id_);
}

void Handle::close() {
  if (id_ < 0) return;
  const std::string name =
      H5Iget_type(id_) == H5I_FILE ? name_from([&](char* text, std::size_t size) { return H5Fget_name(id_, text, size); }) : "";
  if (close_(std::exchange(id_, -1)) < 0) fail("closing", -1, name);
}

std::string place_of(hid_t location, std::string_view name) {
  if (location < 0) return std::string(name);
  std::string place = name_from([&](char* text, std::size_t size) { return H5Fget_name(location, text, size); });
  const std::string object = name_from([&](char* text, std::size_t size) { return H5Iget_name(location, text, size); });
  if (object.size() > 1) place += ":" + object;
  if (!name.empty()) place += object.size() > 1 ? fmt::format(" ({})", name) : fmt::format(":{}", name);
  return place;
}

void fail(std::string_view doing, hid_t location, std::string_view name) {
  const std::string reason = innermost_error();  // before any other call clears it
  throw Error(fmt::format("{} {}: {}{}", doing, place_of(location, name), reason, advice_for(reason)));
}

Handle create_in_memory(const std::string& path) {
  const Handle access(checked(H5Pcreate(H5P_FILE_ACCESS), "describing", -1, path), H5Pclose);
  checked(H5Pset_fapl_core(access, std::size_t{1} << 20, false), "describing", -1, path);
  // H5F_ACC_TRUNC would complain of nothing here: without a backing store no file is touched.
  return {checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "laying out", -1, path), H5Fclose};
}

std::vector<char> file_image(hid_t file) {
  flush(file);
  std::vector<char> image(static_cast<std::size_t>(checked(H5Fget_file_image(file, nullptr, 0), "laying out", file)));
  checked(H5Fget_file_image(file, image.data(), image.size()), "laying out", file);
  return image;
}

Index unwritten_bytes(hid_t file) {
  Index bytes = 0;
  for_each_dataset(file, [&](hid_t dataset) {
    if (H5Dget_storage_size(dataset) != 0) return;
    const Handle type(checked(H5Dget_type(dataset), "laying out", dataset), H5Tclose);
    auto size = static_cast<Index>(H5Tget_size(type));
    for (const Index extent : shape_of(dataset)) size *= extent;
    bytes += size;
  });
  return bytes;
}

Handle open_to_read(const std::string& path) {
  return {checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "opening", -1, path), H5Fclose};
}

Handle open_to_write_together(const Communicator& comm, const std::string& path) {
  const Handle access(checked(H5Pcreate(H5P_FILE_ACCESS), "describing", -1, path), H5Pclose);
  checked(H5Pset_fapl_mpio(access, comm.handle(), MPI_INFO_NULL), "describing", -1, path);
  return {checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), "opening with all ranks", -1, path), H5Fclose};
}

void flush(hid_t file) { checked(H5Fflush(file, H5F_SCOPE_GLOBAL), "writing", file); }

bool exists(hid_t file, const std::string& name) {
  // Each link on the way must exist, or H5Lexists fails.
  for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
    if (checked(H5Lexists(file, name.substr(0, end).c_str(), H5P_DEFAULT), "looking for", file, name) == 0) return false;
  }
  return checked(H5Lexists(file, name.c_str(), H5P_DEFAULT), "looking for", file, name) > 0;
}

std::vector<std::string> names_in(hid_t file, const std::string& group, std::size_t limit) {
  struct Found {
    std::vector<std::string> names;
    std::size_t limit;
  } found{{}, limit};
  const Handle opened(checked(H5Gopen2(file, group.c_str(), H5P_DEFAULT), "opening", file, group), H5Gclose);
  checked(H5Literate(
              opened, H5_INDEX_NAME, H5_ITER_INC, nullptr,
              [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
                auto& all = *static_cast<Found*>(out);
                if (all.names.size() >= all.limit) return 1;
                all.names.emplace_back(name);
                return 0;
              },
              &found),
          "listing", file, group);
  return found.names;
}

std::vector<std::string> dataset_names(hid_t file) {
  std::vector<std::string> names;
  checked(H5Ovisit(
              file, H5_INDEX_NAME, H5_ITER_INC,
              [](hid_t, const char* name, const H5O_info_t* object, void* out) -> herr_t {
                if (object->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->emplace_back(name);
                return 0;
              },
              &names),
          "listing", file);
  return names;
}

}  // namespace posgeom::hdf5
