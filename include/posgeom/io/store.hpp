#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/counts/position_counts.hpp"
#include "posgeom/geometry/factored.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/geometry/noise.hpp"
#include "posgeom/geometry/stress.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// Where a file's numbers come from; attributes on / of every file.
struct Provenance {
  std::string command_line;
  std::string config;  ///< every option in force, as an INI text
  int ranks = 1;
  std::string process_grid;  ///< "2x3"
  std::string libraries;     ///< "Open MPI 4.1.4; HDF5 1.10.8; ..."
  std::string created;       ///< UTC, ISO 8601
  std::int64_t seed = 1;
  std::string fingerprint;        ///< hash of fingerprint_lines
  std::string fingerprint_lines;  ///< "key=value" lines that the stage's numbers depend on (attribute fingerprint_lines)
  std::string corpus_fingerprint;
};

/// counts.h5: each rank has its own positions of the tables.
struct CountsFile {
  CorpusCounts counts;
  std::vector<std::string> vocabulary;  ///< empty: not stored; the root's is taken
};

/// Which of the tables of counts.h5.
enum class CountsTable { corpus, corpus_half_a, shuffled, shuffled_half_a };

/// What each replicate of --bootstrap gave: a geometry's numbers.
struct GeometryBootstrap {
  std::uint64_t seed = 1;
  double alpha = 0.05;                              ///< of the intervals
  std::vector<double> rank, trace, violation_rate;  ///< [R]; the rank is NaN where the solver does not tell it
};

/// The same of a stress table.
struct StressBootstrap {
  std::uint64_t seed = 1;
  double alpha = 0.05;
  Index replicates = 0;
  std::vector<double> raw, scaled, violation_rate;  ///< [R][E][D], NaN where undefined
};

struct GeometryFile {
  Index length = 0;
  std::vector<std::int32_t> position;  ///< [m]
  Spectrum spectrum;
  Encoding encoding;
  std::string solver;
  double residual = 0, orthogonality = 0;
  Index block_size = 0;
  double corpus_violation_rate = 0, mean_hellinger = 0, sum_hellinger_squared = 0;
  Index parameters_full = 0;                 ///< m d for d = k
  Index parameters_factored = 0;             ///< r (m + d)
  std::string unreached;                     ///< attributes of the options that shaped it
  bool has_hellinger = false;                ///< set by read_geometry: /hellinger is there
  Index rarefied_total = 0;                  ///< tokens that every position was brought to before S was formed; 0: all count
  Count fewest_tokens = -1;                  ///< of the kept positions that hold any: of the thinnest; -1: not known
  Count most_tokens = -1;                    ///< and of the fullest
  std::optional<FactoredEncoding> factored;  ///< the group /factored: P = A B' to factored_tolerance
  double factored_tolerance = 0;
  std::optional<GeometryBootstrap> bootstrap;  ///< the group /bootstrap
  std::optional<NoiseAnalysis> noise;          ///< the group /noise; absent where it was not asked for
};

/// One matrix of /encodings/<name>/<d>: [rows, columns] row-major, the same on every rank; columns = d, but
/// an encoding that is the same at every d (alibi: its heads, linear: 1) keeps its own columns.
struct StoredEncoding {
  std::string name;
  Index d = 0;
  Index rows = 0;
  Index columns = 0;
  std::vector<double> values;
};

/// What the encodings score where there is no order: against the shuffled corpus's H, over the same positions. mds and smacof are those of
/// the shuffled corpus itself, all others the same as in the table. [E][D] as there, NaN where a cell was not scored.
struct ShuffledStress {
  std::vector<double> raw, scaled;
  std::vector<double> violation_rate;  ///< of the encodings' own distances: other than the table's for mds and smacof only
  double constant_baseline = std::numeric_limits<double>::quiet_NaN();      ///< of the shuffled corpus's H
  double corpus_violation_rate = std::numeric_limits<double>::quiet_NaN();  ///< likewise
};

