#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "io/offset_writer.hpp"

namespace posgeom::io {

/// This rank's part of a Megatron-LM index (PREFIX.idx): the documents that it wrote, run by run. Each document is one sequence.
class MegatronIndex {
 public:
  /// Documents from the file's document `first_document` on, the first of which begins at token `first_token`.
  void add(Index first_document, Index first_token, std::span<const std::int32_t> lengths);

  /// Which rank of how many writes its part of an index of so many documents in all, with ids of `width` bytes.
  struct Whole {
    Index document_count = 0;
    int width = 2;
    int rank = 0;
    int ranks = 1;
  };
  void write(const Descriptor& file, const std::string& path, const Whole& whole, std::vector<char>& buffer) const;

 private:
  struct Run {
    Index first_document = 0;
    Index first_token = 0;
    std::size_t begin = 0;  ///< of its documents in lengths_
    std::size_t end = 0;
  };
  std::vector<Run> runs_;
  std::vector<std::int32_t> lengths_;
};

}  // namespace posgeom::io
