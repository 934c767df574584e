#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// Throws Error (usage) for options that token files of that format do not take, and where V is missing. `path` is the corpus's first.
void check_token_options(const CorpusOptions& options, Format format, const std::string& path);

/// What a file is, as far as its first bytes and its name say: a token format, or automatic where neither says so (text, then). Throws
/// Error where it is a token file that cannot be read as it stands: the format is ambiguous, big-endian, obsolete, or a companion is
/// missing.
Format sniff_token_format(const CorpusFile& file);

/// Fills the token fields of `file` (path and data sets are given) and checks headers and index in full, in bounded memory. Throws Error
/// that names the file, what was found, what was expected and what to do.
void read_token_layout(Format format, CorpusFile& file);

/// Throws Error where the first ids show that the file is of another width than its format says.
void check_first_ids(Format format, const CorpusFile& file, Index vocab_size);

/// V of token files: as given, else by the format (llmc).
Index resolve_vocab_size(const CorpusOptions& options, Format format, const std::vector<CorpusFile>& files);

/// The id that ends (begins: llmc, infinigram) documents; -1: none. Throws Error (usage) for one that cannot be.
Index resolve_separator(const CorpusOptions& options, Format format, const std::vector<CorpusFile>& files, Index vocab_size);

/// The lines that token files add to those of the files: vocab_size, separator, keep_separator, ignore_ids; of text, those that differ from
/// their defaults. `corpus` has its format, V and separator.
std::vector<std::string> token_fingerprint_lines(const Corpus& corpus);

/// "<name>:<size>:<hash of samples>" of the data, and of the index where there is one, as lines of file `number`.
std::vector<std::string> token_file_lines(const CorpusFile& file, std::size_t number);

// One a format. `file` has its path (and index path) and size; each fills what its format has.
void read_megatron_layout(CorpusFile& file);
void read_llmc_layout(CorpusFile& file);
void read_raw_layout(CorpusFile& file, int width);
void read_datatrove_layout(CorpusFile& file);
void read_npy_layout(CorpusFile& file);
void read_infinigram_layout(CorpusFile& file);
void read_hdf5_layout(CorpusFile& file);
/// A data set of offsets as if it were one of ids, for samples of it. `file` has its path and data set.
CorpusFile layout_of_offsets(CorpusFile file);

/// The refusal of a file whose size is no multiple of the width.
[[noreturn]] void refuse_size(const CorpusFile& file, Index width, std::string_view advice);

}  // namespace posgeom
