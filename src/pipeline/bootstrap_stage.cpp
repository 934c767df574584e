#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/encoding_files.hpp"
#include "pipeline/stress_cells.hpp"
#include "pipeline/stress_encodings.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/geometry/denoised.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// **Collective.** A table of counts whole on every rank, which own its positions in order.
PositionCounts whole_table(const Communicator& comm, const CorpusCounts& counts, const CountTable& table) {
  std::vector<Index> sizes;
  for (std::size_t k = 1; k < table.all.indptr.size(); ++k) sizes.push_back(table.all.indptr[k] - table.all.indptr[k - 1]);
  const std::vector<Index> all_sizes = all_gather(comm, std::span<const Index>(sizes));
  PositionCounts whole;
  whole.length = table.length;
  whole.vocab_size = counts.vocab_size;
  whole.document_count = counts.document_count;
  whole.empty_document_count = counts.empty_document_count;
  whole.token_count = counts.token_count;
  whole.longest_document = counts.longest_document;
  whole.token = all_gather(comm, std::span<const Token>(table.all.token));
  whole.count = all_gather(comm, std::span<const Count>(table.all.count));
  whole.indptr.push_back(0);
  for (const Index size : all_sizes) {
    Count total = 0;
    for (Index k = whole.indptr.back(); k < whole.indptr.back() + size; ++k) total += whole.count[static_cast<std::size_t>(k)];
    whole.indptr.push_back(whole.indptr.back() + size);
    whole.position_total.push_back(total);
  }
  return whole;
}

/// The bootstrap of one length: which replicates there are, and how one more is made.
class Bootstrap {
 public:
  Bootstrap(const StageContext& context, GeometryFile& geometry, StressFile& stress)
      : context_(context), geometry_(geometry), stress_(stress), bootstrap_(context.config.bootstrap) {
    const bool there = geometry.bootstrap && stress.bootstrap && geometry.bootstrap->seed == context.config.seed &&
                       stress.bootstrap->seed == context.config.seed &&
                       std::ssize(geometry.bootstrap->rank) == stress.bootstrap->replicates && covers_table();
    if (!there) {
      geometry.bootstrap.emplace().seed = context.config.seed;
      stress.bootstrap.emplace().seed = context.config.seed;
    }
    other_alpha_ = there && geometry.bootstrap->alpha != bootstrap_.alpha;
    geometry.bootstrap->alpha = stress.bootstrap->alpha = bootstrap_.alpha;
  }

  Index done() const { return stress_.bootstrap->replicates; }
  bool complete() const { return done() >= bootstrap_.replicates; }
  bool other_alpha() const { return other_alpha_; }

  /// **Collective.** The next replicates, as many as `corpus` can be counted for at a time.
  void add_batch(Corpus& corpus) {
    CountOptions options = count_options_of(context_.config);
    options.lengths = {geometry_.length};
    options.noise = {};
    options.memory_bytes = memory_limit(context_.comm, context_.config.geometry.memory_bytes);
    options.resampling = {.first = done(), .count = bootstrap_.replicates - done(), .seed = context_.config.seed};
    const Index room = all_reduce(context_.comm, options.memory_bytes, Reduction::minimum) / 2;
    while (options.resampling.count > 1 && count_memory(options, corpus.vocab_size, 0, {}, context_.comm.size()) > room)
      options.resampling.count /= 2;
    CountHooks hooks;
    hooks.stop_requested = context_.stop_requested;
    CorpusCounts counts = count_corpus(context_.comm, corpus, options, hooks);
    for (CountTable& table : counts.tables) {
      const PositionCounts whole = whole_table(context_.comm, counts, table);
      table = {};
      add_replicate(collective(context_.comm, "forming the square-root distributions",
                               [&] { return square_root_distributions(whole, geometry_.length, context_.config.positions); }));
      context_.report.progress(static_cast<double>(done()) / static_cast<double>(bootstrap_.replicates), "replicates");
      check_stop(context_);
    }
  }

 private:
  /// Whether every number of the table was scored in the replicates too.
  bool covers_table() const {
    const std::size_t cells = stress_.table.raw.size();
    for (std::size_t cell = 0; cell < cells; ++cell) {
      if (std::isnan(stress_.table.raw[cell]) || stress_.bootstrap->replicates == 0) continue;
      bool scored = false;
      for (std::size_t at = cell; at < stress_.bootstrap->raw.size(); at += cells)
        scored = scored || !std::isnan(stress_.bootstrap->raw[at]);
      if (!scored && is_scored(stress_.table.encoding_names[cell / stress_.table.dimensions.size()])) return false;
    }
    return true;
  }
  /// Encodings that this run does not name cannot be made.
  bool is_scored(const std::string& name) const {
    const std::vector<std::string> names = scored_names(context_.files->specs(context_));
    return std::ranges::find(names, name) != names.end();
  }

