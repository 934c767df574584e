#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/synthetic.hpp"
#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/geometry/encodings.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/noise.hpp"
#include "posgeom/geometry/smacof.hpp"
#include "posgeom/io/encoding_file.hpp"
#include "posgeom/io/token_file_writer.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/pipeline/option_table.hpp"

namespace posgeom {

/// A matrix in a file: PATH[:DATASET].
struct MatrixSource {
  std::string path;
  std::string dataset;  ///< HDF5 dataset or tensor in `path`; empty: the default
};

/// p W_Q and p W_Q W_K' of one layer of a model, for the encoding p called `of`. Weights are [out, in], as torch.nn.Linear has them.
struct Projection {
  std::string of;  ///< empty: no projection
  MatrixSource query{};
  MatrixSource key{};  ///< no path: p W_Q alone
  Index heads = 1;
};

/// An encoding to score: one that posgeom makes, or one from a file.
struct EncodingSpec {
  std::string name;
  std::string path;         ///< empty: posgeom makes it
  std::string dataset;      ///< HDF5 dataset or tensor in `path`; empty: the default
  RowRange rows{};          ///< of the file's matrix: its first one is position 0
  bool many_files = false;  ///< `path` is a pattern of files, one a step of a series
  Index slice = -1;         ///< of a dataset with a leading axis of steps; -1: a matrix, or not known yet
  Projection projection{};
  bool made() const { return path.empty() && projection.of.empty(); }
};

/// Intervals from resampled documents.
struct BootstrapOptions {
  Index replicates = 0;  ///< 0: none
  double alpha = 0.05;   ///< the intervals hold 1 - alpha of the replicates
};

struct GeometryOptions {
  Solver solver = Solver::automatic;
  Index components = 0;  ///< columns of /encoding; 0: all
  bool components_from_dims = true;
  bool leading_only = false;  ///< eigenvalues beyond the components are not needed
  Index block_size = default_block_size;
  int grid_rows = 0, grid_columns = 0;  ///< 0: nearest to a square
  Index memory_bytes = 0;               ///< 0: this rank's share of the node
  int threads = 0;                      ///< of each rank's BLAS; 0: the node's cores shared by its ranks
  bool write_hellinger = false;
  double factored_tolerance = -1;  ///< relative, of /factored; below 0: none
};

struct StressOptions {
  enum class Dimensions { listed, powers_of_two, all };
  Dimensions choice = Dimensions::powers_of_two;
  std::vector<std::int32_t> dims;  ///< ascending, where listed
  std::vector<EncodingSpec> encodings;
  EncodingOptions encoding;
  Index smacof_iterations = 0;  ///< as in SmacofOptions
  double smacof_tolerance = 0;
  SmacofWeights smacof_weights = SmacofWeights::none;
  bool write_encodings = false;
};

enum class Progress { automatic, bar, log, none };

struct OutputOptions {
  std::string directory;
  bool force = false;
  bool resume = true;
  bool partial = false;
  double keep_seconds = 600;  ///< while counting, what is done is kept so often; 0: at a signal only
  Progress progress = Progress::automatic;
};

struct TokenizeOptions {
  TokenFileKind kind = TokenFileKind::megatron;
  Index end_of_text = -1;  ///< raw: the id after each document; -1: none
  std::string name;        ///< of the files in the output directory, without .bin
};

struct SynthOptions {
  SyntheticOptions corpus;
  Index documents = 0;
};

/// Everything that a command is told, parsed and checked once.
struct Config {
  CorpusOptions corpus;
  Sequences sequences = Sequences::document;
  bool drop_last_block = false;  ///< packed: the last, partial block does not count
  NoiseOptions noise;
  NoiseAnalysisOptions noise_analysis;
  std::vector<Index> lengths;  ///< ascending, distinct
  HellingerOptions positions;
  Count rarefied_total = -1;  ///< tokens that every position is brought to before S is formed; 0: by the rule of --rarefy; -1: all count
  BootstrapOptions bootstrap;
  std::uint64_t seed = 1;
  GeometryOptions geometry;
  StressOptions stress;
  OutputOptions output;
  TokenizeOptions tokenize;
  SynthOptions synth;
  int plan_ranks = 0;
  int plan_ranks_per_node = 0;  ///< that share one copy of the counts and of S; 0: not known, nothing is shared
  Index plan_tokens = 0;        ///< of a corpus that is not there; 0: the corpus tells
  Index plan_documents = 0;     ///< of such a corpus; 0: not known
  bool calibrate = false;       ///< plan: measure this machine
  OptionValues values;          ///< as typed, defaults filled in
  std::string command_line;     ///< for provenance
  std::string created;          ///< UTC, ISO 8601, when the command started
};

/// The options as values. Throws Error (usage) that names the option, what was found and what was expected.
Config config_from(const OptionValues& values);

/// Sets what goes to one half together, as --split-by says it; a column's name goes to the corpus, which reads it. Throws as config_from().
void apply_split_rule(const std::string& text, NoiseOptions& noise, CorpusOptions& corpus);

/// The dimensions to score at a length with `rows` kept positions and this rank: listed ones; 1..rows for all; powers of two up to the
/// rank.
std::vector<std::int32_t> resolve_dimensions(const StressOptions& options, Index rank, Index rows);

}  // namespace posgeom
