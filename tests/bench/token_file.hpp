#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom::bench {

constexpr Index vocab_size = 50257;          ///< GPT-2's
constexpr Index separator = vocab_size - 1;  ///< ends a document, as GPT-2's end of text does
constexpr Index chunk_bytes = Index{1} << 20;

/// Writes `tokens` ids of 16 bits, distributed as BPE's are: Zipf-Mandelbrot by rank, and ids near their ranks, since merges were made in
/// about that order. Documents are of all sizes, 1000 tokens in the mean. The same file for the same number of tokens.
/// Beside it, a link a pass beyond the first: the corpus's reader takes a file once.
void generate(const std::string& path, Index tokens, Index passes);
std::string name_of_pass(const std::string& path, Index pass);

/// A file of 16-bit ids, read front to back by large preads.
class TokenFile {
 public:
  explicit TokenFile(const std::string& path);
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  Index tokens() const { return tokens_; }
  /// Ids [begin, ...) into `to`; throws where the file ends before.
  void read(Index begin, std::span<std::uint16_t> to) const;

 private:
  int file_;
  Index tokens_;
};

/// Throws where an id is not below vocab_size.
void check_range(std::span<const std::uint16_t> ids);

}  // namespace posgeom::bench
