#pragma once
// Small files for the tests of the corpus and of everything that reads one.
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/mpi/collective.hpp"
#include "support/world.hpp"

namespace posgeom::testing_support {

/// **Collective.** A folder that the root makes and removes, and all ranks know.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (world().is_root()) {
      path_ = (std::filesystem::temp_directory_path() / "posgeom-test-XXXXXX").string();
      if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    broadcast_resized(world(), path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    barrier(world());
    std::error_code ignored;
    if (world().is_root() && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// **Collective.** Writes a file with the root, and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    const std::string file = *this / name;
    barrier(world());  // the others may still be reading what the name stood for
    if (world().is_root()) {
      std::filesystem::create_directories(std::filesystem::path(file).parent_path());
      std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    barrier(world());
    return file;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

/// `text` as gz, xz, zst or bz2.
inline std::string compress(std::string_view text, std::string_view kind) {
  std::string bytes(2 * text.size() + 65536, '\0');
  std::size_t used = 0;
  archive* a = archive_write_new();
  archive_write_set_format_raw(a);
  if (kind == "gz") archive_write_add_filter_gzip(a);
  if (kind == "xz") archive_write_add_filter_xz(a);
  if (kind == "zst") archive_write_add_filter_zstd(a);
  if (kind == "bz2") archive_write_add_filter_bzip2(a);
  archive_write_set_bytes_in_last_block(a, 1);
  EXPECT_EQ(archive_write_open_memory(a, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_pathname(entry, "text");
  EXPECT_EQ(archive_write_header(a, entry), ARCHIVE_OK);
  if (!text.empty()) archive_write_data(a, text.data(), text.size());
  archive_entry_free(entry);
  EXPECT_EQ(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  return bytes.substr(0, used);
}

/// What a batch holds, whichever its width.
inline std::vector<Token> tokens_of(const TokenBatch& batch) {
  EXPECT_TRUE(batch.narrow.empty() || batch.wide.empty());
  std::vector<Token> tokens(batch.narrow.begin(), batch.narrow.end());
  tokens.insert(tokens.end(), batch.wide.begin(), batch.wide.end());
  return tokens;
}

/// The documents of one reader, as text (tokenizer: bytes).
inline std::vector<std::string> read_documents(DocumentReader& reader) {
  std::vector<std::string> documents;
  TokenBatch batch;
  bool ended = true;  // the last document
  while (reader.next(batch)) {
    const std::vector<Token> tokens = tokens_of(batch);
    EXPECT_EQ(batch.own_tokens, batch.token_count());
    Index covered = 0;
    for (const Piece& piece : batch.pieces) {
      EXPECT_EQ(piece.begin, covered) << "pieces cover a batch";
      covered = piece.end;
      if (ended) documents.emplace_back();
      EXPECT_EQ(piece.position, std::ssize(documents.back()));
      for (Index k = piece.begin; k < piece.end; ++k) documents.back() += static_cast<char>(tokens[static_cast<std::size_t>(k)]);
      ended = piece.ends;
    }
    EXPECT_EQ(covered, batch.token_count());
    EXPECT_TRUE(ended || !batch.unit_ends) << "a unit holds whole documents";
    EXPECT_LE(reader.bytes_done(), reader.bytes_total());
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(reader.bytes_done(), reader.bytes_total());
  return documents;
}

/// The documents that `ranks` readers give, rank after rank.
inline std::vector<std::string> read_documents(const Corpus& corpus, int ranks) {
  std::vector<std::string> documents;
  for (int rank = 0; rank < ranks; ++rank) {
    DocumentReader reader(corpus, {}, rank, ranks);
    for (std::string& document : read_documents(reader)) documents.push_back(std::move(document));
  }
  return documents;
}

/// The text of the Error that `body` throws on this rank.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline void expect_contains(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace posgeom::testing_support
