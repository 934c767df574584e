#pragma once
#include <memory>
#include <span>
#include <vector>

#include "corpus/byte_source.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// The ids of one token file by their place, as they are stored: native integers of CorpusFile::width bytes.
class IdSource {
 public:
  virtual ~IdSource() = default;
  /// Ids [first, first + count), all in the file. Throws Error where the file is shorter than it was.
  virtual void read(Index first, Index count, char* ids) const = 0;
  /// They will be read soon, front to back.
  virtual void will_read(Index first, Index count) const = 0;
};

/// Throws Error where the file's size is no longer that of the survey.
std::unique_ptr<IdSource> open_ids(const CorpusFile& file);

/// All of `bytes`, from `offset`; throws Error where the file ends before: `what` it holds there.
void read_exactly(const InputFile& file, Index offset, std::span<char> bytes, std::string_view what);

/// count values at `offset`.
template <class T>
std::vector<T> read_values(const InputFile& file, Index offset, Index count, std::string_view what) {
  std::vector<T> values(static_cast<std::size_t>(count));
  read_exactly(file, offset, {reinterpret_cast<char*>(values.data()), values.size() * sizeof(T)}, what);
  return values;
}

/// Size on disk. Throws Error that names the file.
Index size_on_disk(const std::string& path);

/// "FILE", or "FILE:/dataset"
std::string name_in_errors(const CorpusFile& file);

}  // namespace posgeom
