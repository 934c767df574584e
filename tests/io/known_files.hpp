#pragma once
// Values that follow simple rules, so that check_files.py can say what must be in the files.
#include <cmath>
#include <limits>

#include "posgeom/io/store.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {

inline Provenance known_provenance(int ranks) {
  Provenance p;
  p.command_line = "posgeom run --corpus \"a b\" --lengths 12";
  p.config = std::string(200000, '#') + "\n[corpus]\nname = \xC3\xA9\n";  // beyond what an object's header can hold
  p.ranks = ranks;
  p.process_grid = "1x" + std::to_string(ranks);
  p.libraries = "HDF5 " + std::to_string(ranks);
  p.created = "2026-01-02T03:04:05Z";
  p.seed = std::int64_t{1} << 40;
  p.fingerprint = "0123456789abcdef";
  p.fingerprint_lines = "length=12\nunreached=drop\n";
  p.corpus_fingerprint = "fedcba9876543210";
  return p;
}

/// Token v of 7 stands at position i < n - 1 of n where i + v is even: 10 i + v + 1 times, (0, 0) 2^40 times. Half a has half of that,
/// rounded down, and nothing of v = 0, 3, 6. Shuffled, v has what 6 - v has else. The first `rows` rows of it.
inline PositionRows known_rows(Index n, Index rows, bool shuffled, bool half) {
  PositionRows all;
  for (Index i = 0; i < rows; ++i) {
    for (Token v = 0; i < n - 1 && v < 7; ++v) {
      const Token from = shuffled ? 6 - v : v;
      if ((i + from) % 2 != 0 || (half && v % 3 == 0)) continue;
      const Count count = i == 0 && from == 0 ? Count{1} << 40 : 10 * i + from + 1;
      all.token.push_back(v);
      all.count.push_back(half ? count / 2 : count);
    }
    all.indptr.push_back(std::ssize(all.token));
  }
  return all;
}

/// The whole of these tables, as one rank alone would have it.
inline CorpusCounts known_whole(Sequences sequences, const std::vector<Index>& lengths, bool split, bool shuffle) {
  CorpusCounts c;
  c.sequences = sequences;
  c.split = split;
  c.vocab_size = 7;
  c.document_count = 100;
  c.empty_document_count = 3;
  c.token_count = (Index{1} << 40) + 1000;
  c.longest_document = 9;
  const bool one = sequences == Sequences::document;
  for (const bool shuffled : {false, true}) {
    for (const Index n : lengths) {
      if (shuffled ? !shuffle : one && n != lengths.back()) continue;
      const Index of = one ? lengths.back() : n;
      c.tables.push_back({n, shuffled, known_rows(of, n, shuffled, false), split ? known_rows(of, n, shuffled, true) : PositionRows{}});
    }
  }
  return c;
}

inline PositionRows part_of(const PositionRows& whole, Index first, Index count) {
  PositionRows part;
  part.first = first;
  const auto bound = [&](Index i) { return whole.indptr[static_cast<std::size_t>(i)]; };
  for (Index i = first; i < first + count; ++i) part.indptr.push_back(bound(i + 1) - bound(first));
  part.token.assign(whole.token.begin() + bound(first), whole.token.begin() + bound(first + count));
  part.count.assign(whole.count.begin() + bound(first), whole.count.begin() + bound(first + count));
  return part;
}

/// What a rank has of the whole.
inline CorpusCounts share_of(const CorpusCounts& whole, const Communicator& comm) {
  CorpusCounts share = whole;
  for (CountTable& table : share.tables) {
    const OwnedPositions owned = owned_positions(table.length, comm.rank(), comm.size());
    table.all = part_of(table.all, owned.first, owned.rows);
    if (whole.split) table.half_a = part_of(table.half_a, owned.first, owned.rows);
  }
  return share;
}

inline std::vector<std::string> known_vocabulary() {
  std::vector<std::string> words;
  for (int v = 0; v < 7; ++v) words.push_back("w\xC3\xB6rd-" + std::string(static_cast<std::size_t>(v), 'x'));
  return words;
}

/// This rank's share of a table of 5 positions.
inline CountsFile known_counts(const Communicator& comm) {
  return {share_of(known_whole(Sequences::document, {5}, false, false), comm), known_vocabulary()};
}

