// datatrove's NAME.ds: ids without header, their documents' ends in NAME.ds.index, the width in NAME.ds.metadata.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "corpus/token_layout.hpp"
#include "corpus/token_source.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index window = Index{1} << 16;

/// The number after the last '|' of the metadata's first line; none where there is no such file or number.
std::optional<Index> width_in_metadata(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(InputFile(path).read_at(0, text)));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  const std::size_t bar = text.rfind('|');
  Index width = 0;
  if (bar == std::string::npos) return {};
  const auto [end, error] = std::from_chars(text.data() + bar + 1, text.data() + text.size(), width);
  if (error != std::errc() || end == text.data() + bar + 1) return {};
  return width;
}

}  // namespace

void read_datatrove_layout(CorpusFile& file) {
  const InputFile index(file.index_path);
  const Index index_bytes = size_on_disk(file.index_path);
  if (index_bytes % 8 != 0) {
    throw Error(
        fmt::format("the index {} of {} has {} bytes; expected a multiple of 8, one end of a document each: it is truncated, copy it "
                    "again",
                    file.index_path, file.path, index_bytes));
  }
  file.document_count = index_bytes / 8;
  Index last = 0;
  for (Index first = 0; first < file.document_count; first += window) {
    const auto ends = read_values<Index>(index, 8 * first, std::min(window, file.document_count - first), "documents' ends");
    for (Index k = 0; k < std::ssize(ends); ++k) {
      const Index end = ends[static_cast<std::size_t>(k)];
      if (end < last || end > file.bytes / 2) {  // 2: the narrowest ids
        throw Error(
            fmt::format("the index {}: document {} ends at token {}, the one before it at {}, in {} with its {} bytes; expected ends that "
                        "never fall and lie in the file: the two are no pair, or damaged: copy both again",
                        file.index_path, first + k, static_cast<std::uint64_t>(end), last, file.path, file.bytes));
      }
      last = end;
    }
  }
  const std::string metadata = file.path + ".metadata";
  const std::optional<Index> stated = width_in_metadata(metadata);
  file.token_count = last;
  file.width = file.bytes == 4 * last && last > 0 ? 4 : 2;
  if (file.bytes != last * file.width) {
    throw Error(fmt::format(
        "the corpus file {} has {} bytes, but the last document ends at token {} by {}, which takes {} bytes with 16-bit ids and "
        "{} with 32-bit ones; one of the two is truncated: copy both again",
        file.path, file.bytes, last, file.index_path, 2 * last, 4 * last));
  }
  if (stated && last > 0 && *stated != file.width) {
    throw Error(fmt::format(
        "the metadata {} say that ids have {} bytes, but {} has {} bytes for {} ids, {} each; they are no pair: copy them again", metadata,
        *stated, file.path, file.bytes, last, file.width));
  }
}

}  // namespace posgeom
