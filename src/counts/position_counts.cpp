#include "posgeom/counts/position_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

void check_memory(const CountOptions& options, Index vocab_size) {
  const Index limit = options.memory_bytes > 0 ? options.memory_bytes : std::numeric_limits<Index>::max();
  const Index row_bytes = vocab_size * static_cast<Index>(sizeof(Count));  // no overflow: ids are 32-bit
  if (row_bytes == 0 || options.length <= limit / row_bytes) return;
  const double gib = 1024.0 * 1024.0 * 1024.0;
  throw Error(
      fmt::format("counting: the table of {} positions x {} tokens needs {:.3g} GiB on every rank, but {:.3g} GiB is allowed (--memory); "
                  "that holds {} positions: "
                  "raise --memory or give a smaller --lengths",
                  options.length, vocab_size, static_cast<double>(options.length) * static_cast<double>(row_bytes) / gib,
                  static_cast<double>(limit) / gib, limit / row_bytes));
}

/// One rank's share: its dense table, row-major length x V, and the totals.
struct LocalCounts {
  std::vector<Count> table;
  Index documents = 0, empty_documents = 0, tokens = 0, longest = 0;
};

void add_batch(const TokenBatch& batch, Index length, Index vocab_size, LocalCounts& counts) {
  for (Index k = 0; k < batch.document_count(); ++k) {
    const std::span<const Token> document = batch.document(k);
    const Index tokens = std::ssize(document);
    counts.empty_documents += tokens == 0 ? 1 : 0;
    counts.tokens += tokens;
    counts.longest = std::max(counts.longest, tokens);
    Count* row = counts.table.data();
    for (const Token token : document.first(static_cast<std::size_t>(std::min(tokens, length)))) {
      expects(token >= 0 && token < vocab_size, "token ids 0 .. V-1");
      ++row[token];
      row += vocab_size;
    }
  }
  counts.documents += batch.document_count();
}

LocalCounts count_part(const Corpus& corpus, int rank, int ranks, const CountOptions& options, const CountProgress& progress) {
  LocalCounts counts;
  counts.table.resize(static_cast<std::size_t>(options.length * corpus.vocab_size));
  DocumentReader reader(corpus, rank, ranks);
  TokenBatch batch;
  while (reader.next(batch)) {
    add_batch(batch, options.length, corpus.vocab_size, counts);
    if (progress) progress(reader.bytes_done(), reader.bytes_total(), counts.tokens);
  }
  return counts;
}

}  // namespace

PositionCounts count_positions(const Communicator& comm, const Corpus& corpus, const CountOptions& options, const CountProgress& progress) {
  expects(options.length >= 1 && options.chunk >= 1, "length >= 1 and chunk >= 1");
  LocalCounts local = collective(comm, "counting the tokens of each position", [&] {
    check_memory(options, corpus.vocab_size);
    return count_part(corpus, comm.rank(), comm.size(), options, progress);
  });
  PositionCounts counts;
  counts.length = options.length;
  counts.vocab_size = corpus.vocab_size;
  std::array sums{local.documents, local.empty_documents, local.tokens};
  all_reduce(comm, std::span<Index>(sums));
  counts.document_count = sums[0];
  counts.empty_document_count = sums[1];
  counts.token_count = sums[2];
  counts.longest_document = all_reduce(comm, local.longest, Reduction::maximum);
  // Positions that no document reaches hold nothing to be summed.
  const Index rows = std::min(options.length, counts.longest_document);
  reduce_counts(comm, std::span(local.table).first(static_cast<std::size_t>(rows * corpus.vocab_size)), options.chunk, counts);
  return counts;
}

void reduce_counts(const Communicator& comm, std::span<Count> local_table, Index chunk, PositionCounts& counts) {
  const Index rows = counts.vocab_size > 0 ? std::ssize(local_table) / counts.vocab_size : 0;
  expects(rows <= counts.length && rows * counts.vocab_size == std::ssize(local_table), "a table of whole rows, at most `length`");
  all_reduce(comm, local_table, Reduction::sum, chunk);
  collective(comm, "collecting the counts", [&] {
    counts.position_total.assign(static_cast<std::size_t>(counts.length), 0);
    counts.indptr.assign(static_cast<std::size_t>(counts.length + 1), 0);
    const auto nonzeros = static_cast<std::size_t>(std::ssize(local_table) - std::count(local_table.begin(), local_table.end(), Count{0}));
    counts.token.clear();
    counts.count.clear();
    counts.token.reserve(nonzeros);
    counts.count.reserve(nonzeros);
    const Count* cell = local_table.data();
    for (Index i = 0; i < counts.length; ++i) {
      for (Token v = 0; i < rows && v < counts.vocab_size; ++v, ++cell) {
        if (*cell == 0) continue;
        counts.token.push_back(v);
        counts.count.push_back(*cell);
        counts.position_total[static_cast<std::size_t>(i)] += *cell;
      }
      counts.indptr[static_cast<std::size_t>(i + 1)] = std::ssize(counts.token);
    }
  });
}

}  // namespace posgeom
