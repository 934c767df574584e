#pragma once
#include <span>
#include <string>
#include <string_view>

#include "posgeom/corpus/corpus.hpp"

namespace posgeom {

/// Whether `path` is a gz, xz, zst or bz2 file, by its first bytes. Throws Error where its name says so and its content does not, and for
/// compressed formats that are not read.
bool is_compressed(const std::string& path);

/// Throws Error where `path` begins as a compressed file does: token files are read at offsets, and must be unpacked before.
void refuse_compressed_tokens(const std::string& path);

/// The first bytes of the file's (decompressed) text, at most `bytes`.
std::string head_of(const CorpusFile& file, Index bytes);

/// Throws Error where `head`, the beginning of the file's text, or its name shows a token file or another binary format.
void refuse_binary(const std::string& path, std::string_view head);

/// What the file's name (without .gz and the like) or else its beginning says; Format::automatic where neither says anything, because it is
/// empty. Throws Error for names of text formats that are not read.
Format sniff_format(const std::string& path, std::string_view head);

}  // namespace posgeom