  void add_replicate(const SquareRootDistributions& s) {
    const std::vector<std::int32_t>& dimensions = stress_.table.dimensions;
    const Index components = std::min<Index>(std::max<Index>(dimensions.back(), geometry_.encoding.components), s.row_count());
    Mds mds = classical_mds(context_.grid, s, mds_options(context_, s.row_count(), components));
    GeometryFile geometry;
    geometry.length = s.length;
    geometry.position = s.position;
    geometry.spectrum = std::move(mds.spectrum);
    geometry.encoding = std::move(mds.encoding);
    geometry.noise = geometry_.noise;
    const HellingerSummary summary = summarize_hellinger(context_.comm, s);
    GeometryBootstrap& numbers = *geometry_.bootstrap;
    score(s, geometry, summary);
    numbers.rank.push_back(geometry.spectrum.rank < 0 ? not_a_number : static_cast<double>(geometry.spectrum.rank));
    numbers.trace.push_back(geometry.spectrum.trace);
    numbers.violation_rate.push_back(summary.corpus_violation_rate);
  }

  void score(const SquareRootDistributions& s, const GeometryFile& geometry, const HellingerSummary& summary) {
    const StressTable& table = stress_.table;
    const Encodings encodings = make_encodings(context_, s, geometry, table.dimensions.back());
    std::vector<StressRequest> requests;
    requests.reserve(encodings.named.size());
    for (const NamedEncoding& encoding : encodings.named) requests.push_back({encoding, table.dimensions});
    if (wants(context_.config, "smacof")) {
      std::ranges::move(smacof_requests(context_, s, mds_encoding(geometry.encoding, geometry.spectrum.rank), table.dimensions, ""),
                        std::back_inserter(requests));
    }
    StressBootstrap& b = *stress_.bootstrap;
    const std::size_t begin = b.raw.size();
    for (auto* values : {&b.raw, &b.scaled, &b.violation_rate}) values->resize(begin + table.raw.size(), not_a_number);
    const auto insert = [&](const StressRequest& request, const StressColumns& columns) {
      for (std::size_t k = 0; k < request.dimensions.size(); ++k) {
        const std::size_t at = begin + cell_of(table, request.encoding.name, request.dimensions[k]);
        b.raw[at] = columns.raw[k];
        b.scaled[at] = columns.scaled[k];
        b.violation_rate[at] = columns.violation_rate[k];
      }
    };
    const StressSweepOptions sweep{.violation_rate = true, .spearman = false};
    const std::vector<StressColumns> columns = stress_sweep(context_.comm, s, summary, requests, {}, sweep);
    for (std::size_t k = 0; k < requests.size(); ++k) insert(requests[k], columns[k]);
    // A replicate may lack a position of the noise analysis, if rarely.
    if (encodings.signal && std::ranges::includes(s.position, geometry_.noise->position)) {
      const SquareRootDistributions kept = kept_rows(s, geometry_.noise->position);
      const StressRequest request{*encodings.signal, table.dimensions};
      insert(request, stress_sweep(context_.comm, kept, summarize_hellinger(context_.comm, kept), {request}, {}, sweep).front());
    }
    ++b.replicates;
  }

  const StageContext& context_;
  GeometryFile& geometry_;
  StressFile& stress_;
  BootstrapOptions bootstrap_;
  bool other_alpha_ = false;
};

/// **Collective.** Both files with the replicates that there are.
void write_files(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                 const GeometryFile& geometry, const StressFile& stress) {
  const auto provenance = [&](const std::string& path) {
    return provenance_of(context, split_lines(read_provenance(context.comm, path).value().fingerprint_lines), corpus_fingerprint);
  };
  write_geometry_stage(context, s, geometry, provenance(geometry_path(context.config, s.length)));
  const std::string path = stress_path(context.config, s.length);
  write_stress(context.comm, path, stress, read_stored_encodings(context.comm, path), provenance(path));
}

}  // namespace

void bootstrap_stage(const StageContext& context, const std::string& corpus_fingerprint, const SquareRootDistributions& s,
                     GeometryFile& geometry, StressFile& stress) {
  if (context.config.bootstrap.replicates == 0) return;
  context.report.begin(fmt::format("bootstrap n={}", s.length));
  Bootstrap bootstrap(context, geometry, stress);
  const Index before = bootstrap.done();
  if (bootstrap.complete() && !bootstrap.other_alpha()) {
    context.report.end("reused " + number_of(before, "replicate"));
    return;
  }
  if (!bootstrap.complete()) {
    Corpus corpus = open_corpus(context.comm, context.config.corpus);
    try {
      while (!bootstrap.complete()) bootstrap.add_batch(corpus);
    } catch (const CollectiveError& error) {
      if (error.kind() == ErrorKind::stopped && bootstrap.done() > before) write_files(context, corpus_fingerprint, s, geometry, stress);
      throw;
    }
  }
  write_files(context, corpus_fingerprint, s, geometry, stress);
  context.report.end(
      fmt::format("{}{}", number_of(bootstrap.done(), "replicate"), before > 0 ? fmt::format(", {} of them were there", before) : ""));
}

}  // namespace posgeom
