// HDF5 data sets of ids: FILE.h5:/path, with FILE.h5:/path:/offsets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "hdf5/hdf5.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index window = Index{1} << 16;

/// Checks the offsets in full and returns the number of documents.
Index check_offsets(const CorpusFile& file, const hdf5::IntegerDataset& offsets) {
  const std::string name = file.path + ":" + file.offsets_dataset;
  if (offsets.shape.size() != 1) throw Error(fmt::format("the offsets {} have {} dimensions; expected one", name, offsets.shape.size()));
  const Index count = offsets.shape[0];
  std::vector<Index> values;
  Index last = 0;
  for (Index first = 0; first < count; first += window) {
    values.resize(static_cast<std::size_t>(std::min(window, count - first)));
    hdf5::read_range(offsets, 8, first, std::ssize(values), values.data());
    for (Index k = 0; k < std::ssize(values); ++k) {
      const Index value = values[static_cast<std::size_t>(k)];
      if (value < last || value > file.token_count || (first + k == 0 && value != 0)) {
        throw Error(fmt::format(
            "the offsets {}: number {} is {} after {}, of {} tokens; expected token numbers, 0 first, that never fall and lie in "
            "{}: give the data set that belongs to it",
            name, first + k, static_cast<std::uint64_t>(value), last, file.token_count, name_in_errors(file)));
      }
      last = value;
    }
  }
  if (count == 0 && file.token_count > 0)
    throw Error(fmt::format("the offsets {} are empty, but there are {} tokens", name, file.token_count));
  // Both ways are in use: the begins alone, or with the end of the last document after them.
  return count > 0 && last == file.token_count ? count - 1 : count;
}

}  // namespace

void read_hdf5_layout(CorpusFile& file) {
  const hdf5::Silence silence;
  const hdf5::Handle opened = hdf5::open_to_read(file.path);
  if (file.dataset.empty()) {
    const std::vector<std::string> names = hdf5::integer_datasets(opened, 10);
    throw Error(fmt::format("the corpus file {} is an HDF5 file; say which data set holds the ids, as {}:/{}{}", file.path, file.path,
                            names.empty() ? "name, though it holds none of integers in one or two dimensions" : names.front(),
                            names.size() > 1 ? fmt::format(" (it has /{})", fmt::join(names, ", /")) : ""));
  }
  for (const std::string& name : {file.dataset, file.offsets_dataset}) {
    if (name.empty() || hdf5::exists(opened, name)) continue;
    throw Error(fmt::format("the corpus file {} has no data set {}; its data sets of integers are: /{}", file.path, name,
                            fmt::join(hdf5::integer_datasets(opened, 10), ", /")));
  }
  const hdf5::IntegerDataset ids = hdf5::open_integers(opened, file.dataset);
  file.width = ids.width;
  file.is_signed = ids.is_signed;
  const bool rows = ids.shape.size() == 2;
  file.token_count = ids.shape[0] * (rows ? ids.shape[1] : 1);
  file.bytes = file.token_count * ids.width;
  if (rows) {
    file.document_count = ids.shape[0];
    file.row_length = ids.shape[1];
  }
  if (file.offsets_dataset.empty()) return;
  if (rows) {
    throw Error(fmt::format("the data set {} has two dimensions, whose rows are documents; leave the offsets {} out", name_in_errors(file),
                            file.offsets_dataset));
  }
  file.document_count = check_offsets(file, hdf5::open_integers(opened, file.offsets_dataset));
}

CorpusFile layout_of_offsets(CorpusFile file) {
  const hdf5::Silence silence;
  const hdf5::Handle opened = hdf5::open_to_read(file.path);
  const hdf5::IntegerDataset offsets = hdf5::open_integers(opened, file.dataset);
  file.width = offsets.width;
  file.token_count = offsets.shape[0];
  file.bytes = file.token_count * file.width;
  return file;
}

}  // namespace posgeom
