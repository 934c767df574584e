#include "corpus/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace posgeom {

LineReader::LineReader(std::unique_ptr<ByteSource> source, Index offset, Index buffer_bytes)
    : source_(std::move(source)), buffer_(static_cast<std::size_t>(buffer_bytes)), offset_(offset) {}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const void* const found = end_ > begin_ + searched ? std::memchr(start + searched, '\n', end_ - begin_ - searched) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
      line = {start, length};
      consume(length + 1);
      break;
    }
    searched = end_ - begin_;
    if (fill()) continue;
    if (searched == 0) return false;
    line = {buffer_.data() + begin_, searched};
    consume(searched);
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void LineReader::skip(Index limit) {
  while (offset_ < limit) {
    const std::string_view waiting(buffer_.data() + begin_, end_ - begin_);
    const std::size_t found = waiting.find('\n');
    if (found != std::string_view::npos) return consume(found + 1);
    consume(waiting.size());
    if (!fill()) return;
  }
}

bool LineReader::drop_prefix(std::string_view prefix) {
  while (end_ - begin_ < prefix.size() && fill()) {
  }
  const bool there = std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(prefix);
  if (there) consume(prefix.size());
  return there;
}

int LineReader::peek() {
  if (begin_ == end_ && !fill()) return -1;
  return static_cast<unsigned char>(buffer_[begin_]);
}

bool LineReader::fill() {
  if (source_ended_) return false;
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const Index got = source_->read(std::span(buffer_).subspan(end_));
  end_ += static_cast<std::size_t>(got);
  source_ended_ = got == 0;
  return got > 0;
}

void LineReader::consume(std::size_t bytes) {
  begin_ += bytes;
  offset_ += static_cast<Index>(bytes);
}

}  // namespace posgeom
