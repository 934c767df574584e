#pragma once
#include <functional>
#include <memory>
#include <string>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/io/store.hpp"
#include "posgeom/linalg/process_grid.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/pipeline/config.hpp"
#include "posgeom/pipeline/fingerprint.hpp"
#include "posgeom/pipeline/plan.hpp"
#include "posgeom/pipeline/stage_report.hpp"

namespace posgeom {

class EncodingFiles;  // pipeline/encoding_files.hpp
std::shared_ptr<EncodingFiles> make_encoding_files();

/// What every stage shares: who runs, what was asked, and whom to tell.
struct StageContext {
  const Communicator& comm;
  const Config& config;
  ProcessGrid grid;
  StageReport& report;
  std::function<bool()> stop_requested;  ///< this rank's signal flag
  /// What --encodings names from files, read once in a run.
  std::shared_ptr<EncodingFiles> files = make_encoding_files();
};

/// Files of an output directory.
std::string counts_path(const Config& config);
std::string geometry_path(const Config& config, Index length);
std::string stress_path(const Config& config, Index length);
std::string sweep_path(const Config& config);

/// Throws Error (usage) where --grid does not hold so many ranks. Not collective.
void require_grid(const Config& config, Index ranks);
/// **Collective.** The process grid that --grid asks for. Throws the same Error on every rank where it does not hold all of them.
ProcessGrid grid_of(const Communicator& comm, const Config& config);

/// **Collective.** Makes the output directory, where it is not there. Throws the same Error on every rank.
void make_output_directory(const Communicator& comm, const Config& config);

/// **Collective.** Throws Error (stopped) on every rank where any rank was asked to stop; everything finished so far is in its file.
void check_stop(const StageContext& context);

/// What counts.h5 holds, and the fingerprint of the corpus that it comes from. The rows stay in the file until a length needs them.
struct CountedCorpus {
  CountsSummary summary;
  std::string corpus_fingerprint;
};

/// **Collective.** Opens the corpus, counts it and writes counts.h5; or reuses a counts.h5 of the same corpus, counting only what it lacks.
/// Goes on with an unfinished count (counts-unfinished.h5) of the same corpus and options. After a signal: keeps what is counted there and
/// throws Error (stopped).
CountedCorpus count_stage(const StageContext& context);
/// Throws Error where a corpus of so many tokens has nothing to count. Not collective.
void require_tokens(const Config& config, const Corpus& corpus, Index token_count, Index document_count);
/// **Collective.** counts.h5 as it is, for commands that start there. Throws where a length is not in it.
CountedCorpus read_counted_corpus(const StageContext& context);

/// **Collective.** A length's counts as the geometry is formed from them: rarefied where --rarefy-geometry says so, which the report tells
/// of the corpus.
PositionCounts geometry_counts(const StageContext& context, Index length, CountsTable table);

/// **Collective.** The square-root distributions of one length's positions, from a table of counts.h5 (the corpus or the shuffle null);
/// with --rarefy-geometry of as many tokens at every position. Throws the same Error on every rank where no position is kept.
SquareRootDistributions distributions_at(const StageContext& context, Index length, CountsTable table = CountsTable::corpus);

/// The tokens that --rarefy-geometry brings every position to, from the positions' totals.
Count rarefied_total_of(const Config& config, const std::vector<Count>& totals);

/// The block size of distributed matrices of order m, small enough that every process row and column of the grid gets a share.
Index block_size_for(const StageContext& context, Index m);

/// What --solver, --spectrum and --block-size mean for a geometry of `rows` positions, with so many components (0: all).
MdsOptions mds_options(const StageContext& context, Index rows, Index components);

/// **Collective.** Spectrum and encoding at one length, written to geometry-<n>.h5; or reused from there.
GeometryFile embed_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s);
/// **Collective.** geometry-<n>.h5 as it is, for commands that start there. Throws where it was made with other options.
GeometryFile read_geometry_for(const StageContext& context, const std::string& corpus_fingerprint, Index length);

/// **Collective.** Of every length of the configuration, from counts.h5.
std::vector<LengthNeeds> needs_of_lengths(const StageContext& context, const CountedCorpus& counted);

/// **Collective.** Reads every file encoding that is asked for. Throws the same Error on every rank, naming the encoding, where a file
/// cannot be read or has fewer than `rows` rows: before hours are spent on what it is to be compared with.
void check_encoding_files(const StageContext& context, Index rows);

/// **Collective.** Stress of every encoding at every dimension, written to stress-<n>.h5. Cells that the file has already are kept.
StressFile stress_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                        const GeometryFile& geometry);

/// **Collective.** --bootstrap: the corpus is counted again with resampled documents (packed: blocks), and every replicate gets a geometry
/// and scores of its own; both files are written with all of them. Replicates that the files have already are kept, also after a signal.
/// Encodings of the table that this run does not name are not scored.
void bootstrap_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                     GeometryFile& geometry, StressFile& stress);

/// **Collective.** Writes geometry-<n>.h5, with H where it had that or --write-hellinger asks for it.
void write_geometry_stage(const StageContext& context, const SquareRootDistributions& s, const GeometryFile& file,
                          const Provenance& provenance);

/// **Collective.** All stress files of the directory as sweep.h5 and sweep.csv. Throws where a length of --lengths is missing, unless
/// --partial.
Sweep collect_stage(const StageContext& context);

/// **Collective.** The corpus as a token file in the output directory, and the vocabulary beside it where one was built.
void tokenize_stage(const StageContext& context);
/// **Collective.** Removes a stage's file of unfinished work, where it is there.
void remove_unfinished(const StageContext& context, const std::string& path);
/// **Collective.** What of a length's geometry stands above sampling noise, and above the shuffled corpus, as far as --noise asks for.
/// Throws Error where the counts file holds no such counts.
NoiseAnalysis noise_stage(const StageContext& context, const SquareRootDistributions& s, Index block);
/// What halves and null depend on: "noise.KEY=value" lines, which may be missing on one side, since counts with halves serve who wants
/// none.
FingerprintLines noise_lines(const Config& config);
/// These, and what the noise analysis depends on beside.
FingerprintLines noise_analysis_lines(const Config& config);
/// The options with which a token file that a stage wrote is read back, as a sentence.
std::string how_to_read(const Config& config, const std::string& prefix, const TokenFileWriter& writer, Index vocab_size);
/// **Collective.** Draws a corpus with known truth (corpus/synthetic.hpp) into a token file, and writes OUT/truth.h5.
void synth_stage(const StageContext& context);

/// Lines that name what a geometry's, and a stress table's, numbers depend on.
FingerprintLines geometry_lines(const Config& config, const std::string& corpus_fingerprint, Index length);

/// **Collective.** Provenance of a file written now.
Provenance provenance_of(const StageContext& context, const FingerprintLines& lines, const std::string& corpus_fingerprint);

}  // namespace posgeom
