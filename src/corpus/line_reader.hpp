#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "corpus/byte_source.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// Lines that end in LF, and in nothing else: a text may hold U+0085 and other separators. A last line without LF counts.
class LineReader {
 public:
  /// `offset`: where in the text the source begins.
  explicit LineReader(std::unique_ptr<ByteSource> source, Index offset = 0, Index buffer_bytes = Index{1} << 20);

  /// The next line without its LF and one CR before it, valid until the next call; false at the end.
  bool next(std::string_view& line);
  /// Drops the rest of the line, without keeping it in memory, or as much of it as begins before `limit`.
  void skip(Index limit);
  /// Drops `prefix` where the next bytes are it, and says whether they were.
  bool drop_prefix(std::string_view prefix);
  /// The first byte of the next line, or -1 at the end.
  int peek();
  /// Where in the text the next line begins.
  Index offset() const { return offset_; }
  Index bytes_done() const { return source_->bytes_done(); }

 private:
  bool fill();
  void consume(std::size_t bytes);

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< what is in the buffer and was not given out
  Index offset_;
  bool source_ended_ = false;
};

}  // namespace posgeom
