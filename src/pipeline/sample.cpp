#include "posgeom/pipeline/sample.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"

namespace posgeom {
namespace {

constexpr Index text_sample_tokens = Index{1} << 20, id_sample_tokens = Index{1} << 22;
constexpr double heaps_exponent = 0.6;

/// What the beginning of a corpus showed.
struct Sample {
  Index tokens = 0, types = 0;
  Index bytes_total = 0;
  Index read_tokens = 0, read_bytes = 0;  ///< so many tokens were in so many of the bytes that bytes_total counts
  double tokens_per_byte = 0;             ///< beyond the first quarter: later text compresses better
  Index documents = 0;                    ///< that ended
  bool ended = false;
  std::vector<Count> unigram;
  std::vector<Count> early_unigram;   ///< of about the first quarter
  std::vector<Count> position_total;  ///< up to the longest length
  Index longest = 0;

  /// Tokens [begin, begin + count) of a document.
  void add_positions(Index begin, Index count) {
    const Index end = std::min(begin + count, std::ssize(position_total));
    for (Index i = begin; i < end; ++i) ++position_total[static_cast<std::size_t>(i)];
    longest = std::max(longest, begin + count);
  }
};

/// The tokens of one batch of text read as bytes: a vocabulary that would be built costs a pass over the corpus, which a plan does not
/// make.
class UnitCounter {
 public:
  UnitCounter(TokenizerKind kind, Index max_tokens) : kind_(kind), max_tokens_(max_tokens) {}

  void add(const TokenBatch& batch, Sample& sample) {
    for (const Piece& piece : batch.pieces) {
      text_.append(batch.wide.begin() + piece.begin, batch.wide.begin() + piece.end);
      if (!piece.ends) continue;  // a long document comes in several pieces
      units_.clear();
      if (kind_ == TokenizerKind::whitespace) {
        split_words(text_, units_);
      } else {
        split_code_points(text_, units_);
      }
      if (max_tokens_ > 0 && std::ssize(units_) > max_tokens_) units_.resize(static_cast<std::size_t>(max_tokens_));
      sample.tokens += std::ssize(units_);
      sample.add_positions(0, std::ssize(units_));
      for (const std::string_view unit : units_) ++seen_[std::string(unit)];
      text_.clear();
    }
  }
  Index types() const { return std::ssize(seen_); }
  /// How often each unit stood so far.
  std::vector<Count> unigram() const {
    std::vector<Count> counts;
    counts.reserve(seen_.size());
    for (const auto& [unit, count] : seen_) counts.push_back(count);
    std::ranges::sort(counts, std::greater{});
    return counts;
  }

