#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "pipeline/count_tables.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/machine.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

std::string unfinished_path(const Config& config) {
  return (std::filesystem::path(config.output.directory) / "counts-unfinished.h5").string();
}

/// What the counts of every length depend on.
FingerprintLines corpus_lines(const Config& config, const Corpus& corpus) {
  FingerprintLines lines = corpus.fingerprint_lines;
  lines.push_back(fmt::format("sequences={}", name_of(config.sequences)));
  if (config.sequences == Sequences::packed) lines.push_back(config.drop_last_block ? "last-block=drop" : "last-block=keep");
  return lines;
}

void show_progress(StageReport& report, const CountStatus& status) {
  if (status.bytes_total == 0 || status.seconds <= 0) return;
  const double done = static_cast<double>(status.bytes_done) / static_cast<double>(status.bytes_total);
  report.progress(done, fmt::format("{:.4g} tokens, {:.3g} tokens/s", static_cast<double>(status.tokens + status.tokens_before),
                                    static_cast<double>(status.tokens) / status.seconds));
}

CountHooks hooks_of(const StageContext& context, const FingerprintLines& unfinished_lines, const std::string& corpus_fingerprint) {
  CountHooks hooks;
  hooks.stop_requested = context.stop_requested;
  hooks.progress = [&context](const CountStatus& status) { show_progress(context.report, status); };
  hooks.keep = [&context, unfinished_lines, corpus_fingerprint](const CountCheckpoint& checkpoint) {
    write_count_checkpoint(context.comm, unfinished_path(context.config), checkpoint,
                           provenance_of(context, unfinished_lines, corpus_fingerprint));
  };
  const double seconds = context.config.output.keep_seconds;
  hooks.checkpoint_seconds = seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
  return hooks;
}

/// **Collective.** What an earlier run, stopped or killed, has left of the same count.
std::optional<CountCheckpoint> read_unfinished(const StageContext& context, const FingerprintLines& lines) {
  const Config& config = context.config;
  const std::string path = unfinished_path(config);
  const std::optional<Provenance> provenance = config.output.force ? std::nullopt : read_provenance(context.comm, path);
  if (!provenance) return std::nullopt;
  collective(context.comm, "comparing the unfinished count with this run", [&] {
    if (!config.output.resume) throw Error(fmt::format("{} holds an unfinished count; give --force to begin anew, or another --out", path));
    require_same(path, split_lines(provenance->fingerprint_lines), lines,
                 "give the same options to go on with that count, --force to begin anew, or another --out");
  });
  return read_count_checkpoint(context.comm, path);
}

std::string describe_corpus(const Config& config, const Corpus& corpus) {
  const Format format = corpus.options.format;
  std::string text =
      fmt::format("{} file{}, format {}", corpus.files.size(), corpus.files.size() == 1 ? "" : "s", name_of(corpus.options.format));
  if (format == Format::tsv || format == Format::jsonl) text += fmt::format(" (column {})", config.corpus.column);
  if (holds_tokens(format)) {
    text += corpus.separator < 0 ? ", no separator"
                                 : fmt::format(", separator {}{}", corpus.separator, config.corpus.keep_separator ? " (kept)" : "");
  } else {
    text += fmt::format(", tokenizer {}", name_of(corpus.options.tokenizer));
  }
  return text + fmt::format(", V = {}", corpus.vocab_size);
}

void warn_of_odd_corpora(const StageContext& context, const Corpus& corpus, const CorpusCounts& counts) {
  if (context.config.sequences != Sequences::document || context.config.lengths.back() == 1) return;
  if (holds_tokens(corpus.options.format) && counts.document_count <= std::ssize(corpus.files)) {
    context.report.line(
        corpus.separator < 0
            ? "warning: nothing separates documents, so each file is one; is --sequences packed meant, or a --separator missing?"
            : fmt::format("warning: the separator {} separates nothing, so each file is one document; is another --separator meant?",
                          corpus.separator));
  } else if (counts.longest_document == 1) {
    context.report.line("warning: no document has more than one token, so only one position is reached; are --column and --format right?");
  }
}

/// **Collective.** The configuration, with the halves' and null's rule of the counts that are there already where this run asks for none:
/// what is counted anew of them must be counted by the rule that the file names.
Config with_noise_rule_of_file(const StageContext& context) {
  Config config = context.config;
  if (config.output.force) return config;
  const std::optional<Provenance> provenance = provenance_to_reuse(context.comm, counts_path(config));
  if (!provenance) return config;
  const FingerprintLines there = split_lines(provenance->fingerprint_lines);
  const std::string seed = line_value(there, "noise.seed");
  const std::string split_by = line_value(there, "noise.split-by");
  collective(context.comm, "reading the rule of the halves", [&] {
    if (!config.noise.split && !config.noise.shuffle && !seed.empty()) config.noise.seed = std::stoull(seed);
    if (!config.noise.split && !split_by.empty()) apply_split_rule(split_by, config.noise, config.corpus);
  });
  return config;
}

}  // namespace

