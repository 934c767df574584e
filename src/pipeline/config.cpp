#include "posgeom/pipeline/config.hpp"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/values.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

Separator separator_option(const Values& values) {
  Separator separator;
  const std::string text = values.text("separator");
  if (text == "auto") return separator;
  separator.choice = text == "none" ? Separator::Choice::none : Separator::Choice::given;
  if (text != "none") separator.id = values.integer("separator", 0, std::numeric_limits<std::uint32_t>::max());
  return separator;
}

CorpusOptions corpus_options(const Values& values, const OptionValues& all) {
  CorpusOptions corpus;
  if (const auto paths = all.find("corpus"); paths != all.end()) corpus.paths = paths->second;
  corpus.format = format_named(values.text("format"));
  corpus.column = values.text("column");
  corpus.header = values.flag("header");
  corpus.tokenizer_given = values.text("tokenizer") != "auto";
  if (corpus.tokenizer_given) corpus.tokenizer = tokenizer_named(values.text("tokenizer"));
  corpus.vocab = values.text("vocab");
  corpus.vocab_size = values.integer("vocab-size", 0, std::numeric_limits<std::int32_t>::max());
  corpus.separator = separator_option(values);
  corpus.keep_separator = values.flag("keep-separator");
  if (values.text("ignore-ids") != "none")
    corpus.ignored_ids = values.integers<Index>("ignore-ids", 0, std::numeric_limits<std::uint32_t>::max());
  corpus.max_tokens = values.integer("max-tokens", 0);
  if (corpus.tokenizer == TokenizerKind::wordpiece && corpus.vocab.empty()) {
    throw Error("option --tokenizer wordpiece needs --vocab FILE (for BERT its vocab.txt, one entry a line)", ErrorKind::usage);
  }
  if (corpus.tokenizer == TokenizerKind::sentencepiece && corpus.vocab.empty()) {
    throw Error("option --tokenizer sentencepiece needs --vocab FILE (the model, such as tokenizer.model)", ErrorKind::usage);
  }
  return corpus;
}

NoiseAnalysisOptions noise_analysis_options(const Values& values, std::uint64_t seed) {
  NoiseAnalysisOptions analysis;
  analysis.replicates = values.integer("replicates", 1, 1000000);
  analysis.alpha = values.share("alpha");
  analysis.rarefy = values.text("rarefy") == "auto" ? 0 : values.integer("rarefy", 1);
  analysis.seed = seed;
  threshold_rank(analysis.replicates, analysis.alpha);  // refuses too few
  return analysis;
}

BootstrapOptions bootstrap_options(const Values& values) {
  BootstrapOptions bootstrap;
  bootstrap.replicates = values.integer("bootstrap", 0, 100000);
  bootstrap.alpha = values.share("bootstrap-alpha");
  // Below that many the interval's ends are the extremes whatever alpha says.
  const auto least = static_cast<Index>(std::ceil(2 / bootstrap.alpha - 1e-9)) - 1;
  if (bootstrap.replicates > 0 && bootstrap.replicates < least)
    refuse("bootstrap", values.text("bootstrap"),
           fmt::format("0, or at least {} replicates for --bootstrap-alpha {}", least, bootstrap.alpha));
  return bootstrap;
}

SynthOptions synth_options(const Values& values, std::uint64_t seed) {
  SynthOptions synth;
  SyntheticOptions& corpus = synth.corpus;
  corpus.kind = synthetic_kind_named(values.text("synth-kind"));
  corpus.positions = values.integer("synth-positions", 1, std::numeric_limits<std::int32_t>::max());
  corpus.vocab_size = values.integer("synth-vocab", 1, std::numeric_limits<std::int32_t>::max());
  corpus.components = values.integer("synth-components", 1, 100000);
  corpus.lengths = document_lengths_named(values.text("synth-lengths"));
  corpus.zipf = values.positive("synth-zipf");
  corpus.seed = seed;
  if (values.text("synth-overlap") != "0") corpus.overlap = values.share("synth-overlap");
  synth.documents = values.integer("synth-documents", 1);
  return synth;
}

NoiseOptions noise_options(const Values& values, CorpusOptions& corpus, std::uint64_t seed) {
  NoiseOptions noise;
  const std::string text = values.text("noise");
  if (text != "none" && text != "split" && text != "shuffle" && text != "all") refuse("noise", text, "none, split, shuffle or all");
  noise.split = text == "split" || text == "all";
  noise.shuffle = text == "shuffle" || text == "all";
  noise.seed = seed;
  CorpusOptions unread;  // without halves no column is read for them
  apply_split_rule(values.text("split-by"), noise, noise.split ? corpus : unread);
  if (!noise.split && values.text("split-by") != "document")
    refuse("split-by", values.text("split-by"), "document where --noise counts no halves (give --noise split or all)");
  return noise;
}