 private:
  TokenizerKind kind_;
  Index max_tokens_;
  std::unordered_map<std::string, Count> seen_;
  std::string text_;
  std::vector<std::string_view> units_;
};

Sample take_sample(const Corpus& corpus, TokenizerKind built_kind, bool built, Index positions) {
  Sample sample;
  sample.position_total.assign(static_cast<std::size_t>(positions), 0);
  const Index enough = holds_tokens(corpus.options.format) ? id_sample_tokens : text_sample_tokens;
  DocumentReader reader(corpus, {}, 0, 1);
  TokenBatch batch;
  UnitCounter units(built_kind, corpus.options.max_tokens);
  if (!built) sample.unigram.assign(static_cast<std::size_t>(corpus.vocab_size), 0);
  // The reader is up to a block ahead of the tokens: only when it takes the next one, all tokens of those before are there.
  Index bytes_read = 0, tokens_before = 0, early_tokens = 0, early_bytes = 0;
  while (sample.tokens < enough && !(sample.ended = !reader.next(batch))) {
    sample.documents += std::ranges::count_if(batch.pieces, &Piece::ends);
    if (built) {
      units.add(batch, sample);
    } else {
      sample.tokens += batch.token_count();
      for (const Piece& piece : batch.pieces) sample.add_positions(piece.position, piece.size());
      for (const std::uint16_t id : batch.narrow) ++sample.unigram[id];
      for (const Token id : batch.wide) ++sample.unigram[static_cast<std::size_t>(id)];
    }
    if (reader.bytes_done() > bytes_read) {
      sample.read_tokens = bytes_read > 0 ? tokens_before : 0;
      sample.read_bytes = bytes_read;
      bytes_read = reader.bytes_done();
      if (early_bytes == 0 && sample.read_tokens >= enough / 4) {
        early_tokens = sample.read_tokens;
        early_bytes = sample.read_bytes;
      }
    }
    tokens_before = sample.tokens;
    if (sample.early_unigram.empty() && sample.tokens >= enough / 4) sample.early_unigram = built ? units.unigram() : sample.unigram;
  }
  if (sample.read_bytes == 0) {
    sample.read_tokens = sample.tokens;
    sample.read_bytes = bytes_read;
  }
  if (sample.read_bytes <= early_bytes) early_tokens = early_bytes = 0;
  if (sample.read_bytes > 0)
    sample.tokens_per_byte = static_cast<double>(sample.read_tokens - early_tokens) / static_cast<double>(sample.read_bytes - early_bytes);
  if (built) sample.unigram = units.unigram();
  sample.types = built ? units.types() : 0;
  sample.bytes_total = reader.bytes_total();
  return sample;
}

/// **Collective.** What the root has seen, on every rank.
void share(const Communicator& comm, Sample& sample) {
  Index numbers[] = {sample.tokens,  sample.bytes_total, sample.types,       sample.ended ? 1 : 0,
                     sample.longest, sample.documents,   sample.read_tokens, sample.read_bytes};
  broadcast(comm, std::span<Index>(numbers));
  sample.tokens = numbers[0];
  sample.bytes_total = numbers[1];
  sample.types = numbers[2];
  sample.ended = numbers[3] != 0;
  sample.longest = numbers[4];
  sample.documents = numbers[5];
  sample.read_tokens = numbers[6];
  sample.read_bytes = numbers[7];
  broadcast(comm, std::span(&sample.tokens_per_byte, 1));
  for (std::vector<Count>* const counts : {&sample.unigram, &sample.early_unigram, &sample.position_total})
    broadcast_resized(comm, *counts);
}

/// How many tokens the corpus holds, and how well that is known.
void set_token_count(const Config& config, const Corpus& corpus, const Sample& sample, CorpusEstimate& estimate) {
  if (config.plan_tokens > 0) {
    estimate.token_count = config.plan_tokens;
    estimate.whole_sample = false;
    return;
  }
  if (sample.ended) {
    estimate.token_count = sample.tokens;
  } else if (holds_tokens(corpus.options.format) && corpus.options.max_tokens == 0) {  // the headers say how many
    for (const CorpusFile& file : corpus.files) estimate.token_count += file.token_count;
  } else {
    estimate.token_certainty = Certainty::estimated;
    const auto rest = static_cast<double>(std::max<Index>(sample.bytes_total - sample.read_bytes, 0));
    estimate.token_count = std::max(sample.tokens, sample.read_tokens + static_cast<Index>(sample.tokens_per_byte * rest));
  }
}

}  // namespace

CorpusEstimate estimate_corpus(const Communicator& comm, const Config& config) {
  CorpusEstimate estimate;
  if (config.corpus.paths.empty()) {
    estimate.vocab_size = vocab_size_without_files(comm, config.corpus);
    estimate.token_count = config.plan_tokens;
    estimate.document_count = config.plan_documents;
    estimate.text = config.corpus.tokenizer_given || !config.corpus.vocab.empty();
    return estimate;
  }
  CorpusOptions options = config.corpus;
  options.format = resolve_format(comm, options);
  const bool built = builds_vocabulary(options);
  if (built) {
    options.tokenizer = TokenizerKind::bytes;
    options.vocab_size = 0;
    options.ignored_ids.clear();
  }
  const Corpus corpus = open_corpus(comm, options);
  // Documents' lengths say how many tokens a position holds.
  const Index positions = config.sequences == Sequences::document && !config.lengths.empty() ? config.lengths.back() : 0;
  const TokenizerKind kind = config.corpus.tokenizer;
  Sample sample =
      collective(comm, "sampling the corpus", [&] { return comm.is_root() ? take_sample(corpus, kind, built, positions) : Sample{}; });
  share(comm, sample);
  estimate.text = !holds_tokens(options.format);
  estimate.whole_sample = sample.ended;
  estimate.sampled_tokens = sample.tokens;
  estimate.longest_document = sample.longest;
  // Where a rank has come to in a compressed file is known in bytes of that file.
  estimate.compressed = std::any_of(corpus.files.begin(), corpus.files.end(), [](const CorpusFile& file) { return file.compressed; });
  const bool all = std::ranges::all_of(corpus.files, &CorpusFile::compressed);
  estimate.streams = all ? std::ssize(corpus.files) : 0;
  set_token_count(config, corpus, sample, estimate);
  estimate.vocab_size = corpus.vocab_size;
  if (built) {
    const Certainty certainty = estimate.whole_sample ? Certainty::exact : Certainty::estimated;
    const double factor = static_cast<double>(estimate.token_count) / static_cast<double>(std::max<Index>(sample.tokens, 1));
    // Letters have no law of growth: those that a part shows are some of them.
    estimate.vocab_certainty = certainty == Certainty::estimated && kind == TokenizerKind::chars ? Certainty::at_least : certainty;
    const double growth = kind == TokenizerKind::whitespace ? std::pow(std::max(1.0, factor), heaps_exponent) : 1;
    const auto grown = static_cast<Index>(static_cast<double>(sample.types) * growth);
    collective(comm, "looking at the vocabulary", [&] {
      CorpusOptions asked = config.corpus;
      if (!estimate.whole_sample) asked.ignored_ids.clear();  // what comes later may be such an id
      text_vocab_size(asked, sample.types);
    });
    if (config.corpus.vocab_size > 0) estimate.vocab_certainty = Certainty::exact;
    estimate.vocab_size = config.corpus.vocab_size > 0 ? config.corpus.vocab_size : grown;
  }
  collective(comm, "sampling the corpus", [&] {
    if (estimate.whole_sample) require_tokens(config, corpus, sample.tokens, sample.documents);
  });
  estimate.unigram = std::move(sample.unigram);
  if (!estimate.whole_sample) estimate.early_unigram = std::move(sample.early_unigram);
  estimate.position_total = std::move(sample.position_total);
  return estimate;
}

}  // namespace posgeom