void require_tokens(const Config& config, const Corpus& corpus, Index token_count, Index document_count) {
  const Index longest = config.lengths.back();
  if (config.sequences == Sequences::packed && config.drop_last_block && token_count < longest) {
    throw Error(
        fmt::format("--last-block drop: the corpus has {} tokens, fewer than one block of --lengths {}; give a smaller length, or "
                    "--last-block keep",
                    token_count, longest));
  }
  if (token_count > 0) return;
  throw Error(fmt::format("the corpus ({}{}) holds no token in its {}; check --corpus, --format and --column", corpus.files.front().path,
                          corpus.files.size() > 1 ? ", ..." : "", number_of(document_count, "document")));
}

CountedCorpus count_stage(const StageContext& context) {
  const Config config = with_noise_rule_of_file(context);
  context.report.begin("open corpus");
  Corpus corpus = open_corpus(context.comm, config.corpus);
  context.report.end(describe_corpus(config, corpus));
  const std::string header = collective(context.comm, "looking for a header line",
                                        [&] { return context.comm.is_root() ? suspected_header(corpus) : std::string(); });
  if (!header.empty()) {
    context.report.line(
        fmt::format("warning: the first line looks like names of columns ({}), and is read as a document; is --header missing?", header));
  }

  FingerprintLines lines = corpus_lines(config, corpus);
  CountedCorpus result;
  result.corpus_fingerprint = fingerprint(lines);
  for (std::string& line : noise_lines(config)) lines.push_back(std::move(line));
  const std::string path = counts_path(config);
  context.report.begin("count");
  const auto there = reusable_lines(context.comm, path, lines, config.output.force, config.output.resume);
  const bool reusable = there.has_value();
  if (reusable) {
    keep_additions(lines, *there, "noise.");
    result.summary = read_counts_summary(context.comm, path);
    if (missing_lengths(config, result.summary).empty()) {
      context.report.end("reused " + path);
      return result;
    }
  }
  CountOptions options = count_options_of(config);
  options.lengths = reusable ? lengths_to_count(config, result.summary) : config.lengths;
  options.noise = noise_to_count(config, reusable ? &result.summary : nullptr);
  options.memory_bytes = memory_limit(context.comm, config.geometry.memory_bytes);

  FingerprintLines unfinished_lines = lines;
  if (corpus.vocabulary_built) unfinished_lines.push_back("vocabulary=" + fingerprint(corpus.vocabulary));
  unfinished_lines.push_back("lengths=" + comma_separated(options.lengths));
  unfinished_lines.push_back(fmt::format("noise={}{}", options.noise.split ? "split " : "", options.noise.shuffle ? "shuffle" : ""));
  const std::optional<CountCheckpoint> unfinished = read_unfinished(context, unfinished_lines);
  if (unfinished) {
    context.report.line(fmt::format("going on with {}: {} tokens are counted", unfinished_path(config), unfinished->counts.token_count));
  }
  CountsFile file;
  file.counts = count_corpus(context.comm, corpus, options, hooks_of(context, unfinished_lines, result.corpus_fingerprint),
                             unfinished ? &*unfinished : nullptr);
  collective(context.comm, "counting", [&] { require_tokens(config, corpus, file.counts.token_count, file.counts.document_count); });
  if (corpus.vocabulary_built) file.vocabulary = corpus.vocabulary;
  if (reusable) keep_other_tables(read_count_tables(context.comm, path), file.counts);
  write_counts(context.comm, path, file, provenance_of(context, lines, result.corpus_fingerprint));
  remove_unfinished(context, unfinished_path(config));
  warn_of_odd_corpora(context, corpus, file.counts);
  file = {};
  result.summary = read_counts_summary(context.comm, path);
  context.report.end(describe(result.summary));
  return result;
}

CountedCorpus read_counted_corpus(const StageContext& context) {
  context.report.begin("read counts");
  const std::string path = counts_path(context.config);
  CountedCorpus result;
  result.summary = read_counts_summary(context.comm, path);
  result.corpus_fingerprint = read_provenance(context.comm, path).value().corpus_fingerprint;
  collective(context.comm, "reading the counts", [&] {
    Config wanted = context.config;
    wanted.sequences = result.summary.sequences;
    wanted.noise = {};
    const std::vector<Index> missing = missing_lengths(wanted, result.summary);
    if (missing.empty()) return;
    throw Error(fmt::format("{} holds {} {}, --lengths asks for {}; run `posgeom count` with that length first", path,
                            result.summary.sequences == Sequences::document ? "positions up to" : "lengths",
                            comma_separated(result.summary.lengths), comma_separated(missing)));
  });
  context.report.end(describe(result.summary));
  return result;
}

}  // namespace posgeom