/// Entries of a checkpoint of counts in windows of 3 and 8.
inline CountCheckpoint known_checkpoint(const Communicator& comm) {
  CountCheckpoint checkpoint;
  checkpoint.counts = share_of(known_whole(Sequences::chunk, {3, 8}, true, true), comm);
  checkpoint.done = UnitSet::from_triples(std::vector<Index>{0, 0, 4, 0, 6, 7, 5, 2, 3});
  return checkpoint;
}

/// Encoding (i, j) = i + 1 + (j + 1) / 3 in the three columns of the rank, zero in the other two of five.
inline GeometryFile known_geometry() {
  GeometryFile file;
  file.length = 12;
  file.position = {0, 2, 3, 5, 8, 9, 11};
  file.spectrum.eigenvalues = {4.0, 2.0, 1.0 / 3, 1e-17, 0.0, -1e-18, -2e-17};
  file.spectrum.rank = 3;
  file.spectrum.trace = 19.0 / 3;
  file.spectrum.entropy_rank = 2.1;
  file.spectrum.participation_ratio = 1.9;
  file.spectrum.dims_90 = 2;
  file.spectrum.dims_95 = 3;
  file.spectrum.dims_99 = 3;
  file.encoding.rows = 7;
  file.encoding.components = 5;
  file.encoding.stored = 3;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 7; ++i) file.encoding.values.push_back(i + 1 + (j + 1) / 3.0);
  }
  file.solver = "pdsyevd";
  file.residual = 0.012;
  file.orthogonality = 0.4;
  file.block_size = 2;
  file.corpus_violation_rate = 0.218;
  file.mean_hellinger = 0.9;
  file.sum_hellinger_squared = 44.5;
  file.parameters_full = 35;
  file.parameters_factored = 36;
  file.unreached = "drop";
  file.fewest_tokens = 17;
  file.most_tokens = Count{1} << 40;
  return file;
}

/// An analysis of halves and a shuffled corpus: the signal encoding (i, j) = i + 1 + (j + 1) / 8 in two of the three columns of the
/// signal's rank.
inline NoiseAnalysis known_noise() {
  NoiseAnalysis n;
  n.length = 12;
  n.reached = 7;
  n.position = {0, 2, 3, 8};
  n.rarefied_total = Count{1} << 40;
  n.split = true;
  n.split_eigenvalues = {3.5, 2.25, 0.5, -0.125};
  n.null_largest = {0.25, 0.125, 0.3125, 0.0625, 0.375};
  n.alpha = 0.2;
  n.threshold = 0.375;
  n.signal_rank = 3;
  n.signal_trace = 6.25;
  n.signal_components = 2;
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 4; ++i) n.signal_encoding.push_back(i + 1 + (j + 1) / 8.0);
  }
  n.denoised_sum = 24.5;
  n.denoised_negative = 1;
  n.reliability = 0.5;
  n.reliability_of_whole = 2.0 / 3;
  n.shuffle = true;
  n.shuffled_eigenvalues = {1.5, 0.75, 0.25, 0.125, 0.0625, 0.0, -1e-17};
  n.shuffled_rank = 5;
  n.shuffled_trace = 2.6875;
  n.shuffled_violation_rate = 0.4375;
  n.shuffled_sum_hellinger_squared = 18.8125;
  n.shuffled_share = 0.96;
  n.shuffled_split_largest = 2.5;
  n.signal_rank_order = 1;
  return n;
}

/// No position holds enough tokens, and nothing was shuffled.
inline NoiseAnalysis known_empty_noise() {
  NoiseAnalysis n;
  n.length = 12;
  n.reached = 7;
  n.split = true;
  n.rarefied_total = 5000;
  n.null_largest.assign(19, std::numeric_limits<double>::quiet_NaN());
  n.alpha = 0.05;
  n.signal_rank = 0;
  n.signal_trace = 0;
  return n;
}

inline GeometryFile known_geometry_with(const NoiseAnalysis& noise) {
  GeometryFile file = known_geometry();
  file.noise = noise;
  return file;
}

