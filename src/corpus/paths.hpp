#pragma once
#include <string>
#include <vector>

#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// A file of the corpus, as the command line names it.
struct CorpusPath {
  std::string path;
  std::string dataset, offsets_dataset;  ///< of HDF5 files, where they were named
};

/// The regular files that `paths` stand for, in the order given: a file is itself; FILE:/dataset and FILE:/dataset:/offsets, data sets in
/// it; PREFIX, PREFIX.bin where there is such a file; a directory, its regular files whose names do not begin with a dot (not those of
/// directories in it); else a glob, the regular files that match. What a directory or glob gives is sorted by bytes. Files that belong to
/// a token file (PREFIX.idx, NAME.ds.index, offset.K, ...) stand for it, and are no files of the corpus themselves, unless `format` is one
/// of text. Throws Error: no such file, nothing matches, not a regular file, an index without its data, a file named twice.
std::vector<CorpusPath> expand_paths(const std::vector<std::string>& paths, Format format);

/// The name of the index that belongs to a token file of that name: PREFIX.idx, NAME.ds.index or offset.K; empty for other names.
std::string companion_index(const std::string& path);
/// tokenized.K
bool is_infinigram_name(const std::string& path);
/// In lower case, with the dot.
std::string lower_extension(const std::string& path);

}  // namespace posgeom
