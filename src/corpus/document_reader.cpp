#include <fmt/format.h>

#include "corpus/part_reader.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

// A batch is closed by whichever comes first: enough to spare the caller's loop, little enough to answer a signal at once.
constexpr Index batch_tokens = Index{1} << 16, batch_documents = Index{1} << 14, batch_text_bytes = Index{1} << 20;

}  // namespace

struct DocumentReader::State {
  State(const Corpus& corpus, int rank, int ranks)
      : records(corpus, rank, ranks), tokenizer(corpus.tokenizer), max_tokens(corpus.options.max_tokens) {
    expects(tokenizer != nullptr, "an opened corpus");
  }

  PartReader records;
  std::shared_ptr<const Tokenizer> tokenizer;
  Index max_tokens;
};

DocumentReader::DocumentReader(const Corpus& corpus, const ReadOptions&, int rank, int ranks, Sharing, const UnitSet&)
    : state_(std::make_unique<State>(corpus, rank, ranks)) {}
DocumentReader::~DocumentReader() = default;
DocumentReader::DocumentReader(DocumentReader&&) noexcept = default;
DocumentReader& DocumentReader::operator=(DocumentReader&&) noexcept = default;

void TokenBatch::clear() { *this = {}; }

bool DocumentReader::next(TokenBatch& batch) {
  batch.clear();
  Record record;
  for (Index text_bytes = 0;
       std::ssize(batch.wide) < batch_tokens && std::ssize(batch.pieces) < batch_documents && text_bytes < batch_text_bytes;
       text_bytes += std::ssize(record.text)) {
    if (!state_->records.next(record)) break;
    const Index begin = std::ssize(batch.wide);
    try {
      state_->tokenizer->encode(record.text, batch.wide);
    } catch (const Error& error) {
      throw Error(fmt::format("tokenising {}: {}", state_->records.place(), error.what()), error.kind());
    }
    if (state_->max_tokens > 0 && std::ssize(batch.wide) - begin > state_->max_tokens) {
      batch.wide.resize(static_cast<std::size_t>(begin + state_->max_tokens));
    }
    batch.pieces.push_back({begin, std::ssize(batch.wide)});
  }
  batch.unit_ends = true;
  batch.own_tokens = batch.token_count();
  return !batch.pieces.empty();
}

Index DocumentReader::bytes_done() const { return state_->records.bytes_done(); }
Index DocumentReader::bytes_total() const { return state_->records.bytes_total(); }

}  // namespace posgeom
