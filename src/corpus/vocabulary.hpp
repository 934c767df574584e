#pragma once
#include <string>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// One entry a line, in the order of their ids; gz, xz, zst and bz2 files are decompressed. Throws Error: unreadable, empty, binary.
std::vector<std::string> read_vocabulary(const std::string& path);

/// All bytes of a SentencePiece model's file. Throws Error: unreadable, not a regular file.
std::string read_model(const std::string& path);

/// **Collective.** The words (whitespace; descending count, ties by bytes) or code points (chars; ascending) that the corpus holds, each
/// document cut to max_tokens; the same on every rank and for every rank count. `corpus` has its files and options. Throws the same Error
/// on every rank.
std::vector<std::string> build_vocabulary(const Communicator& comm, const Corpus& corpus);

/// XXH3 of the entries, or of a model's bytes, in hexadecimal.
std::string hash_of(const std::vector<std::string>& vocabulary);
std::string hash_of(const std::string& model);

/// **Collective.** The root's strings (none of which holds NUL) on every rank.
void broadcast_strings(const Communicator& comm, std::vector<std::string>& strings);

}  // namespace posgeom
