#include "posgeom/counts/count_corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>

#include "counts/counting.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

void check(const Corpus& corpus, const CountOptions& options) {
  expects(!options.lengths.empty() && std::ranges::adjacent_find(options.lengths, std::greater_equal<>()) == options.lengths.end(),
          "lengths ascending and distinct, at least one");
  expects(options.resampling.count == 0 || (!options.noise.split && !options.noise.shuffle), "replicates without halves and null");
  expects(options.chunk >= 1 && options.noise.block >= 1, "chunk >= 1, block >= 1");
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (options.lengths.front() < 1 || options.lengths.back() > most) {
    const Index found = options.lengths.front() < 1 ? options.lengths.front() : options.lengths.back();
    throw Error(fmt::format("--lengths: found {}, expected numbers from 1 to {}", found, most), ErrorKind::usage);
  }
  if (options.noise.split && options.noise.split_by == SplitBy::column && corpus.options.split_column.empty()) {
    throw Error("--split-by column: the corpus is read without such a column; expected the name of a tsv or jsonl column",
                ErrorKind::usage);
  }
}

/// **Collective.** Indexes the corpus where `options` need it.
void index_if_needed(const Communicator& comm, Corpus& corpus, const ReadOptions& options, const CountHooks& hooks) {
  if (!options.stream && !options.document_index) return;
  const auto start = std::chrono::steady_clock::now();
  index_corpus(comm, corpus, options, [&](Index bytes_done, Index bytes_total) {
    if (hooks.stop_requested && hooks.stop_requested()) {
      throw Error("indexing the corpus was stopped by a signal; nothing was counted yet: start again", ErrorKind::stopped);
    }
    if (!hooks.progress) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    hooks.progress({.bytes_done = bytes_done, .bytes_total = bytes_total, .seconds = seconds, .indexing = true});
  });
}

}  // namespace

CorpusCounts count_corpus(const Communicator& comm, Corpus& corpus, const CountOptions& options, const CountHooks& hooks,
                          const CountCheckpoint* resume) {
  collective(comm, "checking the options of counting", [&] { check(corpus, options); });
  index_if_needed(comm, corpus, read_options_for(options), hooks);
  auto counting =
      collective(comm, "making the tables of counts", [&] { return std::make_unique<Counting>(comm, corpus, options, hooks, resume); });
  return counting->run();
}

}  // namespace posgeom
