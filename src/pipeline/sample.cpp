#include "posgeom/pipeline/sample.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

constexpr Index sample_tokens = Index{1} << 20;
constexpr double heaps_exponent = 0.6;

}  // namespace

CorpusEstimate estimate_corpus(const Communicator& comm, const Config& config) {
  CorpusEstimate estimate;
  estimate.vocab_size = config.plan_vocab_size;
  if (config.corpus.paths.empty()) return estimate;
  // A vocabulary that is built costs a pass over the corpus, which a plan does not make: the sample is counted in bytes' stead.
  CorpusOptions options = config.corpus;
  const bool built = options.vocab.empty() && (options.tokenizer == TokenizerKind::whitespace || options.tokenizer == TokenizerKind::chars);
  const TokenizerKind kind = options.tokenizer;
  if (built) options.tokenizer = TokenizerKind::bytes;
  const Corpus corpus = open_corpus(comm, options);
  if (!built) estimate.vocab_size = corpus.vocab_size;

  Index tokens = 0;
  Index done = 0;
  Index total = 0;
  Index types = 0;
  bool ended = false;
  collective(comm, "sampling the corpus", [&] {
    if (!comm.is_root()) return;
    DocumentReader reader(corpus, 0, 1);
    TokenBatch batch;
    std::unordered_set<std::string> seen;
    std::string text;
    std::vector<std::string_view> units;
    while (tokens < sample_tokens && !(ended = !reader.next(batch))) {
      if (!built) {
        tokens += std::ssize(batch.tokens);
        continue;
      }
      for (Index k = 0; k < batch.document_count(); ++k) {
        const auto bytes = batch.document(k);
        text.assign(bytes.begin(), bytes.end());
        units.clear();
        if (kind == TokenizerKind::whitespace) {
          split_words(text, units);
        } else {
          split_code_points(text, units);
        }
        tokens += std::ssize(units);
        for (const std::string_view unit : units) seen.emplace(unit);
      }
    }
    done = reader.bytes_done();
    total = reader.bytes_total();
    types = std::ssize(seen);
  });
  Index shared[] = {tokens, done, total, types, ended ? 1 : 0};
  broadcast(comm, std::span<Index>(shared));
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
