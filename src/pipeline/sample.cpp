#include "posgeom/pipeline/sample.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

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
};

/// The tokens of one batch of text read as bytes: a vocabulary that would be built costs a pass over the corpus, which a plan does not
/// make.
class UnitCounter {
 public:
  explicit UnitCounter(TokenizerKind kind) : kind_(kind) {}

  Index add(const TokenBatch& batch) {
    Index tokens = 0;
    for (const Piece& piece : batch.pieces) {
      text_.append(batch.wide.begin() + piece.begin, batch.wide.begin() + piece.end);
      if (!piece.ends) continue;  // a long document comes in several pieces
      units_.clear();
      if (kind_ == TokenizerKind::whitespace) {
        split_words(text_, units_);
      } else {
        split_code_points(text_, units_);
      }
      tokens += std::ssize(units_);
      for (const std::string_view unit : units_) seen_.emplace(unit);
      text_.clear();
    }
    return tokens;
  }
  Index types() const { return std::ssize(seen_); }

 private:
  TokenizerKind kind_;
  std::unordered_set<std::string> seen_;
  std::string text_;
  std::vector<std::string_view> units_;
};

Sample take_sample(const Corpus& corpus, TokenizerKind built_kind, bool built) {
  Sample sample;
  const Index enough = holds_tokens(corpus.options.format) ? id_sample_tokens : text_sample_tokens;
  DocumentReader reader(corpus, {}, 0, 1);
  TokenBatch batch;
  UnitCounter units(built_kind);
  if (!built) sample.unigram.assign(static_cast<std::size_t>(corpus.vocab_size), 0);
  while (sample.tokens < enough && !(sample.ended = !reader.next(batch))) {
    if (built) {
      sample.tokens += units.add(batch);
      continue;
    }
    sample.tokens += batch.token_count();
    for (const std::uint16_t id : batch.narrow) ++sample.unigram[id];
    for (const Token id : batch.wide) ++sample.unigram[static_cast<std::size_t>(id)];
  }
  sample.types = units.types();
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
  Sample sample = collective(comm, "sampling the corpus", [&] { return comm.is_root() ? take_sample(corpus, kind, built) : Sample{}; });
  Index shared[] = {sample.tokens, sample.bytes_done, sample.bytes_total, sample.types, sample.ended ? 1 : 0};
  broadcast(comm, std::span<Index>(shared));
  broadcast_resized(comm, sample.unigram);
  estimate.unigram = std::move(sample.unigram);
  if (holds_tokens(corpus.options.format)) {  // the headers say how many
    for (const CorpusFile& file : corpus.files) estimate.token_count += file.token_count;
    return estimate;
  }
  // How much of a compressed file a sample has seen is not known: what was seen is a lower bound.
  const bool compressed = std::any_of(corpus.files.begin(), corpus.files.end(), [](const CorpusFile& file) { return file.compressed; });
  const Certainty certainty = shared[4] != 0 ? Certainty::exact : compressed ? Certainty::at_least : Certainty::estimated;
  const double factor = certainty == Certainty::estimated && shared[1] > 0
                            ? std::max(1.0, static_cast<double>(shared[2]) / static_cast<double>(shared[1]))
                            : 1;
  estimate.token_certainty = certainty;
  estimate.token_count = static_cast<Index>(static_cast<double>(shared[0]) * factor);
  if (built && estimate.vocab_size == 0) {
    estimate.vocab_certainty = certainty;
    const double growth = kind == TokenizerKind::whitespace ? std::pow(factor, heaps_exponent) : 1;
    estimate.vocab_size = static_cast<Index>(static_cast<double>(shared[3]) * growth);
  }
  return estimate;
}

}  // namespace posgeom
