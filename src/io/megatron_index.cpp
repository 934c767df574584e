#include "io/megatron_index.hpp"

#include "posgeom/counts/count_corpus.hpp"

namespace posgeom::io {
namespace {

// magic, version, type of the ids, number of sequences, number of document boundaries
constexpr Index header_bytes = 9 + 8 + 1 + 8 + 8;
constexpr char type_of_16_bits = 8;
constexpr char type_of_32_bits = 4;

}  // namespace

void MegatronIndex::add(Index first_document, Index first_token, std::span<const std::int32_t> lengths) {
  if (lengths.empty()) return;
  const std::size_t begin = lengths_.size();
  lengths_.insert(lengths_.end(), lengths.begin(), lengths.end());
  runs_.push_back({first_document, first_token, begin, lengths_.size()});
}

void MegatronIndex::write(const Descriptor& file, const std::string& path, const Whole& whole, std::vector<char>& buffer) const {
  const Index sequences = whole.document_count;
  const Index lengths_at = header_bytes;
  const Index offsets_at = lengths_at + 4 * sequences;
  const Index boundaries_at = offsets_at + 8 * sequences;
  if (whole.rank == 0) {
    OffsetWriter header(file, path, 0, buffer);
    constexpr char magic[]{'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0};
    header.put<char>(std::span<const char>(magic));
    header.put<std::uint64_t>(1);
    header.put<char>(whole.width == 2 ? type_of_16_bits : type_of_32_bits);
    header.put<std::uint64_t>(sequences);
    header.put<std::uint64_t>(sequences + 1);
    header.flush();
  }
  for (const Run& run : runs_) {
    const auto lengths = std::span(lengths_).subspan(run.begin, run.end - run.begin);
    OffsetWriter sizes(file, path, lengths_at + 4 * run.first_document, buffer);
    sizes.put<std::int32_t>(lengths);
    sizes.flush();
    OffsetWriter offsets(file, path, offsets_at + 8 * run.first_document, buffer);
    Index token = run.first_token;
    for (const std::int32_t length : lengths) {
      offsets.put<std::int64_t>(token * whole.width);
      token += length;
    }
    offsets.flush();
  }
  // Every document is one sequence, so the boundaries just count: whoever writes them.
  const OwnedPositions own = owned_positions(sequences + 1, whole.rank, whole.ranks);
  OffsetWriter boundaries(file, path, boundaries_at + 8 * own.first, buffer);
  for (Index k = own.first; k < own.first + own.rows; ++k) boundaries.put<std::int64_t>(k);
  boundaries.flush();
}

}  // namespace posgeom::io
