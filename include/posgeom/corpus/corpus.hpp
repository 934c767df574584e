#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// How documents stand in a file.
/// Text, tokenised while it is read: text: one document a line. tsv: one column of each line, cut at tabs, no quoting. jsonl: one string
/// field of the JSON object of each line (a line of white space is no document). fasta: one a record, its sequence lines joined. Lines end
/// in LF (one CR before it is dropped) and in nothing else; an empty line is an empty document; a byte order mark is no text. Token files,
/// ids already (little-endian): megatron: PREFIX.bin with PREFIX.idx. raw16, raw32: ids back to back (nanoGPT). llmc: llm.c's 1024-byte
/// header, then ids. datatrove: NAME.ds with NAME.ds.index. npy: a NumPy array of 1 or 2 dimensions (rows are documents), or a file without
/// header under that name (Dolma, OLMo), read as raw16. infinigram: tokenized.K, each document preceded by an id of all ones. hdf5: a
/// dataset FILE.h5:/path of 1 or 2 dimensions, or FILE.h5:/path:/offsets. automatic: by content, else by name.
enum class Format { automatic, text, tsv, jsonl, fasta, megatron, raw16, raw32, llmc, datatrove, npy, infinigram, hdf5 };
std::string_view name_of(Format format);
/// Throws Error (usage) that lists the names, where `name` is none of them.
Format format_named(std::string_view name);
/// Whether files of that format hold token ids (and need no tokenizer).
bool holds_tokens(Format format);

/// The id that ends a document (begins it: llmc, infinigram).
struct Separator {
  enum class Choice { by_format, none, given };
  Choice choice = Choice::by_format;
  Index id = -1;  ///< where given; up to 2^32 - 1
};

/// The corpus group of options.
struct CorpusOptions {
  std::vector<std::string> paths;  ///< files, directories (their regular files, hidden ones and sub-directories left out), globs
  Format format = Format::automatic;
  std::string column = "0";  ///< tsv: a number from 0, else a name (needs header); jsonl: the field's name
  bool header = false;       ///< tsv: the first line of each file names the columns
  TokenizerKind tokenizer = TokenizerKind::whitespace;
  bool tokenizer_given = false;    ///< token files refuse one that was asked for
  std::string vocab;               ///< vocabulary file or SentencePiece model; empty: built from the corpus (whitespace, chars)
  Index vocab_size = 0;            ///< V of token files (llmc has a rule of its own); text: at least the tokenizer's; 0: not given
  Separator separator;             ///< of token files
  bool keep_separator = false;     ///< it takes a position, as an ordinary token
  std::vector<Index> ignored_ids;  ///< removed before positions are assigned
  Index max_tokens = 0;            ///< each document's first so many tokens; 0: all
  std::string split_column;        ///< tsv, jsonl: the column whose text becomes Piece::group; empty: none
  Index unit_bytes = 0;            ///< size of a unit, of the decompressed text where it is compressed; 0: by the file's size. For tests
};

/// One file of a corpus, or one data set.
struct CorpusFile {
  std::string path;         ///< as errors name it; hdf5: without the data set
  Index bytes = 0;          ///< size on disk; hdf5: of the data set's elements
  bool compressed = false;  ///< text in gz, xz, zst or bz2, by content
  int column = 0;           ///< tsv: the resolved column
  int split_column = -1;    ///< tsv: the resolved split column
  // Token files
  std::string index_path{};       ///< megatron: PREFIX.idx; datatrove: NAME.ds.index; infinigram: offset.K; empty: none
  std::string dataset{};          ///< hdf5
  std::string offsets_dataset{};  ///< hdf5; empty: none
  int width = 0;                  ///< bytes of an id: 1, 2, 4 or 8
  bool is_signed = false;         ///< ids are stored as signed integers: a negative one is refused by name
  Index data_offset = 0;          ///< of the first id
  Index token_count = 0;          ///< ids in the file, separators included
  Index document_count = -1;      ///< from the index; -1: only the separators tell
  Index row_length = 0;           ///< npy, hdf5 of two dimensions: ids a row
};

struct CorpusIndex;

/// An opened corpus: what will be read, and how. The same on every rank.
struct Corpus {
  CorpusOptions options;                       ///< with the format resolved
  std::vector<CorpusFile> files;               ///< sorted by path within each given path
  std::vector<std::string> vocabulary;         ///< built or read; empty for bytes, SentencePiece and token files
  bool vocabulary_built = false;               ///< by a first pass over the corpus: worth storing
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null for token files
  Index vocab_size = 0;                        ///< V
  Index separator = -1;                        ///< the resolved id; -1: none
  /// What the numbers depend on, as lines "key=value": format, tokenizer, column, header, max_tokens, vocab (hash, "built" or "none"),
  /// vocab_size, separator, keep_separator, ignore_ids, and file.<k>=<name>:<size>:<hash of samples> (the index too, where there is one).
  /// Sequence options are added by who makes sequences; the corpus fingerprint is the lines' hash.
  std::vector<std::string> fingerprint_lines;
  std::shared_ptr<const CorpusIndex> index;  ///< by index_corpus(); null before
};

/// **Collective.** Expands paths, checks that each file can be read on every rank, resolves format, column and separator, checks the
/// headers and indices of token files in full, reads or builds the vocabulary (whitespace: descending count, ties by bytes; chars: code
/// points ascending; of each document's first max_tokens; the same for every rank count). Throws the same Error on every rank: no such
/// file, not a regular file, empty list, a file named twice, mixed formats, unknown column, vocabulary without [UNK], truncated or
/// inconsistent token file, V missing, ... Every text names the file, what was found, what was expected and what to do.
Corpus open_corpus(const Communicator& comm, const CorpusOptions& options);

/// V of text whose tokenizer has `own` entries: those, or --vocab-size where that is more, so that corpora can share a table. Throws Error
/// where --vocab-size is less, or --ignore-ids names an id that is none (token files may hold some that are to be ignored for
/// that). Not collective.
Index text_vocab_size(const CorpusOptions& options, Index own);
/// Whether a vocabulary would be built by a first pass over the text.
bool builds_vocabulary(const CorpusOptions& options);
/// **Collective.** V as far as options and vocabulary file say it, before there is a corpus; 0: they do not. Throws as open_corpus().
Index vocab_size_without_files(const Communicator& comm, const CorpusOptions& options);

/// The first line of a TSV corpus that is read without a header line, where one of its columns is called as columns are (sentence, text,
/// label, ...); otherwise empty. Not collective.
std::string suspected_header(const Corpus& corpus);

/// **Collective.** The format that open_corpus() would find; the files are looked at where it is automatic, and errors are its own.
Format resolve_format(const Communicator& comm, const CorpusOptions& options);

/// What `posgeom inspect` says of a token file (any that survey would take): one "what, value" pair a line. Not collective.
std::vector<std::pair<std::string, std::string>> describe_token_file(const std::string& path);
/// Whether PATH is a token file by its content or name (so that inspect knows whom to ask).
bool is_token_file(const std::string& path);

}  // namespace posgeom