OutputOptions output_options(const Values& values) {
  OutputOptions output;
  output.directory = values.text("out");
  if (output.directory.empty()) refuse("out", "", "a directory");
  output.force = values.flag("force");
  output.resume = values.flag("resume");
  output.partial = values.flag("partial");
  output.keep_seconds = static_cast<double>(values.integer("keep-every", 0, 1 << 30));
  const std::string progress = values.text("progress");
  if (progress == "bar") {
    output.progress = Progress::bar;
  } else if (progress == "log") {
    output.progress = Progress::log;
  } else if (progress == "none") {
    output.progress = Progress::none;
  } else if (progress != "auto") {
    refuse("progress", progress, "auto, bar, log or none");
  }
  return output;
}

TokenizeOptions tokenize_options(const Values& values) {
  TokenizeOptions tokenize;
  const std::string kind = values.text("token-file");
  if (kind != "megatron" && kind != "raw") refuse("token-file", kind, "megatron or raw");
  tokenize.kind = kind == "raw" ? TokenFileKind::raw : TokenFileKind::megatron;
  if (values.text("end-of-text") != "none") {
    tokenize.end_of_text = values.integer("end-of-text", 0, std::numeric_limits<std::uint32_t>::max());
    if (kind != "raw")
      refuse("end-of-text", values.text("end-of-text"), "none with --token-file megatron, whose index separates documents");
  }
  tokenize.name = values.text("name");
  if (tokenize.name.empty() || tokenize.name.find('/') != std::string::npos) refuse("name", tokenize.name, "a file name without folders");
  return tokenize;
}

}  // namespace

void apply_split_rule(const std::string& text, NoiseOptions& noise, CorpusOptions& corpus) {
  if (text == "document") return;
  if (text.starts_with("block:")) {
    noise.split_by = SplitBy::block;
    noise.block = Values::parse_integer("split-by", text.substr(6), 1, std::numeric_limits<Index>::max());
  } else if (text.starts_with("column:") && text.size() > 7) {
    noise.split_by = SplitBy::column;
    corpus.split_column = text.substr(7);
  } else {
    refuse("split-by", text, "document, block:N (N documents) or column:NAME");
  }
}

Config config_from(const OptionValues& all) {
  const Values values(all);
  Config config;
  config.values = all;
  config.seed = static_cast<std::uint64_t>(values.integer("seed", 0));
  config.corpus = corpus_options(values, all);
  config.sequences = sequences_named(values.text("sequences"));
  const std::string last_block = values.text("last-block");
  if (last_block != "keep" && last_block != "drop") refuse("last-block", last_block, "keep or drop");
  config.drop_last_block = last_block == "drop";
  if (config.drop_last_block && config.sequences != Sequences::packed)
    refuse("last-block", last_block, "keep, where --sequences is not packed: only packed sequences have blocks");
  config.noise = noise_options(values, config.corpus, config.seed);
  config.noise_analysis = noise_analysis_options(values, config.seed);
  if (!values.text("lengths").empty()) config.lengths = values.integers<Index>("lengths");
  config.positions.unreached = unreached_named(values.text("unreached"));
  config.positions.min_count = values.integer("min-count", 1);
  if (const std::string total = values.text("rarefy-geometry"); total != "off")
    config.rarefied_total = total == "auto" ? 0 : values.integer("rarefy-geometry", 1);
  config.bootstrap = bootstrap_options(values);
  if (config.bootstrap.replicates > 0 && config.rarefied_total >= 0)
    refuse("bootstrap", values.text("bootstrap"), "0 with --rarefy-geometry: resampled positions do not all hold as many tokens");
  const std::string range = values.text("hellinger-range");
  if (range != "sqrt2" && range != "1") refuse("hellinger-range", range, "sqrt2 or 1");
  config.positions.unit_range = range == "1";
  config.stress = stress_options(values, config.seed);
  config.geometry = geometry_options(values, config.stress);
  config.output = output_options(values);
  config.tokenize = tokenize_options(values);
  config.plan_ranks = static_cast<int>(values.integer("ranks", 0, 1 << 24));
  config.plan_ranks_per_node = static_cast<int>(values.integer("ranks-per-node", 0, 1 << 24));
  config.plan_tokens = values.integer("tokens", 0, Index{1} << 60);
  config.plan_documents = values.integer("documents", 0, Index{1} << 60);
  if (config.plan_documents > 0 && (config.plan_tokens == 0 || !config.corpus.paths.empty()))
    refuse("documents", values.text("documents"), "0 where --tokens is not given, and beside --corpus, which tells how long documents are");
  config.calibrate = values.flag("calibrate");
  config.synth = synth_options(values, config.seed);
  return config;
}

}  // namespace posgeom
