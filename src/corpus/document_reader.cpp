#include "posgeom/corpus/document_reader.hpp"

#include <deque>
#include <optional>
#include <utility>

#include "corpus/corpus_index.hpp"
#include "corpus/unit_stream.hpp"
#include "corpus/unit_walk.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr Index enough_tokens = Index{1} << 18;  ///< of a batch that is put together from several

bool precedes(UnitId a, UnitId b) { return a.file < b.file || (a.file == b.file && a.unit < b.unit); }

}  // namespace

void TokenBatch::clear() {
  narrow.clear();
  wide.clear();
  pieces.clear();
  unit = {};
  unit_ends = false;
  stream_position = -1;
  own_tokens = 0;
}

struct DocumentReader::State {
  State(const Corpus& corpus, const ReadOptions& read_options, int rank, int ranks, Sharing sharing, const UnitSet& done)
      : options(read_options), walk(corpus, options, rank, ranks, sharing, done), stream(corpus, options, walk) {}

  bool begin_unit();
  void take_own(TokenBatch& batch);
  void take_ahead(TokenBatch& batch);

  ReadOptions options;
  UnitWalk walk;
  UnitStream stream;
  std::optional<UnitId> unit;  ///< being given
  bool own_ended = false;      ///< only what follows it is missing
  Index missing = 0;           ///< tokens of that
  /// Batches that were read to follow a unit. They are kept, since they are most often the next unit of this part.
  std::deque<TokenBatch> ahead;
  std::size_t ahead_given = 0;  ///< of them, to follow the present unit
};

DocumentReader::DocumentReader(const Corpus& corpus, const ReadOptions& options, int rank, int ranks, Sharing sharing,
                               const UnitSet& done) {
  expects(holds_tokens(corpus.options.format) || corpus.tokenizer != nullptr, "an opened corpus");
  expects(options.overlap >= 0 && (options.overlap == 0 || options.stream), "an overlap of a stream");
  expects(!(options.stream || options.document_index) || (corpus.index && corpus.index->serves(options)),
          "a corpus that was indexed for these options");
  state_ = std::make_unique<State>(corpus, options, rank, ranks, sharing, done);
}
DocumentReader::~DocumentReader() = default;
DocumentReader::DocumentReader(DocumentReader&&) noexcept = default;
DocumentReader& DocumentReader::operator=(DocumentReader&&) noexcept = default;

bool DocumentReader::next(TokenBatch& batch) {
  State& state = *state_;
  batch.clear();
  if (!state.unit && !state.begin_unit()) return false;
  batch.unit = *state.unit;
  if (!state.own_ended) state.take_own(batch);
  if (state.own_ended && state.missing > 0) state.take_ahead(batch);
  batch.unit = *state.unit;
  batch.unit_ends = state.own_ended && state.missing == 0;
  if (batch.unit_ends) state.unit.reset();
  return true;
}

bool DocumentReader::State::begin_unit() {
  unit = walk.next();
  if (!unit) return false;
  own_ended = false;
  missing = options.overlap;
  ahead_given = 0;
  while (!ahead.empty() && precedes(ahead.front().unit, *unit)) ahead.pop_front();
  if (ahead.empty() || ahead.front().unit != *unit) {
    ahead.clear();
    stream.seek(*unit);
  }
  return true;
}

void DocumentReader::State::take_own(TokenBatch& batch) {
  if (ahead.empty()) {
    expects(stream.next(batch), "a batch of an open unit");
  } else {
    std::swap(batch, ahead.front());
    ahead.pop_front();
  }
  own_ended = batch.unit_ends;
  batch.own_tokens = batch.token_count();
}

/// The tokens of the units that follow, of whichever file, until enough are there or the corpus ends.
void DocumentReader::State::take_ahead(TokenBatch& batch) {
  while (missing > 0 && batch.token_count() < enough_tokens) {
    if (ahead_given == ahead.size()) {
      TokenBatch more;
      if (!stream.next(more)) {
        missing = 0;
        return;
      }
      ahead.push_back(std::move(more));
    }
    const TokenBatch& from = ahead[ahead_given];
    const Index before = batch.token_count();
    append_tokens(batch, from, missing);
    missing -= batch.token_count() - before;
    ++ahead_given;
  }
}

Index DocumentReader::bytes_done() const { return state_->walk.bytes_done(); }
Index DocumentReader::bytes_total() const { return state_->walk.bytes_total(); }

}  // namespace posgeom
