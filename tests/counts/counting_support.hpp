#pragma once
// A naive count to compare with, and corpora to count.
#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"
#include "support/world.hpp"

namespace posgeom::testing_support {

using Documents = std::vector<std::vector<Token>>;

/// **Collective.** A folder that the root makes and removes, and all ranks know.
class Folder {
 public:
  Folder() {
    if (world().is_root()) {
      path_ = (std::filesystem::temp_directory_path() / "posgeom-counts-XXXXXX").string();
      if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    broadcast_resized(world(), path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    barrier(world());
    std::error_code ignored;
    if (world().is_root() && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string file = path_ + "/" + name;
    barrier(world());
    if (world().is_root()) std::ofstream(file, std::ios::binary) << content;
    barrier(world());
    return file;
  }

 private:
  std::string path_;
};

/// A repeatable number below `bound`.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  Index operator()(Index bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<Index>((state_ >> 33U) % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

/// Documents of 0 .. longest tokens, every seventh empty, ids below V and unevenly distributed.
inline Documents some_documents(Index documents, Index longest, Index vocab_size, std::uint64_t seed = 1) {
  Dice dice(seed);
  Documents all(static_cast<std::size_t>(documents));
  for (std::vector<Token>& document : all) {
    document.resize(dice(7) == 0 ? 0 : static_cast<std::size_t>(dice(longest + 1)));
    for (Token& token : document) token = static_cast<Token>(dice(dice(vocab_size) + 1));
  }
  return all;
}

inline std::string as_text(const Documents& documents) {
  std::string text;
  for (const auto& document : documents) {
    for (const Token token : document) text += "w" + std::to_string(token) + " ";
    text += '\n';
  }
  return text;
}

inline std::string vocabulary_text(Index vocab_size) {
  std::string text;
  for (Index v = 0; v < vocab_size; ++v) text += "w" + std::to_string(v) + "\n";
  return text;
}

/// **Collective.** The documents as a text corpus over w0 .. w<V-1>.
inline Corpus open_documents(const Folder& folder, const Documents& documents, Index vocab_size, Index unit_bytes = 0) {
  CorpusOptions options;
  options.paths = {folder.write("documents.txt", as_text(documents))};
  options.vocab = folder.write("vocabulary", vocabulary_text(vocab_size));
  options.unit_bytes = unit_bytes;
  return open_corpus(world(), options);
}

inline CountOptions count_options(Sequences sequences, std::vector<Index> lengths) {
  CountOptions options;
  options.sequences = sequences;
  options.lengths = std::move(lengths);
  return options;
}

/// Counts as cells [n, V].
struct Dense {
  Index length = 0;
  bool shuffled = false;
  std::vector<Count> all, half_a;
  friend bool operator==(const Dense&, const Dense&) = default;
  Count total_at(Index i, Index vocab_size) const {
    return std::accumulate(all.begin() + i * vocab_size, all.begin() + (i + 1) * vocab_size, Count{0});
  }
};

/// A whole CorpusCounts, the same on every rank.
struct WholeCounts {
  Index documents = 0, empty = 0, tokens = 0, longest = 0;
  std::vector<Dense> tables;
  friend bool operator==(const WholeCounts&, const WholeCounts&) = default;
};

inline std::vector<Count> gather(const Communicator& comm, const PositionRows& rows, Index length, Index vocab_size) {
  const OwnedPositions own = owned_positions(length, comm.rank(), comm.size());
  EXPECT_EQ(rows.rows(), own.rows);
  EXPECT_TRUE(own.rows == 0 || rows.first == own.first);
  EXPECT_EQ(rows.indptr.front(), 0);
  EXPECT_EQ(rows.indptr.back(), std::ssize(rows.token));
  EXPECT_EQ(rows.token.size(), rows.count.size());
  std::vector<Count> cells(static_cast<std::size_t>(length * vocab_size));
  for (Index k = 0; k < rows.rows(); ++k) {
    for (Index e = rows.indptr[static_cast<std::size_t>(k)]; e < rows.indptr[static_cast<std::size_t>(k + 1)]; ++e) {
      const Token token = rows.token[static_cast<std::size_t>(e)];
      EXPECT_TRUE(e == rows.indptr[static_cast<std::size_t>(k)] || rows.token[static_cast<std::size_t>(e - 1)] < token);
      EXPECT_GT(rows.count[static_cast<std::size_t>(e)], 0);
      cells.at(static_cast<std::size_t>((rows.first + k) * vocab_size + token)) += rows.count[static_cast<std::size_t>(e)];
    }
  }
  all_reduce(comm, std::span(cells));
  return cells;
}

inline WholeCounts gather(const Communicator& comm, const CorpusCounts& counts) {
  WholeCounts whole{counts.document_count, counts.empty_document_count, counts.token_count, counts.longest_document, {}};
  for (const CountTable& table : counts.tables) {
    Dense dense{table.length, table.shuffled, gather(comm, table.all, table.length, counts.vocab_size), {}};
    if (counts.split) dense.half_a = gather(comm, table.half_a, table.length, counts.vocab_size);
    EXPECT_TRUE(counts.split || table.half_a.rows() == 0);
    whole.tables.push_back(std::move(dense));
  }
  return whole;
}

/// The rows of `cells` that this rank of `comm` owns, compressed.
inline PositionRows own_rows(const Communicator& comm, const std::vector<Count>& cells, Index length, Index vocab_size) {
  const OwnedPositions own = owned_positions(length, comm.rank(), comm.size());
  PositionRows rows;
  rows.first = own.first;
  for (Index i = own.first; i < own.first + own.rows; ++i) {
    for (Index v = 0; v < vocab_size; ++v) {
      const Count count = cells[static_cast<std::size_t>(i * vocab_size + v)];
      if (count == 0) continue;
      rows.token.push_back(static_cast<Token>(v));
      rows.count.push_back(count);
    }
    rows.indptr.push_back(std::ssize(rows.token));
  }
  return rows;
}

/// What a checkpoint file would hold.
struct Kept {
  WholeCounts counts;
  CorpusCounts numbers;
  std::vector<Index> done;

  Kept(const Communicator& comm, const CountCheckpoint& checkpoint)
      : counts(gather(comm, checkpoint.counts)), numbers(checkpoint.counts), done(checkpoint.done.to_triples()) {}
  CountCheckpoint for_rank_of(const Communicator& comm) const {
    CountCheckpoint checkpoint{numbers, UnitSet::from_triples(done)};
    checkpoint.counts.tables.clear();
    for (const Dense& dense : counts.tables) {
      CountTable table{dense.length, dense.shuffled, own_rows(comm, dense.all, dense.length, numbers.vocab_size), {}};
      if (numbers.split) table.half_a = own_rows(comm, dense.half_a, dense.length, numbers.vocab_size);
      checkpoint.counts.tables.push_back(std::move(table));
    }
    return checkpoint;
  }
};

/// Counts by the definitions, in one process. `half_of_document`: 0 or 1.
WholeCounts naive_count(const Documents& documents, const CountOptions& options, Index vocab_size,
                        const std::vector<int>& half_of_document);
/// The halves by the definition: documents' indices or blocks of them.
std::vector<int> naive_halves(Index documents, const NoiseOptions& noise);

/// The text of the Error that `body` throws on this rank, which is the same on every rank.
template <class Body>
std::string error_of(Body&& body) {
  std::string text;
  try {
    body();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  std::string first = text;
  broadcast_resized(world(), first);
  EXPECT_EQ(text, first);
  return text;
}

inline void expect_contains(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace posgeom::testing_support