/// The encodings against the de-noised distances of the noise analysis, over its positions: the square roots of
/// denoised_squared_distances(), negative ones taken as 0. [E][D], NaN where a cell was not scored.
struct DenoisedStress {
  std::vector<double> raw, scaled;
  double constant_baseline = std::numeric_limits<double>::quiet_NaN();  ///< of the de-noised distances
};

/// Of smacof where pairs weigh unlike (--smacof-weights): the weighted raw stress, which is what smacof lowers, and that of mds, where it
/// starts. [D], NaN where it was not scored.
struct WeightedStress {
  std::string weights;  ///< "tokens"
  std::vector<double> smacof, mds;
};

struct StressFile {
  Index length = 0;
  StressTable table;
  std::optional<ShuffledStress> shuffled;    ///< the group /shuffled
  std::optional<DenoisedStress> denoised;    ///< the group /denoised
  std::optional<WeightedStress> weighted;    ///< the group /weighted
  std::optional<StressBootstrap> bootstrap;  ///< the group /bootstrap
};

/// One row of a sweep for each length.
struct Sweep {
  std::vector<std::int64_t> lengths;        ///< [L] ascending
  std::vector<std::int32_t> dimensions;     ///< [D] the union, ascending
  std::vector<std::string> encoding_names;  ///< [E] the union, in order of first appearance
  std::vector<double> raw, scaled, scale, violation_rate, min_separation, pearson, spearman;  ///< [L][E][D], NaN where there is none
  std::vector<double> shuffled_raw, shuffled_scaled, shuffled_violation_rate, denoised_raw, denoised_scaled;  ///< likewise
  std::vector<std::int64_t> rank;                                                                             ///< [L]
  /// [L] of the noise analysis: what stands above noise, at how many tokens of each position and half (M), and at how many positions. -1
  /// where there was none. Ranks at different M cannot be compared: more tokens show more.
  std::vector<std::int64_t> signal_rank, rarefied_total, noise_positions;
  std::vector<double> trace, constant_baseline, corpus_violation_rate;  ///< [L]
};

/// A table over encodings and dimensions: its dataset in a stress file, and its name in a sweep.
struct CellTable {
  std::string_view dataset, column;
};
inline constexpr std::array<CellTable, 12> cell_tables = {{{"/raw", "raw"},
                                                           {"/scaled", "scaled"},
                                                           {"/scale", "scale"},
                                                           {"/violation_rate", "violation_rate"},
                                                           {"/min_separation", "min_separation"},
                                                           {"/pearson", "pearson"},
                                                           {"/spearman", "spearman"},
                                                           {"/shuffled/raw", "shuffled_raw"},
                                                           {"/shuffled/scaled", "shuffled_scaled"},
                                                           {"/shuffled/violation_rate", "shuffled_violation_rate"},
                                                           {"/denoised/raw", "denoised_raw"},
                                                           {"/denoised/scaled", "denoised_scaled"}}};
/// Pointers to the values of cell_tables, in that order; null for groups that a stress file does not have.
std::array<std::vector<double>*, cell_tables.size()> cells_of(StressFile& file);
std::array<const std::vector<double>*, cell_tables.size()> cells_of(const StressFile& file);
std::array<std::vector<double>*, cell_tables.size()> cells_of(Sweep& sweep);
std::array<const std::vector<double>*, cell_tables.size()> cells_of(const Sweep& sweep);

/// The exact distributions of a synthetic corpus: mu_i(v) = sum_c weights(i, c) distributions(c, v).
struct TruthFile {
  Index positions = 0, components = 0, vocab_size = 0;
  std::vector<double> weights;        ///< [n, K] row-major
  std::vector<double> distributions;  ///< [K, V] row-major
};

