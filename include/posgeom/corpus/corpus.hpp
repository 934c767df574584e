#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// How documents stand in a file. text: one a line. tsv: one column of each line, cut at tabs, no quoting. fasta: one a record, its
/// sequence lines joined. Lines end in LF (one CR before it is dropped) and in nothing else; an empty line is an empty document; a byte
/// order mark is no text. automatic: by the name (.tsv; .fa, .fasta, .faa, .fna; without .gz and the like), else fasta where the text
/// begins with '>', else text.
enum class Format { automatic, text, tsv, fasta };
std::string_view name_of(Format format);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Format format_named(std::string_view name);

/// The corpus group of options.
struct CorpusOptions {
  std::vector<std::string> paths;  ///< files, directories (their regular files, hidden ones and sub-directories left out), globs
  Format format = Format::automatic;
  std::string column = "0";  ///< tsv: a number from 0, else a name (needs header)
  bool header = false;       ///< tsv: the first line of each file names the columns
  TokenizerKind tokenizer = TokenizerKind::whitespace;
  std::string vocab;     ///< vocabulary file, one entry a line; empty: built from the corpus (whitespace, chars)
  Index max_tokens = 0;  ///< each document's first so many tokens; 0: all
};

struct CorpusFile {
  std::string path;
  Index bytes = 0;          ///< size on disk
  bool compressed = false;  ///< gz, xz, zst or bz2, by content
  int column = 0;           ///< tsv: the resolved column
};

/// An opened corpus: what will be read, and how. The same on every rank.
struct Corpus {
  CorpusOptions options;                ///< with the format resolved
  std::vector<CorpusFile> files;        ///< sorted by path within each given path
  std::vector<std::string> vocabulary;  ///< built or read; empty for bytes
  bool vocabulary_built = false;        ///< by a first pass over the corpus: worth storing
  std::shared_ptr<const Tokenizer> tokenizer;
  Index vocab_size = 0;  ///< V
  /// What the numbers depend on, as lines "key=value": format, tokenizer, column, header, max_tokens, vocab (hash, "built" or "none"), and
  /// file.<k>=<name>:<size>:<hash of samples>. Sequence options are added by who makes sequences; the corpus fingerprint is the lines'
  /// hash.
  std::vector<std::string> fingerprint_lines;
};

/// **Collective.** Expands paths, checks that each file can be read on every rank, resolves the format and the column, reads or builds the
/// vocabulary (whitespace: descending count, ties by bytes; chars: code points ascending; of each document's first max_tokens; the same for
/// every rank count). Throws the same Error on every rank: no such file, not a regular file, empty list, a file named twice, mixed formats,
/// a binary file, unknown column, vocabulary without [UNK], ...
Corpus open_corpus(const Communicator& comm, const CorpusOptions& options);

/// Consecutive documents of one rank's part.
struct TokenBatch {
  std::vector<Token> tokens;
  std::vector<Index> offsets{0};  ///< document k is tokens[offsets[k] .. offsets[k+1]); an empty document has no tokens
  Index document_count() const { return std::ssize(offsets) - 1; }
  std::span<const Token> document(Index k) const {
    return std::span(tokens).subspan(
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(k)]),
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(k + 1)] - offsets[static_cast<std::size_t>(k)]));
  }
};

/// One rank's part of a corpus, read batch by batch. The ranks' parts are disjoint and together the whole: uncompressed files are cut into
/// byte ranges aligned to records (a record belongs to the range that holds its first byte); a compressed file is read by one rank where
/// there are at least as many compressed files as ranks, else by all, which take its records in turn.
class DocumentReader {
 public:
  DocumentReader(const Corpus& corpus, int rank, int ranks);
  ~DocumentReader();
  DocumentReader(DocumentReader&&) noexcept;
  DocumentReader& operator=(DocumentReader&&) noexcept;

  /// Replaces `batch` by the next documents; false when there are none left. Not collective. Throws Error that names file and record:
  /// read error, truncated compressed file, missing column, invalid text.
  bool next(TokenBatch& batch);
  /// Bytes of the corpus's files that this part has consumed, and will in all; for progress.
  Index bytes_done() const;
  Index bytes_total() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace posgeom
