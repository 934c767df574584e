#include "corpus/corpus_index.hpp"

#include <array>
#include <utility>

#include "corpus/unit_walk.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {

std::unique_ptr<UnitSource> open_units(const Corpus& corpus, Index file, const ReadOptions& options) {
  return holds_tokens(corpus.options.format) ? open_token_units(corpus, file, options) : open_text_units(corpus, file, options);
}

bool CorpusIndex::serves(const ReadOptions& options) const {
  return stream == options.stream && overlap == (options.overlap > 0) && (!options.document_index || document_count >= 0) &&
         (!options.stream || token_count >= 0);
}

Index CorpusIndex::unit_count(Index file) const {
  const File& units = files.at(static_cast<std::size_t>(file));
  return std::max(std::ssize(units.first_document), std::ssize(units.first_token)) - 1;
}

UnitSize CorpusIndex::before(UnitId id) const {
  const File& units = files.at(static_cast<std::size_t>(id.file));
  const auto at = [&](const std::vector<Index>& firsts) { return firsts.empty() ? -1 : firsts.at(static_cast<std::size_t>(id.unit)); };
  return {at(units.first_document), at(units.first_token)};
}

UnitSize CorpusIndex::size_of(UnitId id) const {
  const UnitSize begin = before(id), end = before({id.file, id.unit + 1});
  return {begin.documents < 0 ? -1 : end.documents - begin.documents, begin.tokens < 0 ? -1 : end.tokens - begin.tokens};
}

namespace {

struct MeasuredUnit {
  UnitId id;
  UnitSize size;
};

/// What the files say of their units by themselves.
struct Known {
  std::vector<MeasuredUnit> units;
  UnitSet set;
  bool all = true;
};

Known known_units(const Corpus& corpus, const ReadOptions& options) {
  Known known;
  for (Index file = 0; file < std::ssize(corpus.files); ++file) {
    const std::unique_ptr<UnitSource> source = open_units(corpus, file, options);
    const Index count = source->unit_count();
    if (count < 0) known.all = false;
    for (Index unit = 0; unit < count; ++unit) {
      if (const auto size = source->known_size(unit)) {
        known.units.push_back({{file, unit}, *size});
        known.set.add({file, unit});
      } else {
        known.all = false;
      }
    }
  }
  return known;
}

std::vector<MeasuredUnit> measure_units(const Corpus& corpus, const ReadOptions& options, const Communicator& comm, const UnitSet& known,
                                        const std::function<void(Index, Index)>& progress) {
  std::vector<MeasuredUnit> measured;
  UnitWalk walk(corpus, options, comm.rank(), comm.size(), Sharing::runs, known, !options.stream);
  while (const auto id = walk.next()) {
    expects(walk.open(*id), "a unit that is there");
    measured.push_back({*id, walk.reading().measure(options.stream)});
    if (progress) progress(walk.bytes_done(), walk.bytes_total());
  }
  return measured;
}

CorpusIndex to_index(const Corpus& corpus, const ReadOptions& options, const std::vector<MeasuredUnit>& units) {
  CorpusIndex index;
  index.stream = options.stream;
  index.overlap = options.overlap > 0;
  std::vector<Index> counts(corpus.files.size(), 0);
  for (const MeasuredUnit& unit : units) {
    Index& count = counts.at(static_cast<std::size_t>(unit.id.file));
    count = std::max(count, unit.id.unit + 1);
  }
  std::vector<std::vector<UnitSize>> sizes(corpus.files.size());
  for (std::size_t file = 0; file < sizes.size(); ++file) sizes[file].resize(static_cast<std::size_t>(counts[file]), UnitSize{-1, -1});
  for (const MeasuredUnit& unit : units) sizes[static_cast<std::size_t>(unit.id.file)][static_cast<std::size_t>(unit.id.unit)] = unit.size;

  UnitSize before;
  for (const std::vector<UnitSize>& file : sizes) {
    CorpusIndex::File& entry = index.files.emplace_back();
    const auto append = [&] {
      if (options.document_index) entry.first_document.push_back(before.documents);
      if (options.stream) entry.first_token.push_back(before.tokens);
    };
    append();
    for (const UnitSize& size : file) {
      expects(size.documents >= 0 && size.tokens >= 0, "every unit to be measured");
      before.documents += size.documents;
      before.tokens += size.tokens;
      append();
    }
  }
  if (options.document_index) index.document_count = before.documents;
  if (options.stream) index.token_count = before.tokens;
  return index;
}

}  // namespace

bool index_corpus(const Communicator& comm, Corpus& corpus, const ReadOptions& options,
                  const std::function<void(Index bytes_done, Index bytes_total)>& progress) {
  if (!options.stream && !options.document_index) return false;
  corpus.index.reset();
  Known known = collective(comm, "indexing the corpus", [&] { return known_units(corpus, options); });
  if (!known.all) {
    const std::vector<MeasuredUnit> mine =
        collective(comm, "indexing the corpus", [&] { return measure_units(corpus, options, comm, known.set, progress); });
    const std::vector<MeasuredUnit> measured = all_gather(comm, std::span<const MeasuredUnit>(mine));
    known.units.insert(known.units.end(), measured.begin(), measured.end());
  }
  corpus.index =
      collective(comm, "indexing the corpus", [&] { return std::make_shared<const CorpusIndex>(to_index(corpus, options, known.units)); });
  return !known.all;
}

Index indexed_token_count(const Corpus& corpus) { return corpus.index ? corpus.index->token_count : -1; }
Index indexed_document_count(const Corpus& corpus) { return corpus.index ? corpus.index->document_count : -1; }

}  // namespace posgeom