/// **Collective**, all of them. Writes PATH.partial with every rank, reads it back, flushes, fsyncs, renames: a file that exists under its
/// name is complete. Throws the same Error on every rank, with advice for locks, permissions and full disks; PATH is then as it was before,
/// and PATH.partial is removed. PATH.lock is held meanwhile: a second writer is refused, what a killed run left behind is replaced.
/// `file` must be the same on every rank; the attributes, names and small tables are taken from the root's.
/// Of the tables of counts each rank has the positions that it owns (owned_positions()), and writes these; the number of ranks leaves no
/// trace in the file.
void write_counts(const Communicator& comm, const std::string& path, const CountsFile& file, const Provenance& provenance);
/// Bytes that writing takes on a rank beyond what is written, for the largest dataset's `elements` of 8 bytes there: they are read back in
/// pieces, and compared.
Index writing_bytes(Index elements);

/// `hellinger`: H to be stored as /hellinger, or null.
void write_geometry(const Communicator& comm, const std::string& path, const GeometryFile& file, const DistributedMatrix* hellinger,
                    const Provenance& provenance);
void write_stress(const Communicator& comm, const std::string& path, const StressFile& file, const std::vector<StoredEncoding>& encodings,
                  const Provenance& provenance);
void write_sweep(const Communicator& comm, const std::string& path, const Sweep& sweep, const Provenance& provenance);
/// Made of /weights and /distributions, whose axes are /position, /component and /token.
void write_truth(const Communicator& comm, const std::string& path, const TruthFile& file, const Provenance& provenance);
/// **Collective.** The sweep as CSV, one line a cell: length,dimension,encoding,raw,scaled,...; same care as the HDF5 files.
void write_sweep_csv(const Communicator& comm, const std::string& path, const Sweep& sweep);

/// **Collective**, all of them. Every rank gets the same value. Throws the same Error on every rank: no such file, not one of ours
/// (attribute format), of a newer format_version, a dataset missing or of the wrong shape.
/// One table, whole, on every rank: positions 0 .. length - 1. Document mode: the first `length` positions of the table that serves all
/// lengths; else that of /length_<length>. Totals are the sums of the table's own rows. Throws too where the file has no such table, saying
/// which lengths it has, and where it contradicts itself: rows that are not sorted, or do not add up to /position_total.
PositionCounts read_counts(const Communicator& comm, const std::string& path, Index length, CountsTable table = CountsTable::corpus);
/// What a counts file holds, without its rows.
struct CountsSummary {
  Sequences sequences = Sequences::document;
  bool split = false, shuffled = false;
  std::vector<Index> lengths;           ///< document: the one length that the table has; else those of /length_<n>
  std::vector<Index> shuffled_lengths;  ///< of the shuffle null
  Index vocab_size = 0, document_count = 0, empty_document_count = 0, token_count = 0, longest_document = 0;
};
CountsSummary read_counts_summary(const Communicator& comm, const std::string& path);
/// All tables of a counts file; each rank gets the positions that it owns.
CorpusCounts read_count_tables(const Communicator& comm, const std::string& path);
/// A count that is not finished, in a file of its own (format "posgeom count checkpoint"): the tables as in counts.h5, and which units are
/// done (/units_done [k, 3]: file, first unit, last unit + 1). Read, each rank gets the positions that it owns now.
void write_count_checkpoint(const Communicator& comm, const std::string& path, const CountCheckpoint& checkpoint,
                            const Provenance& provenance);
CountCheckpoint read_count_checkpoint(const Communicator& comm, const std::string& path);
GeometryFile read_geometry(const Communicator& comm, const std::string& path);
StressFile read_stress(const Communicator& comm, const std::string& path);
/// Every matrix of /encodings; none where the file stores no encodings.
std::vector<StoredEncoding> read_stored_encodings(const Communicator& comm, const std::string& path);
/// **Collective.** The provenance of any file of ours; nullopt where the file does not exist.
std::optional<Provenance> read_provenance(const Communicator& comm, const std::string& path);

/// One line of `posgeom inspect`: what, and its value as text.
using InspectLines = std::vector<std::pair<std::string, std::string>>;
/// **Collective.** A readable summary of any file of ours: format, provenance, shapes, and its main numbers.
InspectLines inspect_file(const Communicator& comm, const std::string& path);

/// "HDF5 1.10.8"
std::string hdf5_version();

}  // namespace posgeom
