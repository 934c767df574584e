#include "corpus/text_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "corpus/unicode.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

// A batch is closed by whichever comes first: enough to spare the caller's loop, little enough to answer a signal at once.
constexpr Index batch_tokens = Index{1} << 17, batch_documents = Index{1} << 15, batch_text_bytes = Index{1} << 20;
constexpr Index largest = std::numeric_limits<Index>::max();

Index unit_size_of(const CorpusFile& file, Index asked) {
  if (asked > 0) return asked;
  constexpr Index mebibyte = Index{1} << 20, most_units = 65536;
  return file.compressed ? mebibyte : std::max(4 * mebibyte, file.bytes / most_units);
}

std::vector<bool> ids_to_ignore(const Corpus& corpus) {
  std::vector<bool> ignored;
  if (corpus.options.ignored_ids.empty()) return ignored;
  ignored.resize(static_cast<std::size_t>(corpus.vocab_size));
  for (const Index id : corpus.options.ignored_ids) {
    if (id >= 0 && id < corpus.vocab_size) ignored[static_cast<std::size_t>(id)] = true;
  }
  return ignored;
}

}  // namespace

TextUnits::TextUnits(const Corpus& corpus, Index file, const ReadOptions& options)
    : corpus_(&corpus),
      file_(&corpus.files.at(static_cast<std::size_t>(file))),
      whole_(file_->compressed && options.stream && options.overlap > 0),
      unit_size_(unit_size_of(*file_, corpus.options.unit_bytes)),
      ignored_(ids_to_ignore(corpus)) {}

Index TextUnits::unit_count() const {
  if (file_->compressed) return whole_ ? 1 : -1;
  return file_->bytes / unit_size_ + (file_->bytes % unit_size_ > 0 ? 1 : 0);
}

Index TextUnits::unit_bytes(Index unit) const {
  return file_->compressed ? file_->bytes : std::min(unit_size_, file_->bytes - unit * unit_size_);
}

bool TextUnits::open(Index unit) {
  expects(unit >= 0, "a unit's number");
  ids_.clear();
  given_ = 0;
  document_ = -1;
  if (!streams()) {
    if (unit >= unit_count()) return false;
    records_.emplace(corpus_->options, *file_, whole_ ? Range{0, largest} : Range{unit * unit_size_, unit * unit_size_ + unit_bytes(unit)});
    return true;
  }
  const Index begin = unit > largest / unit_size_ ? largest : unit * unit_size_;
  if (!records_) records_.emplace(corpus_->options, *file_, Range{0, 0});
  expects(begin >= passed_, "compressed text to be read forward");
  records_->set_end(begin);
  while (records_->skip()) {
  }
  passed_ = begin > largest - unit_size_ ? largest : begin + unit_size_;
  records_->set_end(passed_);
  return !records_->at_end();
}

bool TextUnits::next_record(Record& record) {
  expects(records_.has_value(), "an open unit");
  if (!records_->next(record)) return false;
  offset_ = record.offset;
  return true;
}

bool TextUnits::next_document() {
  Record record;
  if (!next_record(record)) return false;
  tokenise(record);
  return true;
}

/// A vocabulary that was built holds what stands among each document's first max_tokens, and need not know the rest.
std::string_view TextUnits::known_text(std::string_view text) {
  const Index max_tokens = corpus_->options.max_tokens;
  if (max_tokens == 0 || !corpus_->vocabulary_built) return text;
  std::vector<std::string_view> units;
  if (corpus_->options.tokenizer == TokenizerKind::whitespace) {
    text = drop_undecodable(text, scratch_);
    split_words(text, units);
  } else {
    split_code_points(text, units);
  }
  if (std::ssize(units) <= max_tokens) return text;
  return text.substr(0, static_cast<std::size_t>(units[static_cast<std::size_t>(max_tokens)].data() - text.data()));
}

void TextUnits::tokenise(const Record& record) {
  ids_.clear();
  given_ = 0;
  try {
    corpus_->tokenizer->encode(known_text(record.text), ids_);
  } catch (const Error& error) {
    throw Error(fmt::format("tokenising {}: {}", place(), error.what()), error.kind());
  }
  if (!ignored_.empty()) std::erase_if(ids_, [this](Token id) { return ignored_[static_cast<std::size_t>(id)]; });
  const Index max_tokens = corpus_->options.max_tokens;
  if (max_tokens > 0 && std::ssize(ids_) > max_tokens) ids_.resize(static_cast<std::size_t>(max_tokens));
  group_ = record.group;
  ++document_;
}

bool TextUnits::next(TokenBatch& batch) {
  const Index before = batch.token_count(), pieces_before = std::ssize(batch.pieces);
  if (given_ == std::ssize(ids_) && !next_document()) return false;
  const Index start = offset_;
  while (true) {
    const Index begin = std::ssize(batch.wide), room = batch_tokens - (begin - before), count = std::min(std::ssize(ids_) - given_, room);
    batch.wide.insert(batch.wide.end(), ids_.begin() + given_, ids_.begin() + given_ + count);
    const bool ends = given_ + count == std::ssize(ids_);
    batch.pieces.push_back({begin, begin + count, document_, given_, ends, group_});
    given_ += count;
    if (!ends || count == room || std::ssize(batch.pieces) - pieces_before >= batch_documents || offset_ - start >= batch_text_bytes) {
      return true;
    }
    if (!next_document()) return true;
  }
}

UnitSize TextUnits::measure(bool tokens) {
  expects(records_.has_value(), "an open unit");
  UnitSize size;
  if (tokens) {
    for (; next_document(); ++size.documents) size.tokens += std::ssize(ids_);
  } else {
    while (records_->skip()) ++size.documents;
  }
  return size;
}

Index TextUnits::bytes_done() const { return records_ ? records_->bytes_done() : 0; }

std::unique_ptr<UnitSource> open_text_units(const Corpus& corpus, Index file, const ReadOptions& options) {
  return std::make_unique<TextUnits>(corpus, file, options);
}

}  // namespace posgeom