/// H (i, j) = (1 + min) / (3 + max), 0 on the diagonal.
inline double known_distance(Index i, Index j) {
  return i == j ? 0.0 : static_cast<double>(1 + std::min(i, j)) / static_cast<double>(3 + std::max(i, j));
}

inline DistributedMatrix known_hellinger(const ProcessGrid& grid, Index m, Index block) {
  DistributedMatrix h(grid, m, m, block);
  for (const BlockCyclic::Run& column : h.column_axis().blocks()) {
    for (const BlockCyclic::Run& row : h.row_axis().blocks()) {
      for (Index j = 0; j < column.count; ++j) {
        for (Index i = 0; i < row.count; ++i) h.local(row.local + i, column.local + j) = known_distance(row.global + i, column.global + j);
      }
    }
  }
  return h;
}

/// Tables 7 to 11 of cell_tables, of the groups beside the table.
inline void add_known_groups(StressFile& file) {
  file.shuffled.emplace();
  file.shuffled->constant_baseline = 0.125;
  file.shuffled->corpus_violation_rate = 0.5;
  file.denoised.emplace();
  file.denoised->constant_baseline = 0.0625;
  file.weighted = {.weights = "tokens", .smacof = {0.5, 0.25, std::numeric_limits<double>::quiet_NaN()}, .mds = {0.75, 0.5, 0.125}};
  const auto cells = cells_of(file);
  for (std::size_t number = measure_names.size(); number < cells.size(); ++number) {
    for (int e = 0; e < 3; ++e) {
      for (int d = 0; d < 3; ++d) cells[number]->push_back(static_cast<double>(number) + e / 8.0 + d / 64.0);
    }
  }
}

/// Table t of cell_tables at (e, d) = t + e / 8 + d / 64; pearson (1, 2) is NaN, raw (2, 0) infinite.
inline StressFile known_stress() {
  StressFile file;
  file.length = 12;
  StressTable& t = file.table;
  t.dimensions = {1, 2, 4};
  t.encoding_names = {"mds", "sinusoidal", "my.file-1"};
  t.not_unique = {1, 0, 0};
  t.constant_baseline = 0.25;
  t.corpus_violation_rate = 0.218;
  int number = 0;
  for (auto* table : measures_of(t)) {
    for (int e = 0; e < 3; ++e) {
      for (int d = 0; d < 3; ++d) table->push_back(number + e / 8.0 + d / 64.0);
    }
    ++number;
  }
  add_known_groups(file);
  t.pearson[5] = std::numeric_limits<double>::quiet_NaN();
  t.raw[6] = std::numeric_limits<double>::infinity();
  return file;
}

/// Entry (i, j) at dimension d = 100 d + 10 i + j.
inline std::vector<StoredEncoding> known_encodings() {
  std::vector<StoredEncoding> all;
  for (const char* name : {"mds", "my.file-1"}) {
    for (const int d : {1, 2, 4}) {
      StoredEncoding e{name, d, 7, d, {}};
      for (int i = 0; i < 7; ++i) {
        for (int j = 0; j < d; ++j) e.values.push_back(100 * d + 10 * i + j);
      }
      all.push_back(e);
    }
  }
  return all;
}

/// Cell (l, e, d) of table t = t + l / 2 + e / 8 + d / 64; raw (1, 1, 2) is NaN.
inline Sweep known_sweep() {
  Sweep s;
  s.lengths = {8, 12};
  s.dimensions = {1, 2, 4};
  s.encoding_names = {"mds", "rope"};
  int number = 0;
  for (auto* table : cells_of(s)) {
    for (int l = 0; l < 2; ++l) {
      for (int e = 0; e < 2; ++e) {
        for (int d = 0; d < 3; ++d) table->push_back(number + l / 2.0 + e / 8.0 + d / 64.0);
      }
    }
    ++number;
  }
  s.raw[11] = std::numeric_limits<double>::quiet_NaN();
  s.rank = {3, 4};
  s.signal_rank = {2, -1};
  s.rarefied_total = {Count{1} << 40, -1};
  s.noise_positions = {7, -1};
  s.trace = {1.5, 2.5};
  s.constant_baseline = {0.25, 0.26};
  s.corpus_violation_rate = {0.1, 0.2};
  return s;
}

}  // namespace posgeom
