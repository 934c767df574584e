#pragma once
#include <string>
#include <vector>

#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// What one rank finds out about a corpus and the others are told.
struct Survey {
  Format format = Format::text;
  std::vector<CorpusFile> files;
  std::vector<std::string> fingerprint_lines;  ///< of the files and their indices
};

/// Throws Error (usage) for options that cannot be together, before any file is touched.
void check_options(const CorpusOptions& options);

/// Expands the paths and looks into each file: compression, format, column, sample; headers and indices of token files in full. Throws
/// Error that names the file.
Survey survey(const CorpusOptions& options);

/// To and from strings that do not hold NUL, for the broadcast.
std::vector<std::string> to_strings(const Survey& survey);
Survey from_strings(const std::vector<std::string>& strings);

/// Resolves the columns of every file of a TSV corpus; all headers must be the same. `empty`: the files without any text.
void resolve_columns(const CorpusOptions& options, const std::vector<bool>& empty, std::vector<CorpusFile>& files);

/// "name:size:hash" of the first, middle and last 64 KiB; the directory does not matter.
std::string fingerprint_of(const CorpusFile& file);

}  // namespace posgeom
