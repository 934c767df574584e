// Ids that are out of range: found by a maximum over many, and only then located.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "corpus/id_check.hpp"
#include "corpus/token_walk.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// Ids that are read again to say which document a bad one is in; beyond them its place in the file must do.
constexpr Index most_scanned = Index{1} << 30;
constexpr Index chunk_ids = Index{1} << 18;

/// "document D, position P in it" of an id, or nothing where that would take too long.
std::string place_of_id(Format format, const CorpusFile& file, const IdSource& ids, SplitRule rule, Index index, Index vocab_size) {
  const auto boundaries = open_boundaries(format, file);
  rule.max_tokens = 0;
  rule.limit = Index{1} << 32;  // nothing is refused while this is looked for
  // Where only the index tells documents apart, the one that holds the id will do.
  const Index holder = std::max(boundaries->first_from(index + 1) - 1, Index{0});
  const Index first = rule.separator >= 0 ? 0 : holder;
  const Index begin = boundaries->begin_of(first);
  if (index - begin > most_scanned) return {};
  const auto walk = make_token_walk(format, file, ids, *boundaries, std::move(rule), chunk_ids, vocab_size);
  walk->open({begin, index, false});
  TokenBatch batch;
  while (walk->next(batch)) batch.clear();
  // A document without ids may begin where this one does, and count before it.
  const Index before = boundaries->first_from(begin);
  const Piece here = walk->here();
  const Index document = begin == index ? holder : before + here.document;
  return fmt::format("document {}, position {} in it", document, here.position);
}

}  // namespace

SplitRule split_rule(const Corpus& corpus, const CorpusFile& file) {
  const CorpusOptions& options = corpus.options;
  const Index beyond = file.width >= 4 ? Index{1} << 32 : Index{1} << (8 * file.width);  // ids that the file can hold are below
  const Index possible = file.is_signed ? std::min(Index{1} << std::min(8 * file.width - 1, 32), beyond) : beyond;
  SplitRule rule;
  rule.lead = options.format == Format::infinigram;
  const bool is_lead = rule.lead && corpus.separator == beyond - 1;
  if (!is_lead && corpus.separator < possible) rule.separator = corpus.separator;
  rule.begins = options.format == Format::llmc;
  rule.keep = options.keep_separator;
  std::copy_if(options.ignored_ids.begin(), options.ignored_ids.end(), std::back_inserter(rule.ignored),
               [possible](Index id) { return id >= 0 && id < possible; });
  std::sort(rule.ignored.begin(), rule.ignored.end());
  rule.max_tokens = options.max_tokens;
  rule.limit = std::min(corpus.vocab_size, possible);
  return rule;
}

void refuse_id(Format format, const CorpusFile& file, const IdSource& ids, const SplitRule& rule, Index index, Index vocab_size) {
  const std::string id = stored_id(ids, file, index);
  const std::string place = place_of_id(format, file, ids, rule, index, vocab_size);
  throw Error(fmt::format(
      "reading {}: id {} at token {}{}{} {}; {}", name_in_errors(file), id, index, place.empty() ? "" : ": ", place,
      id.starts_with('-') ? "is negative, which no id can be" : fmt::format("is not below the vocabulary's size V = {}", vocab_size),
      cause_of_bad_id(ids, file, format, vocab_size)));
}

}  // namespace posgeom
