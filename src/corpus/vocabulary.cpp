#include "corpus/vocabulary.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "corpus/sniff.hpp"
#include "corpus/text_units.hpp"
#include "corpus/token_map.hpp"
#include "corpus/unicode.hpp"
#include "corpus/unit_walk.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Of words or code points.
using WordCounts = std::unordered_map<std::string, Count, TextHash, std::equal_to<>>;

void add(WordCounts& counts, std::string_view word, Count count) {
  if (const auto found = counts.find(word); found != counts.end()) {
    found->second += count;
  } else {
    counts.emplace(word, count);
  }
}

/// The words or code points of one text unit.
void count_words(const Corpus& corpus, TextUnits& source, WordCounts& counts) {
  Record record;
  std::vector<std::string_view> words;
  std::string scratch;
  while (source.next_record(record)) {
    words.clear();
    if (corpus.options.tokenizer == TokenizerKind::whitespace) {
      split_words(drop_undecodable(record.text, scratch), words);
    } else {
      try {
        split_code_points(record.text, words);
      } catch (const Error& error) {
        throw Error(fmt::format("tokenising {}: {}", source.place(), error.what()), error.kind());
      }
    }
    const Index wanted = corpus.options.max_tokens > 0 ? std::min(corpus.options.max_tokens, std::ssize(words)) : std::ssize(words);
    for (const std::string_view word : std::span(words).first(static_cast<std::size_t>(wanted))) add(counts, word, 1);
  }
}

/// What this rank's part of the corpus holds.
WordCounts count_words(const Corpus& corpus, int rank, int ranks) {
  WordCounts counts;
  UnitWalk walk(corpus, {}, rank, ranks, Sharing::runs, {});
  while (const auto id = walk.next()) {
    expects(walk.open(*id), "a unit that is there");
    auto* const text = dynamic_cast<TextUnits*>(&walk.reading());
    expects(text != nullptr, "a corpus of text");
    count_words(corpus, *text, counts);
  }
  return counts;
}

/// Count, size and bytes of each word.
std::string to_bytes(const WordCounts& counts) {
  std::string bytes;
  const auto append = [&bytes](Index value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const auto& [word, count] : counts) {
    append(count);
    append(std::ssize(word));
    bytes += word;
  }
  return bytes;
}

void add_bytes(WordCounts& counts, std::string_view bytes) {
  const auto take = [&bytes] {
    Index value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
  };
  while (!bytes.empty()) {
    const Count count = take();
    const auto size = static_cast<std::size_t>(take());
    add(counts, bytes.substr(0, size), count);
    bytes.remove_prefix(size);
  }
}

void expect_regular(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return;
  throw Error(fmt::format("the vocabulary --vocab {}: {}", path, error ? error.message() : "it is not a regular file"));
}

}  // namespace

std::vector<std::string> read_vocabulary(const std::string& path) {
  expect_regular(path);
  const CorpusFile file{path, static_cast<Index>(std::filesystem::file_size(path)), is_compressed(path)};
  CorpusOptions lines;
  lines.format = Format::text;
  RecordReader records(lines, file, {0, std::numeric_limits<Index>::max()});
  std::vector<std::string> vocabulary;
  Record record;
  while (records.next(record)) {
    if (record.text.find('\0') != std::string_view::npos) {
      throw Error(fmt::format("the vocabulary --vocab {}: line {} holds a NUL byte; give a text file with one entry a line", path,
                              vocabulary.size() + 1));
    }
    vocabulary.emplace_back(record.text);
  }
  if (vocabulary.empty()) throw Error(fmt::format("the vocabulary --vocab {} is empty; it must hold one entry a line", path));
  return vocabulary;
}

std::string read_model(const std::string& path) {
  expect_regular(path);
  std::string bytes(std::filesystem::file_size(path), '\0');
  const Index got = InputFile(path).read_at(0, bytes);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

std::vector<std::string> build_vocabulary(const Communicator& comm, const Corpus& corpus) {
  const bool by_count = corpus.options.tokenizer == TokenizerKind::whitespace;
  WordCounts mine, all;
  std::string bytes = collective(comm, "building the vocabulary", [&] {
    mine = count_words(corpus, comm.rank(), comm.size());
    return to_bytes(mine);
  });
  // One rank's words at a time, so that no rank holds all of them at once.
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::string theirs;
    if (rank == comm.rank()) theirs.swap(bytes);
    broadcast_resized(comm, theirs, rank);
    collective(comm, "building the vocabulary", [&] { add_bytes(all, theirs); });
  }
  return collective(comm, "sorting the vocabulary", [&] {
    std::vector<std::pair<std::string_view, Count>> order(all.begin(), all.end());
    std::sort(order.begin(), order.end(), [by_count](const auto& a, const auto& b) {
      if (by_count && a.second != b.second) return a.second > b.second;
      return a.first < b.first;  // as bytes: UTF-8 sorts by code points
    });
    std::vector<std::string> vocabulary;
    vocabulary.reserve(order.size());
    for (const auto& [word, count] : order) vocabulary.emplace_back(word);
    return vocabulary;
  });
}

std::string hash_of(const std::vector<std::string>& vocabulary) {
  std::string joined;
  for (const std::string& entry : vocabulary) joined += entry + '\n';
  return hash_of(joined);
}

std::string hash_of(const std::string& model) { return fmt::format("{:016x}", XXH3_64bits(model.data(), model.size())); }

void broadcast_strings(const Communicator& comm, std::vector<std::string>& strings) {
  std::string joined;
  if (comm.is_root()) {
    for (const std::string& text : strings) joined.append(text).push_back('\0');
  }
  broadcast_resized(comm, joined);
  if (comm.is_root()) return;
  strings.clear();
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = joined.find('\0', begin);
    strings.push_back(joined.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace posgeom
