#include "posgeom/pipeline/sample.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr Index text_sample_tokens = Index{1} << 20, id_sample_tokens = Index{1} << 22;
constexpr double heaps_exponent = 0.6;

/// What the beginning of a corpus showed.
struct Sample {
  Index tokens = 0, types = 0;
  Index bytes_done = 0, bytes_total = 0;
  bool ended = false;
  std::vector<Count> unigram;
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
  void finish(Sample& sample) const {
    sample.types = std::ssize(seen_);
    for (const auto& [unit, count] : seen_) sample.unigram.push_back(count);
    std::ranges::sort(sample.unigram, std::greater{});
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
  while (sample.tokens < enough && !(sample.ended = !reader.next(batch))) {
    if (built) {
      units.add(batch, sample);
      continue;
    }
    sample.tokens += batch.token_count();
    for (const Piece& piece : batch.pieces) sample.add_positions(piece.position, piece.size());
    for (const std::uint16_t id : batch.narrow) ++sample.unigram[id];
    for (const Token id : batch.wide) ++sample.unigram[static_cast<std::size_t>(id)];
  }
  if (built) units.finish(sample);
  sample.bytes_done = reader.bytes_done();
  sample.bytes_total = reader.bytes_total();
  return sample;
}

}  // namespace

CorpusEstimate estimate_corpus(const Communicator& comm, const Config& config) {
  CorpusEstimate estimate;
  estimate.vocab_size = config.corpus.vocab_size;
  if (config.corpus.paths.empty()) return estimate;
  CorpusOptions options = config.corpus;
  const TokenizerKind kind = options.tokenizer;
  bool built = options.vocab.empty() && (kind == TokenizerKind::whitespace || kind == TokenizerKind::chars);
  built = built && !holds_tokens(resolve_format(comm, options));
  if (built) {
    options.tokenizer = TokenizerKind::bytes;
    options.vocab_size = 0;
    options.ignored_ids.clear();
  }
  const Corpus corpus = open_corpus(comm, options);
  if (!built) estimate.vocab_size = corpus.vocab_size;
  // Documents' lengths say how many tokens a position holds.
  const Index positions = config.sequences == Sequences::document && !config.lengths.empty() ? config.lengths.back() : 0;
  Sample sample =
      collective(comm, "sampling the corpus", [&] { return comm.is_root() ? take_sample(corpus, kind, built, positions) : Sample{}; });
  Index shared[] = {sample.tokens, sample.bytes_done, sample.bytes_total, sample.types, sample.ended ? 1 : 0, sample.longest};
  broadcast(comm, std::span<Index>(shared));
  broadcast_resized(comm, sample.unigram);
  broadcast_resized(comm, sample.position_total);
  estimate.unigram = std::move(sample.unigram);
  estimate.position_total = std::move(sample.position_total);
  estimate.sampled_tokens = shared[0];
  estimate.whole_sample = shared[4] != 0;
  estimate.longest_document = shared[5];
  if (holds_tokens(corpus.options.format)) {  // the headers say how many
    for (const CorpusFile& file : corpus.files) estimate.token_count += file.token_count;
    return estimate;
  }
  // Where a rank has come to in a compressed file is known in bytes of that file.
  estimate.compressed = std::any_of(corpus.files.begin(), corpus.files.end(), [](const CorpusFile& file) { return file.compressed; });
  const Certainty certainty = shared[4] != 0 ? Certainty::exact : Certainty::estimated;
  const double factor = certainty == Certainty::estimated && shared[1] > 0
                            ? std::max(1.0, static_cast<double>(shared[2]) / static_cast<double>(shared[1]))
                            : 1;
  estimate.token_certainty = certainty;
  estimate.token_count = static_cast<Index>(static_cast<double>(shared[0]) * factor);
  if (built && estimate.vocab_size == 0) {
    // Letters have no law of growth: those that a part shows are some of them.
    estimate.vocab_certainty = certainty == Certainty::estimated && kind == TokenizerKind::chars ? Certainty::at_least : certainty;
    const double growth = kind == TokenizerKind::whitespace ? std::pow(factor, heaps_exponent) : 1;
    estimate.vocab_size = static_cast<Index>(static_cast<double>(shared[3]) * growth);
  }
  return estimate;
}

}  // namespace posgeom
